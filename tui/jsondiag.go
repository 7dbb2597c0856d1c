package tui

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// diagnosticJSON is a diagnostic as Terraform writes it.
type diagnosticJSON struct {
	Severity string       `json:"severity"`
	Summary  string       `json:"summary"`
	Detail   string       `json:"detail"`
	Range    *rangeJSON   `json:"range,omitempty"`
	Snippet  *snippetJSON `json:"snippet,omitempty"`
	Policy   *policyJSON  `json:"policy,omitempty"`
}

// policyJSON is what a rule of a policy holds for.
type policyJSON struct {
	Rule      string   `json:"rule"`
	Addresses []string `json:"addresses,omitempty"`
	More      int      `json:"more,omitempty"` // besides those
}

type rangeJSON struct {
	Filename string  `json:"filename"`
	Start    posJSON `json:"start"`
	End      posJSON `json:"end"`
}

type posJSON struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// snippetJSON is the source line that a diagnostic points at; the offsets count bytes within Code.
type snippetJSON struct {
	Code           string `json:"code"`
	StartLine      int    `json:"start_line"`
	HighlightStart int    `json:"highlight_start_offset"`
	HighlightEnd   int    `json:"highlight_end_offset"`
	// Values are what the references in the expression stood for.
	Values []Value `json:"values,omitempty"`
}

// Diagnostics writes one line per diagnostic; files holds the sources for their snippets.
func (j *JSON) Diagnostics(diags hcl.Diagnostics, files map[string]*hcl.File) {
	for _, d := range diags {
		j.diagnostic(d, files)
	}
	j.flush()
}

func (j *JSON) warning(summary, detail string) {
	j.diagnostic(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail}, nil)
}

func (j *JSON) diagnostic(d *hcl.Diagnostic, files map[string]*hcl.File) {
	level, prefix := "error", "Error: "
	if d.Severity == hcl.DiagWarning {
		level, prefix = "warn", "Warning: "
	}
	j.line(level, "diagnostic", prefix+d.Summary, func(e *envelope) { e.Diagnostic = describe(d, files) })
}

func describe(d *hcl.Diagnostic, files map[string]*hcl.File) *diagnosticJSON {
	out := &diagnosticJSON{Severity: "error", Summary: d.Summary, Detail: d.Detail}
	if d.Severity == hcl.DiagWarning {
		out.Severity = "warning"
	}
	if ruling, ok := d.Extra.(config.Ruling); ok {
		out.Policy = &policyJSON{ruling.Rule, ruling.Addresses, ruling.More}
	}
	if d.Subject == nil {
		return out
	}
	out.Range = &rangeJSON{Filename: d.Subject.Filename, Start: posJSON(d.Subject.Start), End: posJSON(d.Subject.End)}
	if f := files[d.Subject.Filename]; f != nil {
		if out.Snippet = snippet(f.Bytes, *d.Subject); out.Snippet != nil {
			out.Snippet.Values = Values(d)
		}
	}
	return out
}

// snippet cuts the line a range starts in out of its file; nil when the range is not of this file.
func snippet(src []byte, r hcl.Range) *snippetJSON {
	x, ok := cut(src, r)
	if !ok {
		return nil
	}
	return &snippetJSON{Code: string(x.code), StartLine: r.Start.Line, HighlightStart: x.start, HighlightEnd: x.end}
}

// DescribeAll is diagnostics in the same form, for commands that write a single JSON document.
func DescribeAll(diags hcl.Diagnostics, files map[string]*hcl.File) any {
	out := make([]*diagnosticJSON, 0, len(diags))
	for _, d := range diags {
		out = append(out, describe(d, files))
	}
	return out
}
