package testserver

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProcess(t *testing.T) {
	t.Parallel()
	silent := errors.New("silent")
	t.Run("it is asked until it answers", func(t *testing.T) {
		t.Parallel()
		p, err := Run(exec.Command("sh", "-c", "echo ready; exec sleep 60"), syscall.SIGKILL)
		if err != nil {
			t.Fatal(err)
		}
		defer p.End(syscall.SIGKILL)
		err = p.Await(time.Minute, func(context.Context) error {
			if strings.Contains(p.Output(), "ready") {
				return nil
			}
			return silent
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("one that exits is noticed with what it said", func(t *testing.T) {
		t.Parallel()
		p, err := Run(exec.Command("sh", "-c", "echo no such option >&2; exit 1"), syscall.SIGKILL)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Await(time.Minute, func(context.Context) error { return silent })
		if err == nil || !strings.Contains(err.Error(), "exited") || !strings.Contains(err.Error(), "no such option") {
			t.Errorf("got %v", err)
		}
		p.End(syscall.SIGTERM)
	})
	t.Run("one that never answers", func(t *testing.T) {
		t.Parallel()
		p, err := Run(exec.Command("sleep", "60"), syscall.SIGKILL)
		if err != nil {
			t.Fatal(err)
		}
		defer p.End(syscall.SIGTERM)
		if err := p.Await(time.Millisecond, func(context.Context) error { return silent }); !errors.Is(err, silent) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("it is told how one ended", func(t *testing.T) {
		t.Parallel()
		for script, want := range map[string]string{"exit 0": "", "exit 3": "exit status 3"} {
			p, err := Run(exec.Command("sh", "-c", script), syscall.SIGKILL)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := p.Wait(); err != nil {
				got = err.Error()
			}
			if got != want || p.Pid() == 0 {
				t.Errorf("%s: it ended with %q, want %q", script, got, want)
			}
		}
	})
	t.Run("no program", func(t *testing.T) {
		t.Parallel()
		if _, err := Run(exec.Command("/no/such/program"), syscall.SIGKILL); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
			t.Errorf("got %v", err)
		}
	})
}

func TestShared(t *testing.T) {
	t.Parallel()
	starts, stops := 0, 0
	s := NewShared(func() (int, error) { starts++; return 7, nil }, func(int) { stops++ })
	end := s.Manage()
	if a, b := s.Get(t), s.Get(t); a != 7 || b != 7 || starts != 1 || stops != 0 {
		t.Errorf("%d, %d after %d starts and %d stops", a, b, starts, stops)
	}
	end()
	end()
	if stops != 1 {
		t.Errorf("%d stops", stops)
	}
}
