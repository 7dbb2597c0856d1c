package planner_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// keysHere are the options of a user who has these keys, by their ids. The first one signs and seals.
func keysHere(ids ...string) planner.Options {
	under := func(id string, data []byte) (planner.Digest, bool) {
		h := hmac.New(sha256.New, []byte("the key "+id))
		h.Write(data)
		return planner.Digest(h.Sum(nil)[:16]), slices.Contains(ids, id)
	}
	return planner.Options{KeyID: ids[0], Older: ids[1:], DigestUnder: under, Digest: func(_ bool, data []byte) (planner.Digest, string) {
		digest, _ := under(ids[0], data)
		return digest, ids[0]
	}}
}

// TestRekey plans to write under a new key what the old one has signed, sealed or digested: what waits or runs in the store, of what is
// over the record alone, and nothing that no key is in. Nothing runs again.
func TestRekey(t *testing.T) {
	t.Parallel()
	sensitive := func(j *config.Job) { j.Sensitive = true }
	unsigned := func(j *config.Job) { j.Type = "noop" }
	both := func(j *config.Job) { sensitive(j); unsigned(j) }
	for _, test := range []struct {
		name string
		edit func(*config.Job) // of what is applied
		next func(*config.Job) // of what is declared now; nil for the same
		live planner.Status
		want string
	}{
		{name: "signed, queued", live: planner.Queued, want: "~ rekeyed"},
		{name: "signed, held", live: planner.Held, want: "~ rekeyed"},
		{name: "signed, running", live: planner.Running, want: "~ rekeyed"},
		{name: "signed, completed", live: planner.Completed},
		{name: "sealed, queued", edit: both, live: planner.Queued, want: "~ rekeyed"},
		{name: "sealed, completed", edit: both, live: planner.Completed, want: "~ rekeyed, record"},
		{name: "signed and sealed, completed", edit: sensitive, live: planner.Completed, want: "~ rekeyed, record"},
		{name: "neither, queued", edit: unsigned, live: planner.Queued},
		{name: "lost is submitted again", live: planner.Lost, want: "+ lost"},
		{name: "failed runs again as ever", live: planner.Failed, want: "-/+ failed"},
		{name: "new work", next: newWork, live: planner.Completed, want: "-/+ work_changed"},
		{name: "new handling", next: newHandling, live: planner.Queued, want: "~ handling_changed"},
		{
			name: "what is ignored stays as it is stored", live: planner.Queued,
			next: func(j *config.Job) { newHandling(j); ignoresChanges("timeout")(j) }, want: "ignore_changes",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, s := workflowOf("a"), noState()
			if test.edit != nil {
				w = edited(w, "a", test.edit)
			}
			write := func(o planner.Options) *planner.Row {
				t.Helper()
				p := mustMake(t, w, s, o)
				if err := planner.Settle(p, s); err != nil {
					t.Fatal(err)
				}
				r := row(t, p, "a")
				if r.Next != nil {
					if planner.SignedType(r.Job.Type) && r.Action != planner.Rerecord {
						r.Next.SignKey = o.KeyID // as the applier does when it signs the job
					}
					s.Records["job.a"] = r.Next
				}
				return r
			}
			before := write(keysHere("old")).Next
			s.Live["job.a"] = planner.Live{Status: test.live, Opening: 1}
			if test.next != nil {
				w = edited(w, "a", test.next)
			}
			o := keysHere("new", "old")
			if p := mustMake(t, w, s, o); row(t, p, "a").Reason == planner.ReasonRekeyed {
				t.Error("it is rekeyed without -rekey")
			}
			o.Rekey = true
			r := write(o)
			got := outcome(r)
			if got == "" && r.Reason == planner.ReasonIgnored {
				got = string(r.Reason)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if r.Reason != planner.ReasonRekeyed {
				return
			}
			if want := "key old is replaced"; r.Because() != want {
				t.Errorf("because %q, want %q", r.Because(), want)
			}
			checkNext(t, r)
			if r.Next.UUID != before.UUID {
				t.Error("it is another job")
			}
			if p := mustMake(t, w, s, o); outcome(row(t, p, "a")) != "" {
				t.Errorf("once more: %v", actions(p))
			}
			if p := mustMake(t, w, s, keysHere("new")); outcome(row(t, p, "a")) != "" {
				t.Errorf("without the old key: %v", actions(p))
			}
		})
	}
}
