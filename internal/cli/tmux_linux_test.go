package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// window is a shell in a window of tmux, which is a whole terminal: what it captures is what a user sees.
type window struct {
	socket string
	dir    string
	ran    int // commands
}

// prompt ends what the shell writes before it reads a command; it is told apart from all that commands write.
const prompt = "ready> "

// newWindow opens a window of some size, in dir, with a tmux server of its own.
func newWindow(t *testing.T, dir string, width, height int, env ...string) *window {
	t.Helper()
	sockets, err := os.MkdirTemp("", "wbtmux") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	w := &window{socket: filepath.Join(sockets, "s"), dir: dir}
	t.Cleanup(func() {
		exec.Command("tmux", "-S", w.socket, "kill-server").Run() //nolint:errcheck // it has usually ended
		os.RemoveAll(sockets)                                     //nolint:errcheck // in the temporary directory
	})
	vars := append([]string{"CI=", "WAYBILL_REDIS=", "WAYBILL_PLAIN=", "NO_COLOR=", "COLORTERM=", "HOME=" + filepath.Join(dir, "home"), "XDG_CONFIG_HOME=",
		"XDG_RUNTIME_DIR=", "GORACE=" + noWait, "HISTFILE=", "PS1=" + prompt, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}, env...)
	w.tmux(t, append(append([]string{"-u", "-f", "/dev/null", "set", "-g", "default-terminal", "tmux-256color", ";", "set", "-g", "history-limit", "5000", ";",
		"new-session", "-d", "-c", dir, "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "env", "-i", "TERM=tmux-256color"}, vars...),
		"bash", "--noprofile", "--norc", "-i")...)
	w.shows(t, strings.TrimSpace(prompt))
	return w
}

func (w *window) tmux(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", w.socket}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "LANG=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// runs types a command line. Its exit code is told below what it writes: see ended.
func (w *window) runs(t *testing.T, line string) {
	t.Helper()
	w.ran++
	w.types(t, fmt.Sprintf(`%s; echo "ended %d: $?"`, line, w.ran))
	w.presses(t, "Enter")
}

// types sends characters as they are, presses sends keys by the names that tmux has for them.
func (w *window) types(t *testing.T, text string) {
	t.Helper()
	w.tmux(t, "send-keys", "-l", "--", text)
}

func (w *window) presses(t *testing.T, keys ...string) {
	t.Helper()
	w.tmux(t, append([]string{"send-keys", "--"}, keys...)...)
}

func (w *window) resize(t *testing.T, width, height int) {
	t.Helper()
	w.tmux(t, "resize-window", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
}

// screen is what is on the screen now, and history all that was and did not vanish with another screen.
func (w *window) screen(t *testing.T) string {
	t.Helper()
	return w.tmux(t, "capture-pane", "-p")
}

func (w *window) history(t *testing.T) string {
	t.Helper()
	return w.tmux(t, "capture-pane", "-p", "-J", "-S", "-")
}

// until waits until the screen is as it should be, and returns it.
func (w *window) until(t *testing.T, want string, met func(screen string) bool) string {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(awaitAtMost); ; <-tick.C {
		got := w.screen(t)
		if met(got) {
			return got
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come; the screen is:\n%s", want, got)
		}
	}
}

// shows waits for texts that stand on the screen together.
func (w *window) shows(t *testing.T, texts ...string) string {
	t.Helper()
	return w.until(t, strconv.Quote(strings.Join(texts, " and ")), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// hides waits until a text is gone from the screen.
func (w *window) hides(t *testing.T, text string) string {
	t.Helper()
	return w.until(t, "a screen without "+strconv.Quote(text), func(screen string) bool { return !strings.Contains(screen, text) })
}

// finished waits for the end of the command that runs, and returns its exit code.
func (w *window) finished(t *testing.T) string {
	t.Helper()
	line := regexp.MustCompile(fmt.Sprintf(`(?m)^ended %d: (\d+)$`, w.ran))
	return line.FindStringSubmatch(w.until(t, "the end of the command", line.MatchString))[1]
}

// ended checks the exit code of the command that runs, and returns the history.
func (w *window) ended(t *testing.T, code int) string {
	t.Helper()
	got := w.finished(t)
	all := w.history(t)
	if got != strconv.Itoa(code) {
		t.Errorf("exit code %s, want %d:\n%s", got, code, all)
	}
	return all
}
