//go:build unix

package redistest

import "syscall"

// Pause stops the server without ending it (SIGSTOP): connections stay open and nothing answers.
func (s *Server) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.signal(syscall.SIGSTOP)
	}
}

// Resume lets a paused server go on.
func (s *Server) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.wake()
	}
}

func (p *process) wake() { p.signal(syscall.SIGCONT) }
