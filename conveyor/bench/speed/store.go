package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
)

// store is a redis-server of its own for one sample, on a unix socket, that keeps nothing on disk.
type store struct {
	dir  string
	cmd  *exec.Cmd
	addr string // the socket that clients dial
	rtt  *relay
}

// openStore starts one. With a round trip above zero clients reach it through a relay that takes so long for the way there and back.
func openStore(ctx context.Context, roundTrip time.Duration) (*store, error) {
	dir, err := os.MkdirTemp("", "wbb")
	if err != nil {
		return nil, err
	}
	s := &store{dir: dir, addr: filepath.Join(dir, "s")}
	s.cmd = exec.Command("redis-server", "--port", "0", "--unixsocket", s.addr, "--dir", dir, "--save", "", "--appendonly", "no", "--loglevel", "warning")
	if err := s.cmd.Start(); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	if err := s.await(ctx); err != nil {
		s.close()
		return nil, err
	}
	if roundTrip > 0 {
		front := filepath.Join(dir, "r")
		if s.rtt, err = newRelay(front, s.addr, roundTrip/2); err != nil {
			s.close()
			return nil, err
		}
		s.addr = front
	}
	return s, nil
}

// await returns when the server answers.
func (s *store) await(ctx context.Context) error {
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: s.addr, MaxRetries: -1})
	defer rdb.Close() //nolint:errcheck // nothing was written
	var err error
	for range 500 {
		if err = rdb.Ping(ctx).Err(); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("redis-server does not answer: %w", err)
}

func (s *store) close() {
	if s.rtt != nil {
		s.rtt.close()
	}
	_ = s.cmd.Process.Kill() // it holds nothing of worth
	_ = s.cmd.Wait()
	_ = os.RemoveAll(s.dir)
}

func (s *store) url() string { return "unix://" + s.addr }

// client is one with the settings that Waybill's own commands use: calls are repeated by the engine alone.
func (s *store) client() *redis.Client {
	return redis.NewClient(&redis.Options{Network: "unix", Addr: s.addr, MaxRetries: -1})
}

// engine is a client of the engine on a connection pool of its own.
func (s *store) engine() (*conveyor.Client, error) {
	return conveyor.NewClient(s.client(), conveyor.Options{})
}

// verify holds the engine's invariants against what a sample left behind.
func verify(ctx context.Context, c *conveyor.Client) error {
	found, err := c.Verify(ctx)
	if err != nil {
		return err
	}
	var all []error
	for _, v := range found {
		all = append(all, fmt.Errorf("an invariant does not hold: %v", v))
	}
	return errors.Join(all...)
}

// info is one number of the server's INFO.
func info(ctx context.Context, rdb *redis.Client, section, field string) (float64, error) {
	text, err := rdb.Info(ctx, section).Result()
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), field+":"); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("INFO %s has no %s", section, field)
}

// commands is how many commands the server ran so far, those inside scripts and transactions included.
func commands(ctx context.Context, rdb *redis.Client) (float64, error) {
	return info(ctx, rdb, "stats", "total_commands_processed")
}
