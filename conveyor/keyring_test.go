package conveyor

import (
	"bytes"
	stdcmp "cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

func testKeyring(t testing.TB, secret string) *Keyring {
	t.Helper()
	k, err := NewKeyring(secret)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const (
	secretA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	secretB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// noEnvironment is an environment without a key.
func noEnvironment(string) string { return "" }

// keyVariable is an environment with a key in WAYBILL_KEY alone.
func keyVariable(value string) func(string) string {
	return func(name string) string {
		if name == KeyVariable {
			return value
		}
		return ""
	}
}

func TestLoadKeyringMakesFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new", "waybill", "key")
	o := KeyringOptions{File: file, Getenv: noEnvironment}

	readOnly := o
	readOnly.ReadOnly = true
	if k, err := LoadKeyring(readOnly); k != nil || err != nil {
		t.Errorf("read-only without a file: ring %v, error %v", k, err)
	}
	if _, err := os.Stat(filepath.Dir(file)); !os.IsNotExist(err) {
		t.Errorf("read-only made something: %v", err)
	}

	var rings [16]*Keyring
	var group sync.WaitGroup
	for i := range rings { // all agree on one key
		group.Go(func() {
			k, err := LoadKeyring(o)
			if err != nil {
				t.Error(err)
			}
			rings[i] = k
		})
	}
	group.Wait()
	for _, k := range rings[1:] {
		if k.ID() != rings[0].ID() || len(k.ID()) != 8 {
			t.Fatalf("key ids %q and %q", k.ID(), rings[0].ID())
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %04o, want 0600", info.Mode().Perm())
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".key-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	again, err := LoadKeyring(readOnly)
	if err != nil || again.ID() != rings[0].ID() {
		t.Errorf("read-only with a file: id %q, error %v, want %q", again.ID(), err, rings[0].ID())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pasted, err := LoadKeyring(KeyringOptions{Getenv: keyVariable(string(text))})
	if err != nil || pasted.ID() != again.ID() {
		t.Errorf("the file's text in the variable: id %q, error %v, want %q", pasted.ID(), err, again.ID())
	}
}

func TestLoadKeyringRefuses(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("0f", 32) + "\n"
	tests := []struct {
		name  string
		file  string // key
		setUp func(t *testing.T, file string)
		env   string
		want  string
	}{
		{name: "short variable", env: "secret", want: "WAYBILL_KEY: the key has 6 characters and needs at least 16"},
		{name: "group may read", setUp: func(t *testing.T, f string) { writeKey(t, f, good, 0o640) }, want: "chmod 600"},
		{name: "truncated", setUp: func(t *testing.T, f string) { writeKey(t, f, good[:40], 0o600) }, want: "does not hold a key"},
		{name: "empty", setUp: func(t *testing.T, f string) { writeKey(t, f, "", 0o600) }, want: "does not hold a key"},
		{name: "not hexadecimal", setUp: func(t *testing.T, f string) { writeKey(t, f, strings.Repeat("xy", 32), 0o600) }, want: "does not hold a key"},
		{name: "two lines", setUp: func(t *testing.T, f string) { writeKey(t, f, good+good, 0o600) }, want: "key 2 of 2, with the id fa2017a8, is key 1 once more"},
		{name: "a directory", setUp: func(t *testing.T, f string) {
			if err := os.Mkdir(f, 0o700); err != nil {
				t.Fatal(err)
			}
		}, want: "not a regular file"},
		{name: "a file where its directory should be", file: "dir/key", setUp: func(t *testing.T, f string) { writeKey(t, filepath.Dir(f), "", 0o600) },
			want: "not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), stdcmp.Or(tt.file, "key"))
			if tt.setUp != nil {
				tt.setUp(t, file)
			}
			before, _ := os.ReadFile(file) // nothing of what is no file
			k, err := LoadKeyring(KeyringOptions{File: file, Getenv: keyVariable(tt.env)})
			if k != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ring %v, error %v, want one with %q", k, err, tt.want)
			}
			if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func writeKey(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

// TestKeyringProcess is not a test of its own: TestLoadKeyringProcesses runs it in other processes.
func TestKeyringProcess(t *testing.T) {
	file := os.Getenv("KEYRING_TEST_FILE")
	if file == "" {
		return
	}
	k, err := LoadKeyring(KeyringOptions{File: file, Getenv: noEnvironment})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv("KEYRING_TEST_ID"), []byte(k.ID()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoadKeyringProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var group sync.WaitGroup
	ids := make([]string, 4)
	for i := range ids {
		group.Go(func() {
			out := filepath.Join(dir, "id"+string(rune('0'+i)))
			cmd := exec.Command(os.Args[0], "-test.run=^TestKeyringProcess$")
			cmd.Env = append(os.Environ(), "KEYRING_TEST_FILE="+filepath.Join(dir, "sub", "key"), "KEYRING_TEST_ID="+out)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, text)
				return
			}
			id, err := os.ReadFile(out)
			if err != nil {
				t.Error(err)
			}
			ids[i] = string(id)
		})
	}
	group.Wait()
	for _, id := range ids {
		if id != ids[0] || id == "" {
			t.Errorf("key ids %q", ids)
		}
	}
}

func TestNilKeyring(t *testing.T) {
	t.Parallel()
	var k *Keyring
	_, sealing := k.Seal("t", "a", []byte("x"))
	job := &wire.Job{Uuid: "u", SealKey: "12345678"}
	_, opening := k.OpenJob(job)
	for name, err := range map[string]error{"Sign": k.Sign("n", job), "Seal": sealing, "SealJob": k.SealJob(job)} {
		if !errors.Is(err, ErrNoKey) {
			t.Errorf("%s: %v, want %v", name, err, ErrNoKey)
		}
	}
	if !errors.Is(opening, ErrUnknownKey) {
		t.Errorf("OpenJob: %v, want %v", opening, ErrUnknownKey)
	}
	if k.ID() != "" || k.IDs() != nil || k.Holds("") || k.Holds("12345678") {
		t.Error("a nil ring holds a key")
	}
	if plain, err := k.OpenJob(&wire.Job{Payload: []byte("p")}); string(plain) != "p" || err != nil {
		t.Errorf("plain payload: %q, %v", plain, err)
	}
	if first, second := k.Digest([]byte("x")), k.Digest([]byte("x")); first != second || k.Digest([]byte("x")) == k.Digest([]byte("y")) {
		t.Error("digests without a key")
	}
	if !errors.Is(k.Verify("n", &wire.Job{SignKey: "12345678", Signature: []byte("s")}), ErrUnknownKey) {
		t.Error("Verify with an unknown key")
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	a, b := testKeyring(t, secretA), testKeyring(t, secretB)
	if a.Digest([]byte("x")) == b.Digest([]byte("x")) || a.Digest([]byte("x")) == a.Digest([]byte("y")) {
		t.Error("digests are equal")
	}
	if a.Digest([]byte("x")) != testKeyring(t, " "+secretA+"\n").Digest([]byte("x")) {
		t.Error("white space around the secret counts")
	}
}

func TestSignature(t *testing.T) {
	t.Parallel()
	k := testKeyring(t, secretA)
	signed := func() *wire.Job {
		j := &wire.Job{Uuid: "u", Type: "exec", Queue: "q", Payload: []byte("p"), Timeout: durationpb.New(time.Minute), Name: "job.a"}
		if err := k.Sign("ns", j); err != nil {
			t.Fatal(err)
		}
		return j
	}
	tests := []struct {
		name      string
		namespace string
		change    func(j *wire.Job)
		want      error
	}{
		{"as signed", "ns", func(*wire.Job) {}, nil},
		{"what it does not cover", "ns", func(j *wire.Job) { j.Retry, j.Name, j.Priority = 2, "job.b", proto.Int32(2) }, nil},
		{"another namespace", "nt", func(*wire.Job) {}, ErrBadSignature},
		{"another uuid", "ns", func(j *wire.Job) { j.Uuid = "v" }, ErrBadSignature},
		{"another type", "ns", func(j *wire.Job) { j.Type = "http" }, ErrBadSignature},
		{"another queue", "ns", func(j *wire.Job) { j.Queue = "r" }, ErrBadSignature},
		{"another payload", "ns", func(j *wire.Job) { j.Payload = []byte("P") }, ErrBadSignature},
		{"results to read", "ns", func(j *wire.Job) { j.Results = []string{"v"} }, ErrBadSignature},
		{"another timeout", "ns", func(j *wire.Job) { j.Timeout = nil }, ErrBadSignature},
		{"a byte moved to the next field", "ns", func(j *wire.Job) { j.Type, j.Queue = "execq", "" }, ErrBadSignature},
		{"a cut signature", "ns", func(j *wire.Job) { j.Signature = j.Signature[:31] }, ErrBadSignature},
		{"no signature but a key", "ns", func(j *wire.Job) { j.Signature = nil }, ErrBadSignature},
		{"another key", "ns", func(j *wire.Job) { j.SignKey = "00000000" }, ErrUnknownKey},
		{"no key but a signature", "ns", func(j *wire.Job) { j.SignKey = "" }, ErrUnknownKey},
		{"unsigned", "ns", func(j *wire.Job) { j.SignKey, j.Signature = "", nil }, ErrUnsigned},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := signed()
			tt.change(j)
			if err := k.Verify(tt.namespace, j); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

func TestSeal(t *testing.T) {
	t.Parallel()
	k := testKeyring(t, secretA)
	seal := func(jobType, address, payload string) []byte {
		t.Helper()
		b, err := k.Seal(jobType, address, []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	sealed := seal("exec", "job.a", "secret")
	if !bytes.Equal(sealed, seal("exec", "job.a", "secret")) {
		t.Error("sealing twice gives different bytes")
	}
	nonces := map[string]bool{}
	for _, s := range [][]byte{sealed, seal("exec", "job.a", "Secret"), seal("exec", "job.b", "secret"), seal("http", "job.a", "secret"), seal("execj", "ob.a", "secret")} {
		nonces[string(s[12:24])] = true
		if bytes.Contains(s, []byte("ecret")) {
			t.Error("the payload shows")
		}
	}
	if len(nonces) != 5 {
		t.Errorf("%d nonces for 5 inputs", len(nonces))
	}
	changed := func(i int) []byte { b := bytes.Clone(sealed); b[i] ^= 1; return b }
	tests := []struct {
		name          string
		ring          *Keyring
		jobType, addr string
		sealed        []byte
		want          error
	}{
		{"as sealed", k, "exec", "job.a", sealed, nil},
		{"another type", k, "print", "job.a", sealed, ErrBadSeal},
		{"another address", k, "exec", "job.b", sealed, ErrBadSeal},
		{"another key", testKeyring(t, secretB), "exec", "job.a", sealed, ErrUnknownKey},
		{"no key", nil, "exec", "job.a", sealed, ErrUnknownKey},
		{"changed magic", k, "exec", "job.a", changed(0), ErrBadSeal},
		{"changed key id", k, "exec", "job.a", changed(5), ErrUnknownKey},
		{"changed nonce", k, "exec", "job.a", changed(13), ErrBadSeal},
		{"changed content", k, "exec", "job.a", changed(25), ErrBadSeal},
		{"changed tag", k, "exec", "job.a", changed(len(sealed) - 1), ErrBadSeal},
		{"cut", k, "exec", "job.a", sealed[:20], ErrBadSeal},
		{"cut tag", k, "exec", "job.a", sealed[:len(sealed)-1], ErrBadSeal},
		{"empty", k, "exec", "job.a", nil, ErrBadSeal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.ring.Open(tt.jobType, tt.addr, tt.sealed)
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if tt.want == nil {
				if diff := cmp.Diff("secret", string(got)); diff != "" {
					t.Errorf("payload (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestSealJob(t *testing.T) {
	t.Parallel()
	k := testKeyring(t, secretA)
	j := &wire.Job{Uuid: "u", Type: "exec", Queue: "q", Name: "job.a", Payload: []byte("secret")}
	if err := errors.Join(k.SealJob(j), k.Sign("ns", j), k.Verify("ns", j)); err != nil {
		t.Fatal(err)
	}
	if j.SealKey != k.ID() || bytes.Contains(j.Payload, []byte("secret")) {
		t.Errorf("seal key %q, payload %q", j.SealKey, j.Payload)
	}
	if plain, err := k.OpenJob(j); string(plain) != "secret" || err != nil {
		t.Errorf("opened %q, %v", plain, err)
	}
	j.Name = "job.b"
	if _, err := k.OpenJob(j); !errors.Is(err, ErrBadSeal) {
		t.Errorf("renamed: %v, want %v", err, ErrBadSeal)
	}
}

// TestSealJobHiding: texts to mask travel with the payload, and what was sealed in one layout opens in no other.
func TestSealJobHiding(t *testing.T) {
	t.Parallel()
	k := testKeyring(t, secretA)
	hide := []string{"hunter2", strings.Repeat("long ", 1000), "\x00\xff"}
	j := &wire.Job{Uuid: "u", Type: "exec", Queue: "q", Name: "job.a", Payload: []byte("secret")}
	if err := k.SealJob(j, append([]string{""}, hide...)...); err != nil {
		t.Fatal(err)
	}
	payload, got, err := k.openJob(j)
	if diff := cmp.Diff(hide, got); diff != "" || string(payload) != "secret" || err != nil {
		t.Errorf("payload %q, %v, hidden (-want +got):\n%s", payload, err, diff)
	}
	if _, err := k.Open(j.Type, j.Name, j.Payload); !errors.Is(err, ErrBadSeal) {
		t.Errorf("opened as a payload alone: %v", err)
	}
	copy(j.Payload, sealPlain.magic)
	if _, err := k.OpenJob(j); !errors.Is(err, ErrBadSeal) {
		t.Errorf("with the other layout's name: %v", err)
	}
	for _, data := range []string{"", "\x05abc", "\x03abc", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		if _, _, err := hidden([]byte(data)); !errors.Is(err, ErrBadSeal) {
			t.Errorf("%q: %v", data, err)
		}
	}
}

// FuzzOpen: whatever the bytes, Open neither panics nor accepts what Seal did not make.
func FuzzOpen(f *testing.F) {
	k := testKeyring(f, secretA)
	sealed, err := k.Seal("t", "a", []byte("payload"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("t", "a", sealed)
	f.Add("", "", []byte("wbs1"))
	f.Add("t", "b", sealed[:30])
	f.Fuzz(func(t *testing.T, jobType, address string, data []byte) {
		payload, err := k.Open(jobType, address, data)
		if err != nil {
			if !errors.Is(err, ErrBadSeal) && !errors.Is(err, ErrUnknownKey) {
				t.Errorf("error %v is no sentinel", err)
			}
			return
		}
		again, err := k.Seal(jobType, address, payload)
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("accepted %x, which is not the seal of what it opened to", data)
		}
	})
}
