package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

const (
	quietAfter = 2 * time.Second // for what a start sends
	quietFor   = 20 * time.Second
)

// quiet counts the commands that come in for a while. What scripts run inside is not sent by anybody and does not count.
func quiet(ctx context.Context, s *store) (figures, error) {
	select {
	case <-time.After(quietAfter):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	sent, err := monitor(s, quietFor)
	return figures{"commands/s": float64(sent) / quietFor.Seconds()}, err
}

// monitor counts what clients send to the server for so long, by MONITOR: one line for each command, those of transactions too.
// Commands that a script runs have lines as well, with "lua" in place of a client's address.
func monitor(s *store, d time.Duration) (sent int, err error) {
	conn, err := net.Dial("unix", s.addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close() //nolint:errcheck // nothing is written to it but the command
	if err := conn.SetDeadline(time.Now().Add(d)); err != nil {
		return 0, err
	}
	if _, err := conn.Write([]byte("MONITOR\r\n")); err != nil {
		return 0, err
	}
	lines := bufio.NewReader(conn)
	if ok, err := lines.ReadString('\n'); err != nil || strings.TrimSpace(ok) != "+OK" {
		return 0, fmt.Errorf("MONITOR: got %q: %w", ok, err)
	}
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return sent, nil
		}
		if err != nil {
			return 0, fmt.Errorf("MONITOR: %w", err)
		}
		if !fromScript(line) {
			sent++
		}
	}
}

// fromScript tells whether a line of MONITOR, `+<time> [<database> <source>] "<command>" ...`, is of a command that a script ran.
func fromScript(line string) bool {
	_, rest, _ := strings.Cut(line, " [")
	source, _, _ := strings.Cut(rest, "]")
	return strings.HasSuffix(source, " lua")
}
