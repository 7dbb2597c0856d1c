package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// server answers what its path asks for.
func server(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("X-Key"), body)
	})
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		var code int
		_, _ = fmt.Sscan(r.PathValue("code"), &code)
		if after := r.URL.Query().Get("after"); after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(code)
		fmt.Fprint(w, "body of ", code)
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("\x01", maxBody+100))
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop?secret=1", http.StatusFound) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	s := server(t)
	tests := []struct {
		name      string
		http      HTTP
		want      string // output
		result    string
		err       string
		permanent bool
	}{
		{name: "get", http: HTTP{URL: "/echo"}, want: "GET  ", result: `{"status":200,"body":"GET  "}`},
		{name: "method, header and body", http: HTTP{Method: "put", URL: "/echo", Headers: map[string]string{"x-key": "k"}, Body: "b"},
			want: "PUT k b", result: `{"status":200,"body":"PUT k b"}`},
		{name: "an expected status", http: HTTP{URL: "/status/404", Expect: []int{200, 404}}, want: "body of 404", result: `{"status":404,"body":"body of 404"}`},
		{name: "an unexpected success", http: HTTP{URL: "/status/201", Expect: []int{200, 204}}, want: "body of 201",
			err: "GET " + s.URL + ": status 201 Created, expected 200 204", permanent: true},
		{name: "not found", http: HTTP{URL: "/status/404?token=secret"}, want: "body of 404", err: "GET " + s.URL + ": status 404 Not Found", permanent: true},
		{name: "server error", http: HTTP{URL: "/status/503"}, want: "body of 503", err: "GET " + s.URL + ": status 503 Service Unavailable"},
		{name: "too many redirects", http: HTTP{URL: "/loop"}, err: "GET " + s.URL + ": more than 10 redirects"},
		{name: "no url", http: HTTP{URL: "-"}, err: "the url must begin with http:// or https:// and a host", permanent: true},
		{name: "another scheme", http: HTTP{URL: "-file:///etc/passwd"}, err: "the url must begin with http:// or https:// and a host", permanent: true},
		{name: "bad url", http: HTTP{URL: "-http://user:secret@host:port/"}, err: `the url cannot be parsed: invalid port ":port" after host`, permanent: true},
		{name: "bad method", http: HTTP{URL: "/echo", Method: "GET IT"}, err: `the request cannot be made: net/http: invalid method "GET IT"`, permanent: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if rest, whole := strings.CutPrefix(tt.http.URL, "-"); whole {
				tt.http.URL = rest
			} else {
				tt.http.URL = s.URL + tt.http.URL
			}
			r := newRequester(Options{}.withDefaults())
			t.Cleanup(r.close)
			a := newRecorder()
			err := r.run(t.Context(), &wire.Job{}, tt.http, a)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.err, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if got := isPermanent(err); got != tt.permanent {
				t.Errorf("permanent: %v, want %v", got, tt.permanent)
			}
			if diff := cmp.Diff(tt.want, a.text()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.result, string(a.result)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHTTPLargeAnswerIsCut(t *testing.T) {
	t.Parallel()
	r := newRequester(Options{}.withDefaults())
	t.Cleanup(r.close)
	a := newRecorder()
	if err := r.run(t.Context(), &wire.Job{}, HTTP{URL: server(t).URL + "/large"}, a); err != nil {
		t.Fatal(err)
	}
	if got := len(a.text()); got != maxBody {
		t.Errorf("%d bytes in the log, want %d", got, maxBody)
	}
	var got answer
	if err := json.Unmarshal(a.result, &got); err != nil || !got.Cut || len(a.result) > conveyor.MaxResult || len(got.Body) == 0 {
		t.Errorf("result of %d bytes with a body of %d, cut %v, error %v", len(a.result), len(got.Body), got.Cut, err)
	}
}

// TestHTTPSecretsStayHome: an error names nothing of the URL but its origin, and another host gets no declared header.
func TestHTTPSecretsStayHome(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Get("X-Key") }))
	t.Cleanup(other.Close)
	home := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	t.Cleanup(home.Close)
	r := newRequester(Options{}.withDefaults())
	t.Cleanup(r.close)
	if err := r.run(t.Context(), &wire.Job{}, HTTP{URL: home.URL, Headers: map[string]string{"X-Key": "secret"}}, newRecorder()); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got != "" {
		t.Errorf("another host got the header %q", got)
	}

	gone := httptest.NewServer(nil)
	gone.Close()
	target := strings.Replace(gone.URL, "http://", "http://user:secret@", 1) + "/secret?secret#secret"
	err := r.run(t.Context(), &wire.Job{}, HTTP{URL: target}, newRecorder())
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v, want one without secrets", err)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	tests := []struct {
		name  string
		value string
		want  time.Duration
		ok    bool
	}{
		{"seconds", "120", 2 * time.Minute, true},
		{"zero", "0", 0, true},
		{"more than the bound", "999999", time.Hour, true},
		{"date", "Sat, 21 Nov 2026 06:00:30 GMT", 30 * time.Second, true},
		{"date that has passed", "Sat, 21 Nov 2026 05:00:30 GMT", 0, true},
		{"nothing", "", 0, false},
		{"negative", "-1", 0, false},
		{"noise", "soon", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, ok := retryAfter(tt.value, now); got != tt.want || ok != tt.ok {
				t.Errorf("got %v %v, want %v %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestSleep(t *testing.T) {
	t.Parallel()
	if err := sleep(t.Context(), nil, Sleep{"1ms"}, nil); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(conveyor.ErrShutdown)
	if err := sleep(ctx, nil, Sleep{"1h"}, nil); !errors.Is(err, conveyor.ErrShutdown) {
		t.Errorf("error %v, want %v", err, conveyor.ErrShutdown)
	}
	for _, d := range []string{"", "1", "-1s", "tomorrow"} {
		if err := sleep(t.Context(), nil, Sleep{d}, nil); !isPermanent(err) {
			t.Errorf("duration %q: error %v, want a permanent one", d, err)
		}
	}
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		payload string
		want    string // in the error; "" is none
	}{
		{"exec", `{"command":["a"],"env":{"K":"v"},"stdin":"s","dir":"d"}`, ""},
		{"inputs are ignored", `{"command":["a"],"inputs":["x"]}`, ""},
		{"unknown field", `{"command":["a"],"sandbox":true}`, `unknown field "sandbox" (a newer version may have submitted it: upgrade this worker)`},
		{"wrong type", `{"command":"a"}`, "cannot unmarshal string"},
		{"empty", ``, "it is empty"},
		{"two values", `{} {}`, "something follows"},
		{"noise", `exec`, "invalid character"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ran := false
			h := handler(func(context.Context, *wire.Job, Exec, attempt) error { ran = true; return nil })
			err := h(t.Context(), &wire.Job{Type: TypeExec, Payload: []byte(tt.payload)})
			if tt.want == "" {
				if err != nil || !ran {
					t.Fatalf("ran %v, error %v", ran, err)
				}
				return
			}
			if ran || !isPermanent(err) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ran %v, error %v, want a permanent one with %q", ran, err, tt.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"command":["a"],"env":{"K":"v"}}`))
	f.Add([]byte(`{"shell":"x","dir":"../y"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var p Exec
		if decode(payload, &p) == nil && !json.Valid(payload) {
			t.Errorf("decoded what is no JSON: %q", payload)
		}
	})
}

func FuzzParseResult(f *testing.F) {
	f.Add([]byte("a=1\nb = 2\r\n"))
	f.Add([]byte(`{"a": 1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		result, err := parseResult(data)
		if err == nil && result != nil && !json.Valid(result) {
			t.Errorf("%q became %q, which is no JSON", data, result)
		}
	})
}
