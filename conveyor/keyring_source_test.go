package conveyor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

const secretC = "cccccccccccccccccccccccccccccccc"

func idOf(t testing.TB, secret string) string { return testKeyring(t, secret).ID() }

func testRing(t testing.TB, secrets ...string) *Keyring {
	t.Helper()
	k, err := NewKeyring(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestRing(t *testing.T) {
	t.Parallel()
	old, both := testRing(t, secretA), testRing(t, secretB, secretA)
	if diff := cmp.Diff([]string{idOf(t, secretB), idOf(t, secretA)}, both.IDs()); diff != "" {
		t.Fatalf("ids (-want +got):\n%s", diff)
	}
	was := &wire.Job{Uuid: "u", Type: "exec", Queue: "q", Name: "job.a", Payload: []byte("secret")}
	if err := errors.Join(old.SealJob(was), old.Sign("ns", was)); err != nil {
		t.Fatal(err)
	}
	plain, err := both.OpenJob(was)
	if err := errors.Join(err, both.Verify("ns", was)); err != nil || string(plain) != "secret" {
		t.Errorf("what the second key made: %q, %v", plain, err)
	}
	is := &wire.Job{Uuid: "u", Type: "exec", Queue: "q", Name: "job.a", Payload: []byte("secret")}
	if err := errors.Join(both.SealJob(is), both.Sign("ns", is)); err != nil {
		t.Fatal(err)
	}
	if is.SignKey != idOf(t, secretB) || is.SealKey != idOf(t, secretB) {
		t.Errorf("signed with %s, sealed with %s, want the first key", is.SignKey, is.SealKey)
	}
	if err := old.Verify("ns", is); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("the ring without the new key: %v", err)
	}
	forged := &wire.Job{Uuid: "u", Type: "exec", Queue: "q", Name: "job.a", Payload: is.Payload, SignKey: was.SignKey, Signature: is.Signature}
	if err := both.Verify("ns", forged); !errors.Is(err, ErrBadSignature) {
		t.Errorf("a signature of the one key under the id of the other: %v", err)
	}
	if both.Digest([]byte("x")) == old.Digest([]byte("x")) {
		t.Error("the ring digests under its second key")
	}
	if sum, ok := both.DigestUnder(old.ID(), []byte("x")); !ok || sum != old.Digest([]byte("x")) {
		t.Error("the digest under the second key differs from that of the key alone")
	}
	if _, ok := both.DigestUnder(idOf(t, secretC), []byte("x")); ok {
		t.Error("it digests under a key that it does not hold")
	}
}

func TestRingOnly(t *testing.T) {
	t.Parallel()
	ring := testRing(t, secretA, secretB)
	only, err := ring.Only(idOf(t, secretB))
	if err != nil || !only.Holds(idOf(t, secretB)) || only.Holds(idOf(t, secretA)) {
		t.Fatalf("ring of %v, error %v", only.IDs(), err)
	}
	j := &wire.Job{Uuid: "u", Type: "exec", Queue: "q"}
	if err := ring.Sign("ns", j); err != nil {
		t.Fatal(err)
	}
	if err := only.Verify("ns", j); !errors.Is(err, ErrUntrustedKey) || !errors.Is(err, ErrUnknownKey) {
		t.Errorf("a key that is not trusted: %v", err)
	}
	if _, err := ring.Only("00000000"); !errors.Is(err, ErrUnknownKey) || errors.Is(err, ErrUntrustedKey) {
		t.Errorf("an id that is not in the ring: %v", err)
	}
	if _, err := ring.Only(); err == nil {
		t.Error("a ring without keys")
	}
	var none *Keyring
	if _, err := none.Only("00000000"); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("of a nil ring: %v", err)
	}
}

func TestLoadKeyringSources(t *testing.T) {
	t.Parallel()
	a, b := idOf(t, secretA), idOf(t, secretB)
	tests := []struct {
		name string
		env  map[string]string
		file string // of WAYBILL_KEY_FILE
		mode os.FileMode
		want []string
		err  string
	}{
		{name: "commas", env: map[string]string{KeyVariable: secretA + ", " + secretB}, want: []string{a, b}},
		{name: "lines", env: map[string]string{KeyVariable: secretB + "\n\n" + secretA + "\n"}, want: []string{b, a}},
		{name: "an empty place", env: map[string]string{KeyVariable: "," + secretB}, err: "WAYBILL_KEY: a key of the list is empty"},
		{name: "the second is short", env: map[string]string{KeyVariable: secretA + ",abc"}, err: "key 2 of 2 has 3 characters and needs at least 16"},
		{name: "one twice", env: map[string]string{KeyVariable: secretA + "," + secretB + "," + secretA}, err: "key 3 of 3, with the id " + a + ", is key 1 once more"},
		{name: "too many", env: map[string]string{KeyVariable: strings.Repeat(secretA+"\n", MaxKeys+1)}, err: "a ring has at most 32"},
		{name: "file", file: "# of the team\n" + secretA + " # until June\n\n" + secretB, mode: 0o640, want: []string{a, b}},
		{name: "file of nothing", file: "# nothing\n", mode: 0o600, err: "does not hold a key"},
		{name: "file for everybody", file: secretA, mode: 0o644, err: "can be used by others (mode 0644)"},
		{name: "file that is not there", env: map[string]string{KeyFileVariable: "/nonexistent/key"}, err: "WAYBILL_KEY_FILE: read the key file: open /nonexistent/key"},
		{name: "file of a megabyte", file: strings.Repeat("x", 1<<20), mode: 0o600, err: "it is something else"},
		{name: "command", env: map[string]string{KeyCommandVariable: `printf '%s,%s' "` + secretA + `" ` + secretB}, want: []string{a, b}},
		{name: "command without a shell", env: map[string]string{KeyCommandVariable: "echo " + secretA + "; rm -rf"}, want: []string{idOf(t, secretA+"; rm -rf")}},
		{name: "command that fails", env: map[string]string{KeyCommandVariable: `sh -c 'echo wrong vault >&2; echo ` + secretA + `; exit 3'`},
			err: `the command "sh" failed: exit status 3: it said: wrong vault`},
		{name: "command that says nothing", env: map[string]string{KeyCommandVariable: "true"}, err: `the command "true" wrote no key`},
		{name: "command that is not there", env: map[string]string{KeyCommandVariable: "waybill-no-such-command x"}, err: "executable file not found"},
		{name: "command with an open quote", env: map[string]string{KeyCommandVariable: "echo 'x"}, err: "a ' that is not closed"},
		{name: "command of nothing", env: map[string]string{KeyCommandVariable: `""`}, err: "names no program"},
		{name: "two sources", env: map[string]string{KeyVariable: secretA, KeyCommandVariable: "true"}, err: "WAYBILL_KEY and WAYBILL_KEY_COMMAND are set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{}
			for k, v := range tt.env {
				env[k] = v
			}
			if tt.file != "" {
				env[KeyFileVariable] = filepath.Join(t.TempDir(), "key")
				writeKey(t, env[KeyFileVariable], tt.file, tt.mode)
			}
			var from KeySource
			k, err := LoadKeyring(KeyringOptions{File: filepath.Join(t.TempDir(), "no", "key"), Getenv: func(name string) string { return env[name] }, Source: &from})
			switch {
			case tt.want != nil:
				if diff := cmp.Diff(tt.want, k.IDs()); diff != "" || err != nil {
					t.Errorf("error %v, ids (-want +got):\n%s", err, diff)
				}
				if from.Variable == "" {
					t.Errorf("the source is %q", from)
				}
			case err == nil || !strings.Contains(err.Error(), tt.err):
				t.Errorf("error %v, want %q", err, tt.err)
			case strings.Contains(err.Error(), "aaaa"), strings.Contains(err.Error(), "bbbb"):
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestRotateKeyFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "waybill", "key")
	load := func() *Keyring {
		t.Helper()
		k, err := LoadKeyring(KeyringOptions{File: name, Getenv: noEnvironment, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first, err := RotateKeyFile(name)
	if err != nil || len(first.IDs()) != 1 {
		t.Fatalf("without a file: %v, %v", first.IDs(), err)
	}
	second, err := RotateKeyFile(name)
	if err != nil || len(second.IDs()) != 2 || second.IDs()[1] != first.ID() {
		t.Fatalf("after %v: %v, %v", first.IDs(), second.IDs(), err)
	}
	if diff := cmp.Diff(second.IDs(), load().IDs()); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
	if _, err := RetireKey(name, "00000000"); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("retire what is not there: %v", err)
	}
	left, err := RetireKey(name, first.ID())
	if err != nil || left.ID() != second.ID() || load().Holds(first.ID()) {
		t.Errorf("after retiring %s: %v, %v", first.ID(), left.IDs(), err)
	}
	if _, err := RetireKey(name, left.ID()); err == nil || !load().Holds(left.ID()) {
		t.Errorf("the only key was retired: %v", err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if names, _ := filepath.Glob(filepath.Join(filepath.Dir(name), "*")); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
	writeKey(t, name+".changing", "", 0o600)
	if _, err := RotateKeyFile(name); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("while another process does: %v", err)
	}
	if diff := cmp.Diff(left.IDs(), load().IDs()); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
}
