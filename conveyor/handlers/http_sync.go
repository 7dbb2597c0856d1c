package handlers

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Headers are to requests what variables and files are to processes: see environment and storeSync. A request carries headerSync, one
// JSON object of strings in ASCII, when there is any state, and headerTick when the job was to start at some time. An answer
// that ends the job well may have headerSync, whose values the next execution gets in place of all present ones, and headerDefer, a
// duration after which the job comes back instead of being done. Those of another host, to which it redirects, do not count.
const (
	headerSync  = "Waybill-Sync"
	headerTick  = "Waybill-Scheduled-For"
	headerDefer = "Waybill-Defer"
)

// announce adds what a request says of its job.
func announce(request *http.Request, job *wire.Job, a attempt) error {
	for _, name := range []string{headerSync, headerTick} {
		request.Header.Del(name)
	}
	if at, ok := scheduledFor(job); ok {
		request.Header.Set(headerTick, at)
	}
	if state := a.Sync(); len(state) > 0 {
		data, err := json.Marshal(state)
		if err != nil {
			return fmt.Errorf("%s: %w", headerSync, err)
		}
		request.Header.Set(headerSync, ascii(string(data)))
	}
	return nil
}

// ascii escapes what a header cannot hold, as JSON does. What is marshalled has no control characters but DEL.
func ascii(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x7f {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, "\\u%04x", unit)
		}
	}
	return b.String()
}

// storeAnswer takes what the answer says of the next execution.
func storeAnswer(response *http.Response, request *http.Request, a attempt) error {
	if !sameHost(request.URL, response.Request.URL) {
		return nil
	}
	if values := response.Header.Values(headerSync); len(values) > 0 {
		text := strings.TrimSpace(strings.Join(values, ", "))
		if !strings.HasPrefix(text, "{") {
			return fmt.Errorf("the answer's header %s is no JSON object such as {\"cursor\": \"17\"}", headerSync)
		}
		state, err := parseSync([]byte(text))
		if err != nil {
			return fmt.Errorf("the answer's header %s: %w", headerSync, err)
		}
		if !maps.Equal(state, a.Sync()) {
			if err := a.SetSync(state); err != nil {
				return fmt.Errorf("the answer's header %s: %w", headerSync, err)
			}
		}
	}
	text := response.Header.Get(headerDefer)
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if seconds, e := strconv.ParseUint(text, 10, 31); e == nil {
		d, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil || d < 0 {
		return fmt.Errorf("the answer's header %s: %q is not a duration such as 30s or 5m, or 0 for at once", headerDefer, text)
	}
	a.Defer(d)
	return nil
}
