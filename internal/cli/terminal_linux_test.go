package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminalRun is a command on a terminal of 80 by 24 cells.
type terminalRun struct {
	cmd    *exec.Cmd
	master *os.File
	read   chan struct{} // closed when the command has closed the terminal

	mu     sync.Mutex
	output bytes.Buffer
	grown  *sync.Cond
}

// onTerminal starts waybill on a new terminal, in dir.
func onTerminal(t *testing.T, dir string, env []string, args ...string) *terminalRun {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	r := &terminalRun{cmd: exec.Command("waybill", args...), master: master, read: make(chan struct{})}
	r.grown = sync.NewCond(&r.mu)
	r.cmd.Dir = dir
	r.cmd.Env = append(os.Environ(), append([]string{"CI=", "WAYBILL_REDIS=", "NO_COLOR=", "TERM=xterm-256color", "HOME=" + filepath.Join(dir, "home"),
		"XDG_CONFIG_HOME=", "XDG_RUNTIME_DIR=", "GORACE=" + noWait}, env...)...)
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = slave, slave, slave
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.cmd.Process.Kill() //nolint:errcheck // it has usually ended
		master.Close()
		<-r.read
	})
	go r.copy()
	return r
}

func (r *terminalRun) copy() {
	defer close(r.read)
	buf := make([]byte, 4096)
	for {
		n, err := r.master.Read(buf)
		r.mu.Lock()
		r.output.Write(buf[:n])
		if err != nil {
			r.output.WriteString("\n[closed]")
		}
		r.grown.Broadcast()
		r.mu.Unlock()
		if err != nil { // EIO: the last one has closed the other end
			return
		}
	}
}

// sees waits until the terminal was sent a text.
func (r *terminalRun) sees(t *testing.T, text string) {
	t.Helper()
	late := time.AfterFunc(awaitAtMost, func() { r.cmd.Process.Kill() }) //nolint:errcheck // then the terminal closes
	defer late.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for !strings.Contains(r.output.String(), text) {
		if strings.Contains(r.output.String(), "[closed]") {
			t.Fatalf("%q did not come:\n%q", text, r.output.String())
		}
		r.grown.Wait()
	}
}

func (r *terminalRun) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := io.WriteString(r.master, keys); err != nil {
		t.Fatal(err)
	}
}

// ends waits for the end and returns all that the terminal was sent.
func (r *terminalRun) ends(t *testing.T, code int) string {
	t.Helper()
	r.sees(t, "[closed]")
	r.cmd.Wait() //nolint:errcheck // the code says it
	if got := r.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d:\n%q", got, code, r.output.String())
	}
	return r.output.String()
}

// What a terminal is told to show another screen, to go back, and to show its cursor.
const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
	showCursor  = "\x1b[?25h"
)

const liveWorkflow = `
workflow "live" {}

job "wait" {
  exec { command = ["sh", "-c", "touch started; while ! test -e go; do sleep 0.05; done"] }
}

job "after" {
  type = "noop"
  predecessor { job = job.wait }
}
`

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTerminalIsAskedNothing holds start-up to what tui/terminal is for.
func TestTerminalIsAskedNothing(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"xterm-256color", "screen", "dumb", ""} {
		if got := onTerminal(t, t.TempDir(), []string{"TERM=" + term}, "version").ends(t, 0); strings.Contains(got, "\x1b") {
			t.Errorf("TERM=%s: version wrote %q", term, got)
		}
	}
}

// TestLiveApply approves a plan, sees the view, and finds the terminal as it was.
func TestLiveApply(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.hcl"), liveWorkflow)
	r := onTerminal(t, dir, nil, "apply")
	r.sees(t, "Plan: 2 to add, 0 to change, 0 to destroy.")
	r.types(t, "yes\n")
	r.sees(t, "waiting")
	r.sees(t, "0 of 2 settled")
	r.types(t, "?")
	r.sees(t, "page down")
	writeFile(t, filepath.Join(dir, "go"), "")
	got := r.ends(t, 0)
	if strings.Count(got, enterScreen) != 2 || strings.Count(got, leaveScreen) != 2 {
		t.Errorf("the plan and the run do not have a screen each: %q", got)
	}
	below := got[strings.LastIndex(got, leaveScreen)+1:]
	if !strings.Contains(below, showCursor) || !strings.Contains(below, "Apply complete! Jobs: 2 added, 0 changed, 0 destroyed.") {
		t.Errorf("the terminal is left with %q", below)
	}
}

// TestLiveStop presses q while a job runs.
func TestLiveStop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.hcl"), liveWorkflow)
	r := onTerminal(t, dir, nil, "apply", "-auto-approve")
	r.sees(t, "1 running")
	r.types(t, "q")
	_, below, left := strings.Cut(r.ends(t, 130), leaveScreen)
	if !left || !strings.Contains(below, "Interrupted: 0 of 2 jobs settled.") || !strings.Contains(below, "waybill apply") {
		t.Errorf("the terminal is left with %q", below)
	}
}

// TestLiveLeave presses ctrl+c twice: the process leaves without waiting for anything, and still gives the terminal back.
func TestLiveLeave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.hcl"), strings.Replace(liveWorkflow, "touch started;", "trap '' TERM; touch started;", 1))
	r := onTerminal(t, dir, nil, "apply", "-auto-approve")
	r.sees(t, "1 running")
	r.types(t, "\x03")
	r.sees(t, "Stopping")
	r.types(t, "\x03")
	_, below, left := strings.Cut(r.ends(t, 130), leaveScreen)
	if !left || !strings.Contains(below, "left at once") {
		t.Errorf("the terminal is left with %q", below)
	}
}

// TestPromptIsLeft presses ctrl+c instead of answering: nothing has happened.
func TestPromptIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.hcl"), liveWorkflow)
	r := onTerminal(t, dir, nil, "apply", "-plain")
	r.sees(t, "Enter a value:")
	r.types(t, "\x03")
	r.ends(t, 130)
	if got := onTerminal(t, dir, nil, "state", "list").ends(t, 0); strings.Contains(got, "job.") {
		t.Errorf("the state holds %q", got)
	}
}
