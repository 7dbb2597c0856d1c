package config

import (
	"strings"
	"testing"
)

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	address := `job.extract["eu/ä"]`
	p := Placeholder(address)
	if strings.ContainsAny(p, `"\<>&`) {
		t.Errorf("%s does not survive jsonencode", p)
	}
	uuid := func(a string) string {
		if a == address {
			return "UUID"
		}
		return ""
	}
	for _, row := range []struct{ name, text, want string }{
		{"nothing", "plain", "plain"},
		{"alone", p, "UUID"},
		{"several", "a" + p + p + "b", "aUUIDUUIDb"},
		{"unknown", "a" + Placeholder("job.x") + p, "a" + Placeholder("job.x") + "UUID"},
		{"only looks like one", "@{uuid:" + p, "@{uuid:UUID"},
		{"not closed", "@{uuid:abc", "@{uuid:abc"},
		{"not base64", "@{uuid:a b}" + p, "@{uuid:a b}UUID"},
		{"empty", "@{uuid:}", "@{uuid:}"},
	} {
		if got := string(FillPlaceholders([]byte(row.text), uuid)); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}
