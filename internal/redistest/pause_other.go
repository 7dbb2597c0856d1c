//go:build !unix

package redistest

// Pause does nothing here: there is no SIGSTOP. Redis itself does not run on such a system either.
func (s *Server) Pause() {}

// Resume does nothing here.
func (s *Server) Resume() {}

func (p *process) wake() {}
