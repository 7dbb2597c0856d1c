package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// failure is an error with what to do about it, in the words of a diagnostic.
type failure struct {
	summary, detail string
	cause           error
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
	// The first line, or what stands before the first colon, is what went wrong; all of it is the explanation.
	text := err.Error()
	summary, _, _ := strings.Cut(text, "\n")
	if head, _, ok := strings.Cut(summary, ": "); ok {
		summary = head
	}
	if summary == text {
		return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: capital(summary)}
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: capital(summary), Detail: capital(text)}
}

// capital begins a sentence.
func capital(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
