package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// HTTP is the payload of an http job: one request. A status that is expected (by default any 2xx) completes the job. 408, 425,
// 429 and 5xx, and a request that got no answer, are failed attempts, after which the server's Retry-After decides when
// the next one starts. Any other status fails the job for good, since asking again would get it again.
//
// The answer's body goes to the log and, with the status, into the result; of the log and the result the usual limits hold,
// and a body over them is cut. What is carried from one execution to the next goes along in headers, see headerSync.
type HTTP struct {
	Method  string            `json:"method,omitempty"` // GET
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Expect  []int             `json:"expect,omitempty"`
}

// answer is the result of an http job.
type answer struct {
	Status int    `json:"status"`
	Body   string `json:"body"` // bytes that are not UTF-8 are replaced
	Cut    bool   `json:"cut,omitempty"`
}

const (
	// maxBody is how much of an answer's body is read.
	maxBody = conveyor.MaxResult
	// maxRetryAfter bounds what a server may ask for.
	maxRetryAfter = time.Hour
	maxRedirects  = 10
)

// requester runs http jobs.
type requester struct {
	transport http.RoundTripper
}

func newRequester(o Options) *requester { return &requester{o.Transport} }

func (r *requester) close() {
	if t, ok := r.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

func (r *requester) run(ctx context.Context, job *wire.Job, p HTTP, a attempt) error {
	request, err := newRequest(ctx, p)
	if err == nil {
		err = announce(request, job, a)
	}
	if err != nil {
		return conveyor.Permanent(err)
	}
	client := &http.Client{Transport: r.transport, CheckRedirect: redirect(request)}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", request.Method, origin(request.URL), withoutURL(err))
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", request.Method, origin(request.URL), withoutURL(err))
	}
	cut := len(body) > maxBody
	if cut {
		body = body[:maxBody]
	}
	_, _ = a.Output().Write(body)
	if err := judge(response, request, p.Expect, time.Now()); err != nil {
		return err
	}
	result, err := encodeAnswer(answer{Status: response.StatusCode, Body: string(body), Cut: cut})
	if err != nil {
		return err
	}
	return errors.Join(a.SetResult(result), storeAnswer(response, request, a))
}

// newRequest says in its errors what is wrong, and never a value: URL, headers and body may be secrets.
func newRequest(ctx context.Context, p HTTP) (*http.Request, error) {
	u, err := url.Parse(p.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the url cannot be parsed: %w", withoutURL(err))
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("the url must begin with http:// or https:// and a host")
	}
	method := strings.ToUpper(p.Method)
	if method == "" {
		method = http.MethodGet
	}
	var body io.Reader
	if p.Body != "" {
		body = strings.NewReader(p.Body)
	}
	request, err := http.NewRequestWithContext(ctx, method, p.URL, body)
	if err != nil {
		return nil, fmt.Errorf("the request cannot be made: %w", withoutURL(err))
	}
	request.Header.Set("User-Agent", "waybill")
	for name, value := range p.Headers {
		request.Header.Set(name, value)
		if strings.EqualFold(name, "Host") {
			request.Host = value
		}
	}
	return request, nil
}

// redirect follows to other places, but takes the job's own headers only to the host they were meant for.
func redirect(first *http.Request) func(*http.Request, []*http.Request) error {
	headers := first.Header.Clone()
	headers.Del("User-Agent") // is no secret
	return func(next *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		if !sameHost(first.URL, next.URL) {
			for name := range headers {
				next.Header.Del(name)
			}
		}
		return nil
	}
}

// sameHost tells whether what is meant for one place may go to the other.
func sameHost(first, next *url.URL) bool {
	return next.Host == first.Host && (first.Scheme != "https" || next.Scheme == "https")
}

// judge is nil for a status that is expected.
func judge(response *http.Response, request *http.Request, expect []int, now time.Time) error {
	status := response.StatusCode
	if slices.Contains(expect, status) || len(expect) == 0 && status/100 == 2 {
		return nil
	}
	err := fmt.Errorf("%s %s: status %d %s", request.Method, origin(request.URL), status, http.StatusText(status))
	if len(expect) > 0 {
		err = fmt.Errorf("%w, expected %s", err, strings.Trim(fmt.Sprint(expect), "[]"))
	}
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status/100 == 5:
		if d, ok := retryAfter(response.Header.Get("Retry-After"), now); ok {
			return conveyor.RetryAfter(err, d)
		}
		return err
	}
	return conveyor.Permanent(err)
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter), true
	}
	return 0, false
}

// encodeAnswer cuts the body until the whole fits: how long it gets as JSON depends on what is in it.
func encodeAnswer(a answer) ([]byte, error) {
	for {
		data, err := json.Marshal(a)
		if err != nil || len(data) <= conveyor.MaxResult {
			return data, err
		}
		a.Body, a.Cut = a.Body[:len(a.Body)/2], true
	}
}

// origin is the part of a URL that is no secret.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// withoutURL takes the URL off an error.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
