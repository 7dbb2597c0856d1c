package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// ReadOnly opens the store in dir for reading: it joins a live host, or reads a copy of the journal into memory.
// It takes no lock and makes or changes no file or directory; without a journal the store is empty. Commands that
// write are refused with READONLY, in scripts too.
//
// A copy does not follow what others write after it was read.
func ReadOnly(ctx context.Context, dir string, o Options) (*Store, error) {
	s, err := newStore(dir, o)
	if err != nil {
		return nil, err
	}
	s.copies = true
	s.rdb = newClient(s.dialCopy, true)
	conn, err := s.dialCopy(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, conn.Close()
}

// dialCopy connects to a live host, or to the copy once there is one: what a reader has seen does not change to
// another state under its hands.
func (s *Store) dialCopy(ctx context.Context) (net.Conn, error) {
	select {
	case <-s.turn:
	case <-s.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { s.turn <- struct{}{} }()
	s.mu.Lock()
	h := s.host
	s.mu.Unlock()
	if h == nil {
		conn, err := s.join(ctx)
		if err == nil {
			return conn, nil
		}
		if h, err = copyHost(s.paths, s.options); err != nil {
			return nil, fmt.Errorf("read the embedded store in %s: %w", s.paths.dir, err)
		}
		s.mu.Lock()
		s.host = h
		s.mu.Unlock()
	}
	client, server := net.Pipe()
	h.serve(server)
	return client, nil
}
