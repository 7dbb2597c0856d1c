package embedded

import "fmt"

// transaction is what a MULTI has collected.
type transaction struct {
	commands [][]string
	bad      bool // a command was refused while it was queued
}

// transact answers MULTI and what ends or guards it.
func (s *session) transact(name string, args []string) []byte {
	h := s.host
	switch {
	case name == "WATCH" && s.tx == nil, name == "UNWATCH":
		return append([]byte(nil), h.ds.call(&s.client, args)...)
	case name == "WATCH":
		return appendError(nil, "ERR WATCH inside MULTI is not allowed")
	case name == "MULTI" && s.tx == nil:
		s.tx = &transaction{}
		return appendStatus(nil, "OK")
	case name == "MULTI":
		return appendError(nil, "ERR MULTI calls can not be nested")
	case s.tx == nil:
		return appendError(nil, fmt.Sprintf("ERR %s without MULTI", name))
	}
	tx := s.tx
	s.tx = nil
	// miniredis knows whether a watched key has changed: an empty transaction of its own tells, and ends the watch.
	h.ds.call(&s.client, []string{"MULTI"})
	changed := string(h.ds.call(&s.client, []string{"EXEC"})) == "*-1\r\n"
	switch {
	case name == "DISCARD":
		return appendStatus(nil, "OK")
	case tx.bad:
		return appendError(nil, "EXECABORT Transaction discarded because of previous errors.")
	case changed:
		return appendNoArray(nil)
	}
	return h.run(func(out []byte) []byte {
		out = appendArray(out, len(tx.commands))
		for _, args := range tx.commands {
			out = h.ds.exec(&s.client, out, args)
		}
		return out
	})
}

// enqueue keeps a command for EXEC.
func (s *session) enqueue(v verb, known bool, args []string) []byte {
	if !known || v.session || len(args)-1 < v.arity {
		s.tx.bad = true
		return appendError(nil, fmt.Sprintf("ERR '%s' is unknown, incomplete or not allowed in a transaction", args[0]))
	}
	s.tx.commands = append(s.tx.commands, args)
	return appendStatus(nil, "QUEUED")
}
