package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

const asking = `
workflow "asking" {}

variable "day" {
  type        = string
  description = "The day to work on."

  validation {
    condition     = length(var.day) == 10
    error_message = "A day is written as 2026-11-20."
  }
}

variable "key" {
  type      = string
  sensitive = true
}

variable "parts" {
  type = list(number)
}

job "a" {
  exec {
    command = ["true", var.day, length(var.parts)]
    env     = { KEY = var.key }
  }
}
`

// TestValuesAreAskedFor answers for each variable without a value, in the order of their names; nothing sensitive is shown.
func TestValuesAreAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.hcl"), asking)
	r := onTerminal(t, dir, []string{"NO_COLOR=1"}, "apply", "-plain", "-detach")
	r.sees(t, "var.day\r\n  The day to work on.\r\n\r\n  Enter a value:")
	r.types(t, "2026-11-20\n")
	r.sees(t, "var.key\r\n\r\n  Enter a value:")
	r.types(t, "s3cret\n")
	r.sees(t, "var.parts\r\n\r\n  Enter a value:")
	r.types(t, "[1, 2]\n")
	r.sees(t, "Only 'yes' will be accepted to approve.")
	r.types(t, "yes\n")
	got := r.ends(t, 0)
	if strings.Contains(got, "s3cret") {
		t.Errorf("the secret is shown: %q", got)
	}
	if !strings.Contains(got, `"2026-11-20"`) || !strings.Contains(got, "Apply complete!") {
		t.Errorf("the plan does not have what was answered: %q", got)
	}
}

// TestAnswersAreChecked gives an answer that the validation refuses: it says so, and that it was the prompt's.
func TestAnswersAreChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.hcl"), asking)
	r := onTerminal(t, dir, []string{"NO_COLOR=1"}, "plan", "-var=key=x", "-var=parts=[]")
	r.sees(t, "Enter a value:")
	r.types(t, "today\n")
	got := r.ends(t, 1)
	for _, want := range []string{"on value for var.day line 1:", `var.day is "today"`, "A day is written as 2026-11-20."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// TestQuestionsAreLeft presses ctrl+c and ctrl+d instead of answering, and asks for nothing where it was told not to.
func TestQuestionsAreLeft(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, keys string
		args       []string
		code       int
	}{
		{"interrupted", "\x03", []string{"plan"}, 130},
		{"interrupted at a sensitive one", "\x03", []string{"plan", "-var=day=2026-11-20"}, 130},
		{"no answer", "\x04", []string{"console"}, 1},
		{"no input", "", []string{"plan", "-input=false"}, 1},
		{"for a program", "", []string{"plan", "-json"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "main.hcl"), asking)
			r := onTerminal(t, dir, []string{"NO_COLOR=1"}, tt.args...)
			if tt.keys != "" {
				r.sees(t, "Enter a value:")
				r.types(t, tt.keys)
			}
			got := r.ends(t, tt.code)
			if tt.keys == "" && strings.Contains(got, "Enter a value:") {
				t.Errorf("asked: %q", got)
			}
			if tt.code == 1 && !strings.Contains(got, "Missing value of a variable") {
				t.Errorf("the lack is not told: %q", got)
			}
		})
	}
}
