package cli_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// freePort finds a port of the loopback interface that nobody uses: freeport VARIABLE
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeport VARIABLE")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv(args[0], port)
}

// get asks for a page until it has a certain status, and says something; the page is then in the file body.txt:
// get STATUS URL [TEXT]
func get(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: get STATUS URL [TEXT]")
	}
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	text := ""
	if len(args) == 3 {
		text = args[2]
	}
	client := &http.Client{Timeout: 10 * time.Second}
	deadline := time.Now().Add(awaitAtMost)
	for {
		got := "no answer"
		r, err := client.Get(args[1])
		if err == nil {
			body, err := io.ReadAll(r.Body)
			ts.Check(r.Body.Close())
			ts.Check(err)
			if got = strconv.Itoa(r.StatusCode) + "\n" + string(body); r.StatusCode == status && strings.Contains(got, text) {
				ts.Check(os.WriteFile(ts.MkAbs("body.txt"), body, 0o600))
				return
			}
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s: %s (%v), want %v", args[1], got, err, args)
		}
		<-time.After(20 * time.Millisecond)
	}
}
