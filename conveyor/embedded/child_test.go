package embedded

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// A child is this test binary run again in a role, for what needs a process: to be killed, to have other limits.
const (
	childRole = "EMBEDDED_TEST_ROLE"
	childDir  = "EMBEDDED_TEST_DIR"
)

type child struct {
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	stdin  io.Closer
	stderr *bytes.Buffer
}

// startChild runs a role, which lives until it is killed or its standard input ends.
func startChild(tb testing.TB, role, dir string, env ...string) *child {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), childRole+"="+role, childDir+"="+dir), env...)
	c := &child{cmd: cmd, stderr: &bytes.Buffer{}}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	cmd.Stderr = c.stderr
	c.lines = bufio.NewScanner(out)
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.kill() })
	return c
}

// line reads the child's next line.
func (c *child) line(tb testing.TB) string {
	tb.Helper()
	if !c.lines.Scan() {
		_ = c.cmd.Wait()
		tb.Fatalf("the child ended: %v\n%s", c.cmd.ProcessState, c.stderr)
	}
	return c.lines.Text()
}

// kill ends the child with SIGKILL and returns the lines it had written by then.
func (c *child) kill() []string {
	_ = c.cmd.Process.Kill()
	var rest []string
	for c.lines.Scan() {
		rest = append(rest, c.lines.Text())
	}
	_ = c.cmd.Wait()
	return rest
}

// roles are what a child can be.
var roles = map[string]func(dir string) error{"write": childWrites, "serve": childServes, "open": childOpens}

// runChild is the main function of a child.
func runChild(role string) int {
	play, ok := roles[role]
	if !ok {
		fmt.Fprintf(os.Stderr, "no role %q\n", role)
		return 1
	}
	if err := play(os.Getenv(childDir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// childWrites writes numbered keys from several goroutines until it is killed, and prints each number after its
// write was acknowledged: alternately by a plain command, by a script and by a pop that moves an element.
func childWrites(dir string) error {
	s, err := Open(context.Background(), dir, Options{CompactAt: leastCompactAt})
	if err != nil {
		return err
	}
	fmt.Println("hosting", s.Hosting())
	ctx, rdb := context.Background(), s.Client()
	start, _ := strconv.Atoi(os.Getenv("START"))
	acked := make(chan string)
	failed := make(chan error)
	for worker := range 4 {
		go func() {
			for n := start + worker; ; n += 4 {
				key := strconv.Itoa(n)
				var err error
				switch n / 4 % 3 {
				case 0:
					err = rdb.Set(ctx, "k"+key, key, 0).Err()
				case 1:
					err = rdb.Eval(ctx, "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('LPUSH', KEYS[2], ARGV[1])",
						[]string{"k" + key, "list"}, key).Err()
				default:
					_, err = rdb.TxPipelined(ctx, txSet(ctx, "k"+key, key))
				}
				if err != nil {
					failed <- err
					return
				}
				acked <- key
			}
		}()
	}
	for {
		select {
		case key := <-acked:
			fmt.Println(key)
		case err := <-failed:
			return err
		}
	}
}

// childServes opens the store, says whether it hosts it, and closes it when its input ends.
func childServes(dir string) error {
	s, err := Open(context.Background(), dir, Options{})
	if err != nil {
		return err
	}
	fmt.Println("hosting", s.Hosting())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return s.Close()
}

// childOpens tries to open the store and prints how that ended, as the user that the environment names.
func childOpens(dir string) error {
	s, err := Open(context.Background(), dir, Options{})
	if err != nil {
		fmt.Println("error:", strings.ReplaceAll(err.Error(), "\n", "; "))
		return nil
	}
	fmt.Println("opened")
	return s.Close()
}
