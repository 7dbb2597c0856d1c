package conveyor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// read is a reading of job "up", which people know as job.up.
func readAs(form string, path ...any) string {
	return Reading{UUID: "up", Name: "job.up", Path: path, Form: form}.String()
}

// TestFilling covers each form in each place, and all that can be wrong with a result.
func TestFilling(t *testing.T) {
	t.Parallel()
	const result = ` {"rows": 12345678901234567890, "text": "a \"b\" <&>\nä", "ok": true, "none": null, "list": [1, {"x": [2.50]}], "path": "../é ?", "dots": "..", "": "empty",
		"reading": "@{result:up:WyJyb3dzIl0:t:}"} `
	rows := []struct{ name, payload, want, failure string }{
		{name: "a value keeps its type", payload: `{"n":"` + readAs("v", "rows") + `","o":"` + readAs("v", "list", 1) + `"}`, want: `{"n":12345678901234567890,"o":{"x":[2.50]}}`},
		{name: "a value that is null", payload: `["` + readAs("v", "none") + `"]`, want: `[null]`},
		{name: "a value that is text", payload: `["` + readAs("v", "text") + `"]`, want: `["a \"b\" <&>\nä"]`},
		{name: "the whole result", payload: `"` + readAs("v") + `"`, want: strings.ReplaceAll(`{"rows":12345678901234567890,"text":"a \"b\" <&>\nä","ok":true,"none":null,"list":[1,{"x":[2.50]}],"path":"../é ?","dots":"..","":"empty",~"reading":"@{result:up:WyJyb3dzIl0:t:}"}`, "~", "")},
		{name: "text in text", payload: `{"t":"rows: ` + readAs("ts", "rows") + `, ok: ` + readAs("ts", "ok") + `, ` + readAs("ts", "list", 1, "x", 0) + `"}`, want: `{"t":"rows: 12345678901234567890, ok: true, 2.50"}`},
		{name: "text is escaped", payload: `"` + readAs("ts", "text") + `"`, want: `"a \"b\" <&>\nä"`},
		{name: "text of an object", payload: `"` + readAs("ts", "list", 1) + `"`, want: `"{\"x\":[2.50]}"`},
		{name: "JSON inside a string", payload: `{"body":"{\"t\":` + readAs("vs", "text") + `}"}`, want: `{"body":"{\"t\":\"a \\\"b\\\" <&>\\nä\"}"}`},
		{name: "text inside JSON inside a string", payload: `{"body":"{\"t\":\"` + readAs("tss", "text") + `!\"}"}`, want: `{"body":"{\"t\":\"a \\\"b\\\" <&>\\nä!\"}"}`},
		{name: "in a path", payload: `"https://h/` + readAs("tps", "path") + `/x"`, want: `"https://h/..%2F%C3%A9%20%3F/x"`},
		{name: "in a query", payload: `"https://h/?q=` + readAs("tqs", "path") + `"`, want: `"https://h/?q=..%2F%C3%A9+%3F"`},
		{name: "outside of JSON", payload: "text " + readAs("t", "text"), want: "text a \"b\" <&>\nä"},
		{name: "an empty key", payload: `"` + readAs("v", "") + `"`, want: `"empty"`},
		{name: "a value that looks like a reading", payload: `"` + readAs("v", "reading") + `"`, want: `"@{result:up:WyJyb3dzIl0:t:}"`},
		{name: "what reads of another job is text", payload: `"` + Reading{UUID: "other", Form: "v"}.String() + `"`, want: `"@{result:other:W10:v:}"`},
		{name: "what only looks like a reading", payload: `@{result:up:x:y:z} @{result:up} @{result:up:W10:w:} @{result:up:W10:tpq:} @{result:up:W251bGxd:v:} @{result:` + readAs("t", "ok"),
			want: `@{result:up:x:y:z} @{result:up} @{result:up:W10:w:} @{result:up:W10:tpq:} @{result:up:W251bGxd:v:} @{result:true`},
		{name: "no such key", payload: `"` + readAs("v", "row") + `"`,
			failure: `it reads result.row of job.up (up): result: it has no key "row", but "", "dots", "list", "none", "ok", "path", "reading", "rows", "text"`},
		{name: "no such key further down", payload: `"` + readAs("v", "list", 1, "y z") + `"`, failure: `it reads result.list[1]["y z"] of job.up (up): result.list[1]: it has no key "y z", but "x"`},
		{name: "no such element", payload: `"` + readAs("v", "list", 2) + `"`, failure: `result.list: it has 2 elements, and this would be number 3`},
		{name: "a key of a number", payload: `"` + readAs("v", "rows", "x") + `"`, failure: `result.rows: it is a number and has no keys`},
		{name: "an element of an object", payload: `"` + readAs("v", 0) + `"`, failure: `result: it is an object and no list`},
		{name: "null has no text", payload: `"` + readAs("ts", "none") + `"`, failure: `it reads result.none of job.up (up), which is null: there is no text for it`},
		{name: "dots in a path", payload: `"https://h/` + readAs("tps", "dots") + `/x"`, failure: `which is "..": in the path of a url that would lead elsewhere`},
		{name: "a value inside of text", payload: `"x` + readAs("v", "ok") + `"`, failure: `what reads result.ok of job.up (up) is not a whole JSON string`},
		{name: "too large", payload: `"` + strings.Repeat(readAs("ts", "text"), 1000) + strings.Repeat("x", MaxPayload-90*1000) + `"`, want: "fits"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			ack, got := attempted(t, map[string][]byte{"up": []byte(result)}, &wire.Job{Payload: []byte(row.payload), Results: []string{"up"}})
			if row.want == "fits" {
				row.want = strings.ReplaceAll(row.payload, readAs("ts", "text"), `a \"b\" <&>\nä`)
			}
			if row.failure == "" {
				if diff := cmp.Diff(row.want, got); diff != "" || ack.Verdict != VerdictDone {
					t.Errorf("verdict %d, %s; payload (-want +got):\n%s", ack.Verdict, ack.Failure, diff)
				}
				return
			}
			if ack.Verdict != VerdictFailed || !strings.Contains(ack.Failure, row.failure) || got != "" {
				t.Errorf("verdict %d, failure\n%s, want it to have\n%s; the handler got %q", ack.Verdict, ack.Failure, row.failure, got)
			}
		})
	}
}

// attempted is what a worker makes of a job when these results are stored, and what its handler got.
func attempted(t *testing.T, results map[string][]byte, job *wire.Job) (ack Ack, payload string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeStore()
		f.results = results
		w := fakeWorker(t, f, WorkerOptions{})
		w.HandleRaw("t", func(_ context.Context, j *wire.Job) error { payload = string(j.GetPayload()); return nil })
		job.Uuid, job.Type, job.Queue = "u1", "t", "q"
		f.ready = []Reservation{{Job: job, Fence: 1, Opening: 1}}
		stop := running(t, w)
		elapse(time.Second)
		if err := stop(); err != nil {
			t.Error(err)
		}
		ack = f.acks[0]
	})
	return ack, payload
}

// TestFillingRefusesResults covers results that nobody can read.
func TestFillingRefusesResults(t *testing.T) {
	t.Parallel()
	large := `{"x":"` + strings.Repeat(`\"`, MaxResult/2-10) + `"}`
	for _, row := range []struct{ name, result, form, failure string }{
		{"no JSON", "rows=5", "v", "it reads result.x of job.up (up), and that job's result is no JSON"},
		{"nothing", "", "v", "that job's result is no JSON"},
		{"no UTF-8", "{\"x\":\"\xff\"}", "v", "that job's result is no JSON"},
		{"too large once it is escaped", large, "tssss", "the payload is too large: the limit is 1048576 bytes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			ack, _ := attempted(t, map[string][]byte{"up": []byte(row.result)}, &wire.Job{Payload: []byte(`"` + readAs(row.form, "x") + `"`), Results: []string{"up"}})
			if ack.Verdict != VerdictFailed || !strings.Contains(ack.Failure, row.failure) {
				t.Errorf("verdict %d, failure %s, want %s", ack.Verdict, ack.Failure, row.failure)
			}
		})
	}
}

// TestFillingAsks only for what is read, and not at all of jobs that name no results; it asks again while the store is away.
func TestFillingAsks(t *testing.T) {
	t.Parallel()
	reading := `"` + readAs("v") + `"`
	for _, row := range []struct {
		name    string
		job     *wire.Job
		outages int
		calls   int
		want    string
	}{
		{name: "names none", job: &wire.Job{Payload: []byte(reading)}, want: reading},
		{name: "reads none", job: &wire.Job{Payload: []byte("{}"), Results: []string{"up"}}, want: "{}"},
		{name: "the store is away for a while", job: &wire.Job{Payload: []byte(reading), Results: []string{"up"}}, outages: 3, calls: 4, want: "1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore()
				f.results = map[string][]byte{"up": []byte("1")}
				f.fail = func(call string, done bool) error {
					if call == "results" && !done && row.outages > 0 {
						row.outages--
						return ErrUnavailable
					}
					return nil
				}
				w, got := fakeWorker(t, f, WorkerOptions{}), ""
				w.HandleRaw("t", func(_ context.Context, j *wire.Job) error { got = string(j.GetPayload()); return nil })
				row.job.Uuid, row.job.Type, row.job.Queue = "u1", "t", "q"
				f.ready = []Reservation{{Job: row.job, Fence: 1, Opening: 1}}
				stop := running(t, w)
				elapse(time.Minute)
				if err := stop(); err != nil {
					t.Error(err)
				}
				if got != row.want || f.calls["results"] != row.calls {
					t.Errorf("the handler got %q after %d calls, want %q after %d", got, f.calls["results"], row.want, row.calls)
				}
			})
		})
	}
}

// TestResultsAreChecked: what no job can name is refused when the job is added.
func TestResultsAreChecked(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		results []string
		want    error
	}{
		{"no uuid", []string{"a b"}, ErrUUID},
		{"its own", []string{"u"}, ErrUUID},
		{"too many", make([]string, MaxEdges+1), ErrTooLarge},
	} {
		if _, err := newSubmission(&wire.Job{Uuid: "u", Type: "t", Queue: "q", Results: row.results}, addOptions{}); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.name, err, row.want)
		}
	}
}
