package conveyor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// vault is a source of secrets for tests: it refuses what it does not have, and fails with an error that it has in place of a value.
type vault map[string]any

func (v vault) Secret(_ context.Context, name string) (string, error) {
	switch value := v[name].(type) {
	case string:
		return value, nil
	case error:
		return "", value
	}
	return "", ErrSecretRefused
}

func (v vault) Patterns() []string { return []string{"env:*"} }

func secretAs(form, name string) string { return Reading{Secret: name, Form: form}.String() }

// TestSecretsAreFilledIn covers the places in which a secret may stand, and all that keeps a job from getting one.
func TestSecretsAreFilledIn(t *testing.T) {
	t.Parallel()
	own := testKeyring(t, secretA)
	source := vault{
		"env:PW": "p \"w\" <&>\nä", "env:EMPTY": "", "env:LARGE": strings.Repeat("x", MaxSecret+1), "env:BYTES": "a\xff", "env:LOST": errors.New("the variable LOST is not set"),
		"env:DOTS": "..", "env:READING": readAs("t") + SecretText("env:PW"), "env:FILLS": strings.Repeat("x", MaxSecret),
	}
	rows := []struct {
		name, payload string
		secrets       []string
		none          bool // the worker has no source
		want, failure string
		verdict       Verdict
	}{
		{name: "in text", payload: `{"dsn":"u:` + SecretText("env:PW") + `@h"}`, want: `{"dsn":"u:p \"w\" <&>\nä@h"}`},
		{name: "as a whole value", payload: `["` + secretAs("v", "env:PW") + `"]`, want: `["p \"w\" <&>\nä"]`},
		{name: "inside JSON inside a string", payload: `"{\"t\":` + secretAs("vs", "env:PW") + `}"`, want: `"{\"t\":\"p \\\"w\\\" <&>\\nä\"}"`},
		{name: "in a path and a query", payload: secretAs("tps", "env:PW") + "?q=" + secretAs("tqs", "env:PW"), want: "p%20%22w%22%20%3C&%3E%0A%C3%A4?q=p+%22w%22+%3C%26%3E%0A%C3%A4"},
		{name: "beside a result", payload: `["` + readAs("v") + `","` + SecretText("env:PW") + `"]`, want: `[7,"p \"w\" <&>\nä"]`},
		{name: "a value that looks like readings", payload: `"` + SecretText("env:READING") + `"`, want: `"` + readAs("t") + SecretText("env:PW") + `"`},
		{name: "one that is not asked for is text", payload: SecretText("env:OTHER"), want: SecretText("env:OTHER")},
		{name: "a name that is no name is text", payload: "@{result:!:W10:t:} @{result:!***:W10:t:}", want: "@{result:!:W10:t:} @{result:!***:W10:t:}"},
		{name: "not given here", payload: SecretText("env:ROOT"), secrets: []string{"env:ROOT"}, verdict: VerdictNoHandler},
		{name: "no source", payload: SecretText("env:PW"), none: true, verdict: VerdictNoHandler},
		{name: "missing", payload: SecretText("env:LOST"), verdict: VerdictRetry, failure: "it asks for the secret env:LOST of worker w on host "},
		{name: "missing, and why", payload: SecretText("env:LOST"), verdict: VerdictRetry, failure: ": the variable LOST is not set"},
		{name: "empty", payload: SecretText("env:EMPTY"), verdict: VerdictRetry, failure: ": it is empty"},
		{name: "too large", payload: SecretText("env:LARGE"), verdict: VerdictRetry, failure: ": it is too large: the limit is 1048576 bytes"},
		{name: "no text", payload: SecretText("env:BYTES"), verdict: VerdictRetry, failure: ": it is no text in UTF-8"},
		{name: "dots in a path", payload: secretAs("tps", "env:DOTS"), verdict: VerdictFailed, failure: "it reads secret env:DOTS, which is \"..\": in the path of a url that would lead elsewhere"},
		{name: "the payload gets too large", payload: `"` + SecretText("env:FILLS") + `"`, verdict: VerdictFailed, failure: "with the results and secrets that it reads, the payload is too large"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			secrets := row.secrets
			for name := range source {
				secrets = append(secrets, name)
			}
			o := WorkerOptions{ID: "w", Keyring: own, Secrets: source}
			if row.none {
				o.Secrets = nil
			}
			job := &wire.Job{Uuid: "u1", Type: "t", Queue: "q", Payload: []byte(row.payload), Results: []string{"up"}, Secrets: secrets}
			if err := own.Sign("ns", job); err != nil {
				t.Fatal(err)
			}
			got, calls := "", 0
			ack := attemptOf(t, o, job, func(_ context.Context, j *wire.Job) error {
				calls++
				got = string(j.GetPayload())
				return nil
			})
			verdict := row.verdict
			if verdict == 0 {
				verdict = VerdictDone
			}
			if ack.Verdict != verdict || !strings.Contains(ack.Failure, row.failure) || got != row.want || (calls > 0) != (verdict == VerdictDone) {
				t.Errorf("verdict %d, want %d; failure %q, want it to have %q; payload\n%.300s, want\n%.300s", ack.Verdict, verdict, ack.Failure, row.failure, got, row.want)
			}
		})
	}
}

// attemptOf runs one attempt of a job on a worker, with a result 7 of job "up", and returns its acknowledgement.
func attemptOf(t *testing.T, o WorkerOptions, job *wire.Job, h Handler, look ...func(*fakeStore)) (ack Ack) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		f.results = map[string][]byte{"up": []byte("7")}
		w := fakeWorker(t, f, o)
		w.HandleRaw(job.GetType(), h)
		f.ready = []Reservation{{Job: job, Fence: 1, Opening: 1}}
		stop := running(t, w)
		elapse(time.Second)
		if err := stop(); err != nil {
			t.Error(err)
		}
		ack = f.acks[0]
		for _, f2 := range look {
			f2(f)
		}
	})
	return ack
}

// TestSecretsNeedASignature: whoever can write to the store, and has no key, gets no secret by any job.
func TestSecretsNeedASignature(t *testing.T) {
	t.Parallel()
	own, other := testKeyring(t, secretA), testKeyring(t, secretB)
	sign := func(k *Keyring, then func(*wire.Job)) func(*testing.T, *wire.Job) {
		return func(t *testing.T, j *wire.Job) {
			if err := k.Sign("ns", j); err != nil {
				t.Fatal(err)
			}
			if then != nil {
				then(j)
			}
		}
	}
	none := func(*testing.T, *wire.Job) {}
	for _, row := range []struct {
		name     string
		unsigned bool // AllowUnsigned
		prepare  func(*testing.T, *wire.Job)
		want     Verdict
		failure  string
	}{
		{name: "signed", prepare: sign(own, nil), want: VerdictDone},
		{name: "an occurrence of a signed template", want: VerdictDone, prepare: sign(own, func(j *wire.Job) { j.TemplateUuid, j.Uuid, j.Tick = j.Uuid, "o", "1500" })},
		{name: "what a worker gets of a job for all", want: VerdictDone, prepare: sign(own, func(j *wire.Job) {
			j.Delivery, j.Uuid = &wire.Delivery{To: wire.Delivery_WORKER, Worker: "w", Of: j.Uuid}, "o"
		})},
		{name: "sealed and signed", want: VerdictDone, prepare: func(t *testing.T, j *wire.Job) {
			if err := own.SealJob(j); err != nil {
				t.Fatal(err)
			}
			sign(own, nil)(t, j)
		}},
		{name: "unsigned", prepare: none, want: VerdictHold, failure: "job is not signed, and it asks for secrets of the worker (env:PW), which no unsigned job gets"},
		{name: "unsigned, and such are allowed", unsigned: true, prepare: none, want: VerdictHold, failure: "job is not signed, and it asks for secrets"},
		{name: "a key that is not here", prepare: sign(other, nil), want: VerdictNoHandler},
		{name: "one more", prepare: sign(own, func(j *wire.Job) { j.Secrets = append(j.Secrets, "env:ROOT") }), want: VerdictHold, failure: "wrong signature"},
		{name: "another", prepare: sign(own, func(j *wire.Job) { j.Secrets[0] = "env:ROOT" }), want: VerdictHold, failure: "wrong signature"},
		{name: "a result in the place of a secret", prepare: sign(own, func(j *wire.Job) { j.Results, j.Secrets = append(j.Results, j.Secrets...), []string{"env:ROOT"} }), want: VerdictHold, failure: "wrong signature"},
		{name: "none before", want: VerdictHold, failure: "wrong signature", prepare: func(t *testing.T, j *wire.Job) {
			secrets := j.Secrets
			j.Secrets = nil
			sign(own, func(j *wire.Job) { j.Secrets = secrets })(t, j)
		}},
		{name: "another payload", prepare: sign(own, func(j *wire.Job) { j.Payload = []byte(`"` + SecretText("env:PW") + `!"`) }), want: VerdictHold, failure: "wrong signature"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			job := &wire.Job{Uuid: "u1", Name: "job.a", Type: "t", Queue: "q", Payload: []byte(`"` + SecretText("env:PW") + `"`), Secrets: []string{"env:PW"}}
			row.prepare(t, job)
			got := ""
			o := WorkerOptions{ID: "w", Keyring: own, AllowUnsigned: row.unsigned, Secrets: vault{"env:PW": "hunter2", "env:ROOT": "toor"}}
			ack := attemptOf(t, o, job, func(_ context.Context, j *wire.Job) error { got = string(j.GetPayload()); return nil })
			if want := row.want == VerdictDone; ack.Verdict != row.want || !strings.Contains(ack.Failure, row.failure) || (got == `"hunter2"`) != want || (got != "") != want {
				t.Errorf("verdict %d, want %d; failure %q, want it to have %q; the handler got %s", ack.Verdict, row.want, ack.Failure, row.failure, got)
			}
		})
	}
}

// TestSecretsAreMasked: nothing that an attempt tells the store has a secret in it.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	own := testKeyring(t, secretA)
	const pw, pem = `hun"ter 2`, "first line\nsecond line\r\nab\n"
	job := &wire.Job{Uuid: "u1", Type: "t", Queue: "q", Payload: []byte(SecretText("env:PW") + SecretText("env:PEM")), Secrets: []string{"env:PW", "env:PEM"}}
	if err := own.Sign("ns", job); err != nil {
		t.Fatal(err)
	}
	dots := strings.Repeat(".", 1000)
	h := func(ctx context.Context, _ *wire.Job) error {
		a := FromContext(ctx)
		a.Log("a " + pw + " b")
		for _, part := range []string{"hun", `"t`, "er 2\nsecond", " line, hun\\\"ter 2 hun%22ter%202 hun%22ter+2\n", "ab ", "hunter 2 ", dots, `hun"ter`} {
			if _, err := a.Output().Write([]byte(part)); err != nil {
				return err
			}
		}
		a.Progress(Progress{Done: 1, Text: "at " + pw})
		if err := a.SetResult([]byte(`{"a":"hun\"ter 2"}`)); err != nil {
			return err
		}
		if err := a.SetSync(map[string]string{"k": pw}); err != nil {
			return err
		}
		if err := a.Emit(ctx, "note", []byte(pw)); err != nil {
			return err
		}
		if got := a.Mask("x" + pw); got != "x***" {
			return errors.New(got)
		}
		time.Sleep(2 * flushEvery)
		return nil
	}
	o := WorkerOptions{Keyring: own, Secrets: vault{"env:PW": pw, "env:PEM": pem}}
	var log string
	var progress []Progress
	var sent []emission
	ack := attemptOf(t, o, job, h, func(f *fakeStore) { log, progress, sent = f.log, f.progress, f.sent })
	want := "a *** b\n***\n***, *** *** ***\nab hunter 2 " + dots + `hun"ter`
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if len(progress) != 1 || progress[0].Text != "at ***" || len(sent) != 1 || string(sent[0].data) != "***" {
		t.Errorf("progress %+v, messages %+v", progress, sent)
	}
	if ack.Verdict != VerdictDone || string(ack.Result) != `{"a":"***"}` || ack.Sync["k"] != "***" {
		t.Errorf("acknowledgement %+v, result %s", ack, ack.Result)
	}

	for _, end := range []func() error{
		func() error { return fmt.Errorf("dial %s", pw) },
		func() error { panic("dial " + pw) },
	} {
		ack = attemptOf(t, o, job, func(context.Context, *wire.Job) error { return end() })
		if !strings.Contains(ack.Failure, "dial ***") || strings.Contains(ack.Failure, "ter 2") {
			t.Errorf("failure %q", ack.Failure)
		}
	}
}

// TestSensitiveValuesAreMasked: likewise nothing of what was to be hidden when the job was sealed, beside secrets.
func TestSensitiveValuesAreMasked(t *testing.T) {
	t.Parallel()
	own := testKeyring(t, secretA)
	job := &wire.Job{Uuid: "u1", Name: "job.a", Type: "t", Queue: "q", Payload: []byte("hunter2 " + SecretText("env:PW")), Secrets: []string{"env:PW"}}
	if err := errors.Join(own.SealJob(job, "hunter2"), own.Sign("ns", job)); err != nil {
		t.Fatal(err)
	}
	h := func(ctx context.Context, j *wire.Job) error {
		FromContext(ctx).Log(string(j.GetPayload()))
		return errors.New("no " + string(j.GetPayload()))
	}
	log := ""
	ack := attemptOf(t, WorkerOptions{Keyring: own, Secrets: vault{"env:PW": "swordfish"}}, job, h, func(f *fakeStore) { log = f.log })
	if log != "*** ***\n" || !strings.Contains(ack.Failure, "no *** ***") {
		t.Errorf("log %q, failure %q", log, ack.Failure)
	}
}

// TestMaskKeepsJSON: a number that is a secret cannot be taken out of a result, so the result is refused.
func TestMaskKeepsJSON(t *testing.T) {
	t.Parallel()
	m := newMask([]string{"12345"})
	if _, err := m.data([]byte(`{"pin":12345}`)); !errors.Is(err, errMasked) {
		t.Errorf("a number: %v", err)
	}
	if got, err := m.data([]byte("pin 12345")); err != nil || string(got) != "pin ***" {
		t.Errorf("text: %s, %v", got, err)
	}
	if m := newMask([]string{"abc\nx"}); m != nil || m.text("abc") != "abc" {
		t.Errorf("what is too short is masked")
	}
	long := strings.Repeat("0123456789", 1000)
	m = newMask([]string{long})
	var all, told, held []byte
	for part := range slices.Chunk([]byte("a"+long+"b"), 7) {
		told, held = m.told(append(held, part...), false)
		all = append(all, told...)
	}
	if got := string(append(all, held...)); got != "a"+strings.Repeat(masked, 10)+"b" {
		t.Errorf("a long line: %s", got)
	}
	m = newMask([]string{"abcd", "abcdef"})
	told, held = m.told([]byte("x abcd"), false)
	if string(told) != "x " || string(held) != "abcd" {
		t.Errorf("the shorter of two: %q, then %q", told, held)
	}
}

// TestSecretsAreChecked: what no worker can look up is refused when the job is added, or the worker made.
func TestSecretsAreChecked(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		names []string
		want  error
	}{
		{[]string{"env:PW", "file:/run/secrets/a b", "vault2:kv/db#password"}, nil},
		{[]string{"PW"}, ErrSecretName},
		{[]string{"env:"}, ErrSecretName},
		{[]string{":PW"}, ErrSecretName},
		{[]string{"Env:PW"}, ErrSecretName},
		{[]string{"env:P\nW"}, ErrSecretName},
		{[]string{"env:P\xff"}, ErrSecretName},
		{[]string{"env:" + strings.Repeat("x", MaxSecretName)}, ErrSecretName},
		{make([]string, MaxSecrets+1), ErrTooLarge},
	} {
		if _, err := newSubmission(&wire.Job{Uuid: "u", Type: "t", Queue: "q", Secrets: row.names}, addOptions{}); !errors.Is(err, row.want) {
			t.Errorf("%.60q: %v, want %v", row.names, err, row.want)
		}
	}
	for _, patterns := range []patterned{{"a,b"}, {""}, {"env:["}, make(patterned, MaxSecrets+1)} {
		if err := checkPatterns(patterns); err == nil {
			t.Errorf("patterns %.60q are taken", patterns)
		}
	}
	for _, row := range []struct {
		pattern, name string
		want          bool
	}{
		{"env:DB_*", "env:DB_PASSWORD", true}, {"env:DB_*", "env:PATH", false}, {"file:/run/*", "file:/run/a/b", false}, {"file:/run/*/b", "file:/run/a/b", true}, {"env:[", "env:[", false},
	} {
		if got := MatchSecret(row.pattern, row.name); got != row.want {
			t.Errorf("%s covers %s: %v", row.pattern, row.name, got)
		}
	}
}

// patterned is a source that gives nothing and says this of itself.
type patterned []string

func (p patterned) Secret(context.Context, string) (string, error) { return "", ErrSecretRefused }
func (p patterned) Patterns() []string                             { return p }
