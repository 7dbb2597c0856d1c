package planner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/config"
)

// TestSecretsOfARecord: what a definition shows of secrets is read back, and nothing else is.
func TestSecretsOfARecord(t *testing.T) {
	t.Parallel()
	reading := func(secret, form string) string { return config.Reading{Secret: secret, Form: form}.Placeholder() }
	payload := `{"a":"` + reading("env:DB_PASSWORD", "v") + `","b":"x ` + reading("file:/run/secrets/a b", "ts") + ` y","c":"{\"k\":` + reading("env:IN_JSON", "vs") + `}","d":"` + reading("env:DB_PASSWORD", "v") +
		`","e":"${secret_env(\"1\")} secret_env(\"X\")"}`
	j := &config.Job{Type: "t", Payload: []byte(payload), Shown: []byte(payload), Secrets: []string{"env:DB_PASSWORD"}}
	r := &Record{Definition: appendDefinition(nil, j)}
	if diff := cmp.Diff([]string{"env:DB_PASSWORD", "file:/run/secrets/a b", "env:IN_JSON"}, r.Secrets()); diff != "" {
		t.Errorf("(-want +got):\n%s\nof %s", diff, r.Definition)
	}
	if got := (&Record{Definition: []byte(`{}`)}).Secrets(); got != nil {
		t.Errorf("none: %q", got)
	}
	if !Signed(j) || Signed(&config.Job{Type: "t"}) || !Signed(&config.Job{Type: "exec"}) {
		t.Error("a job is signed if and only if its type is, or it asks for secrets")
	}
}

// TestSecretsAreShown: a secret is shown as it is written, and never as something that will be known.
func TestSecretsAreShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`${secret_env("A")}`:                      `secret_env("A")`,
		`Bearer ${secret_file("/run/secrets/a")}`: `"Bearer ${secret_file("/run/secrets/a")}"`,
		`${secret_env("A")}${job.a.uuid}`:         `"${secret_env("A")}${job.a.uuid}" (known after apply)`,
		`${secret_env("A B")}`:                    `"${secret_env(\"A B\")}"`,
	} {
		if got := scalar(text); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
	if !IsReference(`${secret_env("A")}`) || IsReference(`${secret_env("A")} `) || IsReference(strings.ToUpper(`${secret_env("A")}`)) {
		t.Error("what is a reference")
	}
}
