//go:build !unix

package handlers

import (
	"log/slog"
	"os"
	"os/exec"
)

// reaper starts the processes of jobs. This system has no process groups that we know to use: only the process itself is
// killed, at once, and it outlives a worker that is killed.
type reaper struct{}

func newReaper(*slog.Logger) *reaper { return &reaper{} }

func (r *reaper) close() {}

func (r *reaper) start(cmd *exec.Cmd, _ string, after func()) (*process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		after()
		close(p.ended)
	}()
	return p, nil
}

type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
	err   error         // of its end; to be read then
}

func (p *process) terminate() { _ = p.cmd.Process.Kill() }
func (p *process) kill()      { _ = p.cmd.Process.Kill() }

func signalOf(*os.ProcessState) (string, bool) { return "", false }
