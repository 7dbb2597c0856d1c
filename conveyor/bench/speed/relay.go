package main

import (
	"net"
	"sync"
	"time"
)

// relay passes connections on and delivers everything a fixed time after it came, in both directions. It delays and does not throttle:
// what is sent in one go arrives in one go.
type relay struct {
	listener net.Listener
	target   string
	delay    time.Duration
	mu       sync.Mutex
	conns    []net.Conn
}

func newRelay(path, target string, delay time.Duration) (*relay, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l, target: target, delay: delay}
	go r.accept()
	return r, nil
}

func (r *relay) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("unix", r.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, client, server)
		r.mu.Unlock()
		go r.carry(client, server)
		go r.carry(server, client)
	}
}

// packet is what was read at once, and when it is due.
type packet struct {
	due  time.Time
	data []byte
}

// carry reads at once what comes and writes it when it is due.
func (r *relay) carry(from, to net.Conn) {
	line := make(chan packet, 4096)
	go func() {
		defer close(line)
		for {
			data := make([]byte, 64<<10)
			n, err := from.Read(data)
			if n > 0 {
				line <- packet{time.Now().Add(r.delay), data[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range line {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			break
		}
	}
	_ = to.Close()
	_ = from.Close()
	for range line { // so that the reader ends
	}
}

func (r *relay) close() {
	_ = r.listener.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		_ = c.Close()
	}
}
