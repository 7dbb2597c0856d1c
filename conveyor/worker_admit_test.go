package conveyor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestWorkerAdmits covers which jobs a worker runs, gives back unspent, or puts on hold, by handlers and keys.
func TestWorkerAdmits(t *testing.T) {
	t.Parallel()
	own, other := testKeyring(t, secretA), testKeyring(t, secretB)
	sign := func(k *Keyring) func(*testing.T, *wire.Job) {
		return func(t *testing.T, j *wire.Job) {
			if err := k.Sign("ns", j); err != nil {
				t.Fatal(err)
			}
		}
	}
	seal := func(k *Keyring) func(*testing.T, *wire.Job) {
		return func(t *testing.T, j *wire.Job) {
			if err := k.SealJob(j); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := func(steps ...func(*testing.T, *wire.Job)) func(*testing.T, *wire.Job) {
		return func(t *testing.T, j *wire.Job) {
			for _, s := range steps {
				s(t, j)
			}
		}
	}
	emitted := func(_ *testing.T, j *wire.Job) { j.TemplateUuid, j.Uuid, j.Tick = j.Uuid, "occurrence", "1500" }
	tests := []struct {
		name     string
		jobType  string // "signed" demands a signature, "plain" does not
		keyring  *Keyring
		unsigned bool // AllowUnsigned
		prepare  func(*testing.T, *wire.Job)
		want     Verdict
		failure  string // contained
	}{
		{name: "plain", jobType: "plain", want: VerdictDone},
		{name: "no handler", jobType: "unheard", want: VerdictNoHandler},
		{name: "signed", jobType: "signed", keyring: own, prepare: sign(own), want: VerdictDone},
		{name: "signed and sealed", jobType: "signed", keyring: own, prepare: all(seal(own), sign(own)), want: VerdictDone},
		{name: "sealed after signing", jobType: "signed", keyring: own, prepare: all(sign(own), seal(own)), want: VerdictHold, failure: "wrong signature"},
		{name: "signed with another key", jobType: "signed", keyring: own, prepare: sign(other), want: VerdictNoHandler},
		{name: "signed, and no key here", jobType: "signed", prepare: sign(own), want: VerdictNoHandler},
		{name: "signed with another key does not become unsigned", jobType: "signed", keyring: own, unsigned: true, prepare: sign(other), want: VerdictNoHandler},
		{name: "changed after signing", jobType: "signed", keyring: own, want: VerdictHold, failure: "wrong signature under key " + own.ID(),
			prepare: all(sign(own), func(_ *testing.T, j *wire.Job) { j.Payload = []byte("x") })},
		{name: "changed after signing, unsigned allowed", jobType: "signed", keyring: own, unsigned: true, want: VerdictHold, failure: "wrong signature",
			prepare: all(sign(own), func(_ *testing.T, j *wire.Job) { j.Payload = []byte("x") })},
		{name: "unsigned", jobType: "signed", keyring: own, want: VerdictHold, failure: `job is not signed, and jobs of type "signed" have to be`},
		{name: "unsigned, and no key here", jobType: "signed", want: VerdictHold, failure: "job is not signed"},
		{name: "unsigned and allowed", jobType: "signed", unsigned: true, want: VerdictDone},
		{name: "plain and sealed", jobType: "plain", keyring: own, prepare: seal(own), want: VerdictDone},
		{name: "sealed with another key", jobType: "plain", keyring: own, prepare: seal(other), want: VerdictNoHandler},
		{name: "sealed for another job", jobType: "plain", keyring: own, want: VerdictHold, failure: "sealed payload does not open",
			prepare: all(seal(own), func(_ *testing.T, j *wire.Job) { j.Name = "job.b" })},
		{name: "an occurrence of a signed template", jobType: "signed", keyring: own, prepare: all(sign(own), emitted), want: VerdictDone},
		{name: "an occurrence of a sealed template", jobType: "signed", keyring: own, prepare: all(seal(own), sign(own), emitted), want: VerdictDone},
		{name: "an occurrence that says it is of another template", jobType: "signed", keyring: own, want: VerdictHold, failure: "wrong signature",
			prepare: all(sign(own), emitted, func(_ *testing.T, j *wire.Job) { j.TemplateUuid = "other" })},
		{name: "an occurrence that is signed itself", jobType: "signed", keyring: own, want: VerdictHold, failure: "wrong signature",
			prepare: all(func(_ *testing.T, j *wire.Job) { j.Uuid = "occurrence" }, sign(own), func(_ *testing.T, j *wire.Job) { j.TemplateUuid, j.Tick = "u1", "1500" })},
		{name: "a plain type needs no signature", jobType: "plain", keyring: own, prepare: sign(other), want: VerdictDone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore()
				w := fakeWorker(t, f, WorkerOptions{Keyring: tt.keyring, AllowUnsigned: tt.unsigned})
				handler := func(_ context.Context, j *wire.Job) error {
					if name := "job.a@1970-01-01T00:00:01.5Z"; j.TemplateUuid != "" && j.Name != name {
						return Permanent(errors.New("name: " + j.Name))
					}
					if string(j.GetPayload()) != "payload" {
						return Permanent(errors.New("payload: " + string(j.GetPayload())))
					}
					return nil
				}
				w.HandleRaw("plain", handler)
				w.HandleRaw("signed", handler, Signed())
				r := numbered(1)
				r.Job.Type, r.Job.Name, r.Job.Payload = tt.jobType, "job.a", []byte("payload")
				if tt.prepare != nil {
					tt.prepare(t, r.Job)
				}
				f.ready = []Reservation{r}
				stop := running(t, w)
				elapse(time.Second)
				if err := stop(); err != nil {
					t.Error(err)
				}
				got := f.acks[0]
				if got.Verdict != tt.want || !strings.Contains(got.Failure, tt.failure) || got.Failure == "" != (tt.failure == "") {
					t.Errorf("acknowledgement %+v, want verdict %d and a failure with %q", got, tt.want, tt.failure)
				}
				if got.Verdict == VerdictNoHandler && got.Delay != BeatEvery {
					t.Errorf("delay %s, want %s", got.Delay, BeatEvery)
				}
			})
		})
	}
}
