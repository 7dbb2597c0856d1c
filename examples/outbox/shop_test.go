package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/conveyor/outbox"
	"github.com/waybill-dev/waybill/internal/redistest"
	"github.com/waybill-dev/waybill/internal/sqltest"
)

func TestMain(m *testing.M) {
	os.Exit(sqltest.Run(func() int { return redistest.Run(m) }))
}

// told is what the shop tells of itself, line by line. A test that reads none of it holds up nobody.
type told chan string

func (c told) Write(line []byte) (int, error) {
	c <- string(line)
	return len(line), nil
}

// opened is a shop that is open until the test ends.
type opened struct {
	*testing.T
	*shop
	url  string
	told told
}

// open opens a shop as run does. dsn and redisURL may be empty.
func open(t *testing.T, dsn, redisURL string, change func(s *shop)) *opened {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	db, err := openDatabase(ctx, dir, dsn)
	if err != nil {
		t.Fatal(err)
	}
	client, closeQueue, err := openQueue(ctx, dir, redisURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	lines := make(told, 1000) // more than any test has
	s := &shop{database: db, client: client, out: lines, unplug: func() { panic(http.ErrAbortHandler) }, relay: outbox.RelayOptions{Wake: db.wake}}
	if change != nil {
		change(s)
	}
	ctx, closeShop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- s.open(ctx, listener) }()
	o := &opened{T: t, shop: s, url: "http://" + listener.Addr().String(), told: lines}
	t.Cleanup(func() {
		closeShop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := closeQueue(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// order posts an order and returns the answer's status; 0 when there was none.
func (o *opened) order(values url.Values) (status int, body string) {
	o.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := client.PostForm(o.url+"/orders", values)
	if err != nil {
		return 0, err.Error()
	}
	return r.StatusCode, o.read(r)
}

// page is the shop's page.
func (o *opened) page() string {
	o.Helper()
	r, err := http.Get(o.url)
	if err != nil {
		o.Fatal(err)
	}
	return o.read(r)
}

func (o *opened) read(r *http.Response) string {
	o.Helper()
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		o.Fatal(err)
	}
	return string(body)
}

// says reads what the shop tells until it has said all of wants, in any order.
func (o *opened) says(wants ...string) {
	o.Helper()
	missing := map[string]bool{}
	for _, want := range wants {
		missing[want] = true
	}
	for len(missing) > 0 {
		line := <-o.told
		for want := range missing {
			if strings.HasPrefix(line, want) {
				delete(missing, want)
			}
		}
	}
}

// wantPage wants the page to show each of wants.
func (o *opened) wantPage(wants ...string) {
	o.Helper()
	shown := o.page()
	for _, want := range wants {
		if !strings.Contains(shown, want) {
			o.Errorf("the page does not show %q:\n%s", want, shown)
		}
	}
}

// TestShop orders, on both databases and both stores, with and without the plug pulled before the push.
func TestShop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		open func(t *testing.T) (dsn, redisURL string)
	}{
		{"SQLite and the embedded store", func(*testing.T) (string, string) { return "", "" }},
		{"PostgreSQL and Redis", func(t *testing.T) (string, string) {
			return sqltest.Open(t, sqltest.PostgreSQL).DSN, redistest.Start(t).URL()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dsn, redisURL := tt.open(t)
			o := open(t, dsn, redisURL, func(s *shop) {
				if s.relay.Wake == nil {
					s.relay.Leeway = -1 // nobody has to wait for the relay
				}
			})
			o.wantPage("Nobody has ordered anything yet.", "Jobs in the outbox: 0")
			ann := url.Values{"customer": {"Ann <b>"}, "item": {"Lamp"}}
			if status, body := o.order(ann); status != http.StatusSeeOther {
				t.Fatalf("status %d: %s", status, body)
			}
			o.says("order 1 is placed: Lamp for Ann <b>", "order 1 is confirmed after ")
			o.wantPage("Ann &lt;b&gt;", "after ")

			ann.Set("unplug", "on")
			if status, body := o.order(ann); status != 0 {
				t.Fatalf("status %d: %s, want none", status, body)
			}
			o.says("order 2 is placed: Lamp for Ann <b>", "order 2 is confirmed after ")
		})
	}
}

// TestNothingIsPushedBeforeItsCommit rolls an order back: its number is used again, and it is never confirmed.
func TestNothingIsPushedBeforeItsCommit(t *testing.T) {
	t.Parallel()
	o := open(t, "", "", func(s *shop) {
		s.relay.Leeway = -1
		s.database.outbox.Name = "missing" // the outbox cannot be written
	})
	if status, body := o.order(url.Values{"customer": {"Ann"}, "item": {"Lamp"}}); status != http.StatusInternalServerError ||
		!strings.HasPrefix(body, "Sorry, the order was not placed. Please try again.") {
		t.Errorf("status %d: %s", status, body)
	}
	orders, _, err := (&database{DB: o.database.DB, outbox: outbox.Table{Dialect: outbox.SQLite}}).latest(t.Context(), 1)
	if err != nil || len(orders) > 0 {
		t.Errorf("orders %v, %v", orders, err)
	}
}

func TestRefusedOrders(t *testing.T) {
	t.Parallel()
	o := open(t, "", "", nil)
	tests := []struct {
		name           string
		customer, item string
		want           string
	}{
		{"no name", " ", "Lamp", "Who are you? A name has 1 to 100 bytes."},
		{"long name", strings.Repeat("x", 101), "Lamp", "Who are you? A name has 1 to 100 bytes."},
		{"NUL", "a\x00", "Lamp", "Who are you? A name has 1 to 100 bytes."},
		{"other item", "Ann", "Car", "We sell Lamp, Chair, Table."},
		{"too much", strings.Repeat("x", 5<<10), "Lamp", "Who are you? A name has 1 to 100 bytes."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body := o.order(url.Values{"customer": {tt.customer}, "item": {tt.item}})
			if status != http.StatusUnprocessableEntity || strings.TrimSpace(body) != tt.want {
				t.Errorf("status %d: %s", status, body)
			}
		})
	}
	o.wantPage("Nobody has ordered anything yet.")
}

func TestFlags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"argument", []string{"now"}, `"now" is no flag: see -help`},
		{"other database", []string{"-dsn", "mysql://x"}, "-dsn begins with postgres://"},
		{"no Redis", []string{"-redis", "127.0.0.1"}, "-redis: redis: invalid URL scheme"},
		{"no address", []string{"-listen", "nowhere"}, "missing port in address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), append([]string{"-dir", t.TempDir()}, tt.args...), io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestCloses opens the shop as main does, and closes it at once.
func TestCloses(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	lines, ended := make(told, 1), make(chan error)
	go func() { ended <- run(ctx, []string{"-dir", t.TempDir(), "-listen", "127.0.0.1:0"}, lines) }()
	if line := <-lines; !strings.HasPrefix(line, "The shop is open at http://127.0.0.1:") {
		t.Errorf("it says %q", line)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
