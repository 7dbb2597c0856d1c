package handlers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// syncServer answers with what it was told of the job, and with the headers that the query asks for.
func syncServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{headerSync, headerDefer} {
			for _, value := range r.URL.Query()[name] {
				w.Header().Add(name, value)
			}
		}
		if r.URL.Query().Has("fail") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintf(w, "%s %s", r.Header.Get(headerTick), r.Header.Get(headerSync))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestHTTPSync(t *testing.T) {
	t.Parallel()
	s := syncServer(t)
	type state = map[string]string
	tests := []struct {
		name   string
		job    *wire.Job
		before state
		path   string
		want   state // nil: nothing is set
		output string
		defers []time.Duration
		err    string
	}{
		{name: "nothing to tell", output: " "},
		{name: "an occurrence", job: &wire.Job{TemplateUuid: "t", Tick: "1795222800000"}, output: "2026-11-21T01:00:00Z "},
		{name: "state", before: state{"cursor": "17", "näme": "😀\x7f"}, output: ` {"cursor":"17","n\u00e4me":"\ud83d\ude00\u007f"}`},
		{name: "the next state", before: state{"cursor": "17"}, path: `?Waybill-Sync={"cursor":18,"n":"\u00e4"}`, output: ` {"cursor":"17"}`,
			want: state{"cursor": "18", "n": "ä"}},
		{name: "none any more", before: state{"a": "1"}, path: "?Waybill-Sync={}", output: ` {"a":"1"}`, want: state{}},
		{name: "the same state", before: state{"a": "1"}, path: `?Waybill-Sync={"a":"1"}`, output: ` {"a":"1"}`},
		{name: "a page", path: `?Waybill-Sync={"page":2}&Waybill-Defer=0`, output: " ", want: state{"page": "2"}, defers: []time.Duration{0}},
		{name: "later", path: "?Waybill-Defer=1m30s", output: " ", defers: []time.Duration{90 * time.Second}},
		{name: "in seconds", path: "?Waybill-Defer=90", output: " ", defers: []time.Duration{90 * time.Second}},
		{name: "a failed attempt leaves nothing", before: state{"a": "1"}, path: `?fail&Waybill-Defer=1s&Waybill-Sync={"a":"2"}`, output: ` {"a":"1"}`, err: "status 503"},
		{name: "no object", path: "?Waybill-Sync=a", output: " ", err: "the answer's header Waybill-Sync is no JSON object"},
		{name: "half an object", path: "?Waybill-Sync={", output: " ", err: "the answer's header Waybill-Sync: it starts like JSON"},
		{name: "no duration", path: "?Waybill-Defer=soon", output: " ", err: `the answer's header Waybill-Defer: "soon" is not a duration`},
		{name: "a negative one", path: "?Waybill-Defer=-1s", output: " ", err: `"-1s" is not a duration`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRequester(Options{}.withDefaults())
			t.Cleanup(r.close)
			a := newRecorder()
			a.sync = tt.before
			job := tt.job
			if job == nil {
				job = &wire.Job{}
			}
			path := strings.NewReplacer(`"`, "%22", `\`, "%5C").Replace(tt.path)
			err := r.run(t.Context(), job, HTTP{URL: s.URL + path, Headers: map[string]string{headerSync: "declared", headerTick: "declared"}}, a)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("error %v, want one with %q", err, tt.err)
			}
			a.left(t, tt.want, tt.defers)
			if diff := cmp.Diff(tt.output, a.text()); diff != "" {
				t.Errorf("the request said (-want +got):\n%s", diff)
			}
		})
	}
}

// What is carried stays with the host that the job names: another one, to which it redirects, neither learns it nor sets it.
func TestHTTPSyncStaysHome(t *testing.T) {
	t.Parallel()
	s := syncServer(t)
	home := httptest.NewServer(http.RedirectHandler(s.URL+"?Waybill-Defer=1s&Waybill-Sync=%7B%7D", http.StatusFound))
	t.Cleanup(home.Close)
	r := newRequester(Options{}.withDefaults())
	t.Cleanup(r.close)
	a := newRecorder()
	a.sync = map[string]string{"a": "1"}
	if err := r.run(t.Context(), &wire.Job{TemplateUuid: "t", Tick: "0"}, HTTP{URL: home.URL}, a); err != nil {
		t.Fatal(err)
	}
	if a.text() != " " || a.synced || len(a.defers) > 0 {
		t.Errorf("the other host was told %q; sync set: %v, deferred: %v", a.text(), a.synced, a.defers)
	}
}
