//go:build unix

package redistest

import "syscall"

// Pause stops the server without ending it (SIGSTOP): connections stay open and nothing answers.
func (s *Server) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.Signal(syscall.SIGSTOP)
	}
}

// Resume lets a paused server go on.
func (s *Server) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.Signal(resume)
	}
}

// resume is the signal that lets a stopped process go on.
const resume = syscall.SIGCONT
