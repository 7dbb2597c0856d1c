package cli_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestACL: with the users of examples/acl each role does its work, and nothing else.
func TestACL(t *testing.T) {
	t.Parallel()
	users, err := filepath.Abs(filepath.Join("..", "..", "examples", "acl", "users.acl"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(users)
	if err != nil {
		t.Fatal(err)
	}
	// The test's own way in, by which the server is asked whether it runs.
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, append([]byte("user default on nopass ~* +@all\n"), cutFirstLine(text)...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, form := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"plain", func(t *testing.T) string { return redistest.StartTCP(t, "--aclfile", file).URL() }},
		{"behind TLS", func(t *testing.T) string { return startTLS(t, "--aclfile", file).url("tls_ca", "tls_cert", "tls_key") }},
	} {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			u, err := url.Parse(form.url(t))
			if err != nil {
				t.Fatal(err)
			}
			variables := []string{}
			for _, role := range []string{"applier", "worker", "watcher"} {
				u.User = url.UserPassword(role, role+"-password")
				variables = append(variables, role+"="+u.String())
			}
			u.User = nil
			tell(t, filepath.Join("testdata", "forms", "acl.txtar"), "", append(variables, "REDIS="+u.String())...)
		})
	}
}

// cutFirstLine is the text without the line that turns the default user off.
func cutFirstLine(text []byte) []byte {
	for i, b := range text {
		if b == '\n' {
			return text[i+1:]
		}
	}
	return nil
}
