package redistest

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// stopTimeout is how long a server may take over SIGTERM before it is killed.
const stopTimeout = 10 * time.Second

// errMissing is what every test says on a machine without Redis. Tests fail with it and never skip.
var errMissing = errors.New("redis-server is not installed: run `make test`, which installs it, or apt-get install redis-server")

// process is one run of redis-server.
type process struct {
	cmd    *exec.Cmd
	out    lockedBuffer
	exited chan struct{} // closed after the process has been waited for
}

// run starts redis-server. The goroutine that waits for it keeps the thread that started it: on Linux the
// kernel kills the server when that thread ends, which is when the test binary dies however it dies.
func run(args []string) (*process, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errMissing
	}
	p := &process{cmd: exec.Command(path, args...), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = dieWithParent()
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is of no interest: the tests end it in every way there is
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("run %s: %w", path, err)
	}
	return p, nil
}

func (p *process) signal(sig syscall.Signal) {
	_ = p.cmd.Process.Signal(sig) // an ended process is what most callers want anyway
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// terminate lets the server write out what it was asked to keep. A paused server is woken for it.
func (p *process) terminate() {
	p.wake()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
		p.kill()
	}
}

// lockedBuffer collects output that one goroutine writes and another one reads.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
