package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/waybill-dev/waybill/conveyor/bench/soak/rig"
	"github.com/waybill-dev/waybill/internal/testserver"
)

// member is a place in the crew: one process after the other takes it, each under a name of its own.
type member struct {
	role  role   // of the next process, but for Who
	name  string // "worker2"
	proxy *rig.Proxy
	ended chan struct{} // closed when nobody takes the place any more

	mu     sync.Mutex
	proc   *testserver.Process
	who    string
	runs   int
	busy   bool // a fault has it
	ending bool // it was told to end in order
	gone   bool // nobody is to take the place any more, however this one ends
}

// crew is all processes of a soak.
type crew struct {
	members []*member
	running sync.WaitGroup
}

// restartAfter is how long a place stays empty.
const restartAfter = 300 * time.Millisecond

// join starts a process in a place, and the next whenever one ends. An applier that was told to end has to do so well.
func (c *crew) join(m *member) error {
	if err := c.start(m); err != nil {
		return err
	}
	c.running.Go(func() {
		defer close(m.ended)
		for {
			m.mu.Lock()
			proc := m.proc
			m.mu.Unlock()
			err := proc.Wait()
			m.mu.Lock()
			over := m.gone || m.ending && (m.role.Kind == "worker" || err == nil)
			m.mu.Unlock()
			if over {
				return
			}
			time.Sleep(restartAfter)
			if err := c.start(m); err != nil {
				fmt.Fprintln(os.Stderr, "soak:", err)
				return
			}
		}
	})
	return nil
}

func (c *crew) start(m *member) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs++
	r := m.role
	r.Who, r.Finish = fmt.Sprintf("%s.%d", m.name, m.runs), m.ending
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	proc, err := testserver.Run(exec.Command(self, "-as", string(text)), syscall.SIGKILL)
	if err != nil {
		return err
	}
	m.proc, m.who = proc, r.Who
	return nil
}

// of lists the members of a kind.
func (c *crew) of(kind string) []*member {
	var out []*member
	for _, m := range c.members {
		if m.role.Kind == kind {
			out = append(out, m)
		}
	}
	return out
}

// take picks a member of a kind that no fault has, the pick-th or one after it; nil if all are taken.
func (c *crew) take(kind string, pick int) *member {
	those := c.of(kind)
	for i := range those {
		m := those[(pick+i)%len(those)]
		m.mu.Lock()
		free := !m.busy
		m.busy = m.busy || free
		m.mu.Unlock()
		if free {
			return m
		}
	}
	return nil
}

func (m *member) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy = false
}

// signal sends a signal to the process that has the place, and tells which it is.
func (m *member) signal(sig syscall.Signal) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.proc.Signal(sig)
	return m.who
}

// end tells the members of a kind to end in order, and waits for that.
func (c *crew) end(kind string, timeout time.Duration) bool {
	deadline := time.After(timeout)
	for _, m := range c.of(kind) {
		m.mu.Lock()
		m.ending = true
		m.mu.Unlock()
		m.signal(syscall.SIGTERM)
	}
	for _, m := range c.of(kind) {
		select {
		case <-m.ended:
		case <-deadline:
			return false
		}
	}
	return true
}

// kill ends whoever is left.
func (c *crew) kill() {
	for _, m := range c.members {
		m.mu.Lock()
		m.gone = true
		m.mu.Unlock()
		m.signal(syscall.SIGKILL)
	}
	c.running.Wait()
	for _, m := range c.members {
		if m.proxy != nil {
			m.proxy.Close()
		}
	}
}

// current tells which process has the place.
func (m *member) current() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.who
}

// is tells whether the process that has the place is that one.
func (m *member) is(pid int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.proc.Pid() == pid
}

// hold kills the process that has the place and keeps the next from starting until letGo.
func (m *member) hold() {
	m.mu.Lock() // start waits for it
	m.proc.End(syscall.SIGKILL)
}

func (m *member) letGo() { m.mu.Unlock() }
