//go:build unix

package handlers

import (
	"io"
	"log/slog"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
)

// guardScript reads "? NAME" before a start, "+ GROUP" after it and "- GROUP" after an end. At the end of input it kills the
// groups that are left. When it ends between "?" and "+", the leader dies with the worker, but may have started others on a busy
// machine: those have NAME and a slash in their environment, which Linux shows.
//
// It is a shell, and not this program started again, since a worker is a part of other people's programs; it starts in a
// millisecond and needs about one megabyte.
const guardScript = `
trap '' HUP INT QUIT TERM TSTP TTIN TTOU PIPE
live=
starting=
while read -r op what; do
	case $op in
	\?) starting=$what ;;
	+)
		live="$live $what"
		starting=
		;;
	-)
		rest=
		for g in $live; do
			[ "$g" = "$what" ] || rest="$rest $g"
		done
		live=$rest
		;;
	esac
done
for g in $live; do
	kill -s KILL -- "-$g" 2>/dev/null
done
round=0
while [ -n "$starting" ] && [ $round -lt 10 ]; do
	round=$((round + 1))
	found=$(grep -lF -- "$starting/" /proc/[0-9]*/environ 2>/dev/null)
	[ -n "$found" ] || break
	for f in $found; do
		f=${f#/proc/}
		kill -s KILL -- "${f%/environ}" 2>/dev/null
	done
done
`

// guard is the process that survives the worker and ends its process groups. It runs from the first group on; when it dies
// it is started again and told of all.
type guard struct {
	logger *slog.Logger

	mu    sync.Mutex
	cmd   *exec.Cmd
	input io.WriteCloser
	live  map[int]struct{}
	mute  bool // it could not be started, and that was logged
}

// expect tells the guard, started if none runs, that a group starts whose processes have name in their environment.
func (g *guard) expect(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cmd == nil {
		g.start()
	}
	if g.cmd != nil {
		_ = g.tell('?', name) // a dead guard is noticed by add
	}
}

func (g *guard) add(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.live == nil {
		g.live = make(map[int]struct{})
	}
	g.live[group] = struct{}{}
	if g.cmd != nil && g.tell('+', strconv.Itoa(group)) != nil {
		// It does not read any more, and must not act on the end of its input either.
		_ = g.cmd.Process.Kill()
		g.stop()
		g.start()
	}
}

func (g *guard) remove(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, group)
	if g.cmd != nil {
		_ = g.tell('-', strconv.Itoa(group)) // a dead guard is noticed when it is needed
	}
}

// close ends the guard.
func (g *guard) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop() // all groups are gone
}

func (g *guard) tell(op byte, what string) error {
	_, err := io.WriteString(g.input, string(op)+" "+what+"\n")
	return err
}

// start starts a guard, in a group of its own that a terminal's signals do not reach, and tells it of all live groups.
func (g *guard) start() {
	cmd := &exec.Cmd{Path: shell, Args: []string{"sh", "-c", guardScript, "waybill-guard"}, Env: []string{"PATH=" + defaultPath}, Dir: "/",
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		if !g.mute {
			g.mute = true
			g.logger.Warn("no guard over processes: should this worker be killed, what its jobs' processes have started goes on", "error", err)
		}
		return
	}
	g.cmd, g.input = cmd, input
	for group := range g.live {
		_ = g.tell('+', strconv.Itoa(group)) // one that died at once is noticed with the next group
	}
}

// stop ends a guard and waits for it.
func (g *guard) stop() {
	if g.cmd == nil {
		return
	}
	_ = g.input.Close()
	_ = g.cmd.Wait()
	g.cmd, g.input = nil, nil
}
