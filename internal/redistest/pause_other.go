//go:build !unix

package redistest

import "syscall"

// Pause does nothing here: there is no SIGSTOP. Redis itself does not run on such a system either.
func (s *Server) Pause() {}

// Resume does nothing here.
func (s *Server) Resume() {}

// resume is a signal that does nothing.
const resume = syscall.Signal(0)
