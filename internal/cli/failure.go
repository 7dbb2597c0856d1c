package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
)

// failure is an error with what to do about it, in the words of a diagnostic.
type failure struct {
	summary, detail string
	cause           error
	code            int // the exit code, 0 for that of errors
}

func (f *failure) Error() string { return f.summary + ": " + f.detail }
func (f *failure) Unwrap() error { return f.cause }

// fail makes a failure; detail is a format.
func fail(summary, detail string, args ...any) error {
	return &failure{summary: summary, detail: fmt.Sprintf(detail, args...)}
}

// diagnosed are diagnostics as an error, with the sources for their snippets.
type diagnosed struct {
	diags hcl.Diagnostics
	files map[string]*hcl.File
}

func (d *diagnosed) Error() string { return d.diags.Error() }

// errorIf makes an error of diagnostics that hold one; warnings alone are none.
func errorIf(diags hcl.Diagnostics, files map[string]*hcl.File) error {
	if !diags.HasErrors() {
		return nil
	}
	return &diagnosed{diags: diags, files: files}
}

// asDiagnostics gives any error the form in which problems are shown.
func asDiagnostics(err error) (hcl.Diagnostics, map[string]*hcl.File) {
	var d *diagnosed
	if errors.As(err, &d) {
		return d.diags, d.files
	}
	return hcl.Diagnostics{asDiagnostic(err)}, nil
}

func asDiagnostic(err error) *hcl.Diagnostic {
	var f *failure
	if errors.As(err, &f) {
		return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: f.summary, Detail: f.detail}
	}
	text := err.Error()
	for _, k := range known {
		if k.is != nil && errors.Is(err, k.is) || k.code != "" && strings.Contains(text, k.code) {
			return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: k.summary, Detail: sentence(k.plain(text)) + k.hint}
		}
	}
	// What stands before the first colon is what was tried; all of it is the explanation.
	first, _, _ := strings.Cut(text, "\n")
	summary, _, _ := strings.Cut(first, ": ")
	if summary == text {
		return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: capital(summary)}
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: capital(summary), Detail: sentence(text)}
}

// known are failures of stores by their sentinel, or by the code that begins a reply of Redis, the particular before the
// general ones.
var known = []knownFailure{
	{is: applier.ErrLockLost, summary: "State lock lost"},
	{is: applier.ErrTwoStates, summary: "Two states for one workflow"},
	{is: applier.ErrFormerAppeared, summary: "Plan is stale"},
	{is: conveyor.ErrUnique, summary: "Unique key is held"},
	{is: conveyor.ErrCorrupt, summary: "Unreadable data in the store", hint: " \"waybill doctor\" tells what else is wrong there."},
	{is: conveyor.ErrUnsaved, code: "MISCONF ", summary: "The store cannot be written",
		hint: " Make room on its disk and apply again: what was written stands, the rest follows."},
	{is: conveyor.ErrFull, code: "OOM ", summary: "Redis is out of memory",
		hint: " Raise its maxmemory and apply again: what was written stands, the rest follows. Workers go on meanwhile."},
	{is: conveyor.ErrReadOnly, code: "READONLY ", summary: "Redis is read-only", hint: " Name the primary."},
	{is: conveyor.ErrStore, summary: "Redis cannot keep jobs safely"},
	{is: conveyor.ErrUnavailable, summary: "The store does not answer", hint: " Once it does, apply again goes on where this stopped."},
}

type knownFailure struct {
	is            error
	code          string // also known by this, wherever it stands in the text
	summary, hint string
}

// plain is the text with the sentinel's words in place of a reply of Redis, which names settings and scripts that nobody here
// knows. What the embedded store says under such a code is for people.
func (k *knownFailure) plain(text string) string {
	i := strings.Index(text, k.code)
	if k.code == "" || k.is == nil || i < 0 {
		return text
	}
	if why, ok := strings.CutPrefix(text[i+len(k.code):], "the embedded store "); ok {
		return text[:i] + "the embedded store " + why
	}
	return text[:i] + k.is.Error()
}

// sentence is a text as one: begun with a capital and ended with a full stop.
func sentence(s string) string {
	s = capital(strings.TrimSpace(s))
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

// capital begins a sentence. An address stays as it is written.
func capital(s string) string {
	if strings.HasPrefix(s, "job.") || strings.HasPrefix(s, "module.") || s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
