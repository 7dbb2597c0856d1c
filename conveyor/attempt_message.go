package conveyor

import (
	"context"
	"errors"
	"fmt"
)

// errAttemptOver says that a handler has returned and something it left behind goes on.
var errAttemptOver = errors.New("the attempt is over")

// Emit sends a message to those who listen to this job: first to local listeners of this process, without the store, then
// to global ones in every process. It is told once however often the way to Redis fails; the call is repeated until Redis
// answers or ctx ends. An attempt that was superseded gets ErrOutdated and reaches no global listener; local ones can have
// heard it when this process did not know yet.
//
// Name matches [A-Za-z0-9._-]{1,128} and is no built-in one; data has at most MaxMessage bytes.
func (a *Attempt) Emit(ctx context.Context, name string, data []byte) error {
	return a.send(ctx, emission{name: name, data: data})
}

// Broadcast sends a message to every listener for this job in every process, local ones included; otherwise it is like Emit.
func (a *Attempt) Broadcast(ctx context.Context, name string, data []byte) error {
	return a.send(ctx, emission{name: name, data: data, broadcast: true})
}

// On calls heard for each event of this name of this job, from now on until the handler returns: see Client.On. The listener is
// local, so it hears what this attempt sends and what anybody broadcasts to the job, such as a request to a running handler.
// What was sent before the handler returned is still heard, possibly after.
func (a *Attempt) On(ctx context.Context, event string, heard func(Message)) (stop func(), err error) {
	return a.on(ctx, a.job.GetUuid(), event, heard)
}

func (a *Attempt) on(ctx context.Context, uuid, event string, heard func(Message)) (stop func(), err error) {
	h := a.engine.ears()
	l, err := h.on(ctx, uuid, event, Local, heard)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		h.off(l, true)
		return nil, fmt.Errorf("listen to %s: %w", uuid, errAttemptOver)
	}
	a.listeners = append(a.listeners, l)
	return func() { h.off(l, true) }, nil
}

// unlisten ends the attempt's listeners.
func (a *Attempt) unlisten() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for _, l := range a.listeners {
		a.engine.ears().off(l, false)
	}
	a.listeners = nil
}

// send numbers a message and sends it, one at a time.
func (a *Attempt) send(ctx context.Context, m emission) error {
	m.uuid, m.fence = a.job.GetUuid(), a.fence
	a.mu.Lock()
	data, err := a.mask.data(m.data)
	a.mu.Unlock()
	if err != nil {
		return fmt.Errorf("emit: %w", err)
	}
	m.data = data
	if err := m.validate(); err != nil {
		return fmt.Errorf("emit: %w", err)
	}
	if err := a.beginSend(ctx); err != nil {
		return fmt.Errorf("emit %s: %w", m.name, err)
	}
	defer func() { <-a.sending }()
	a.sent++
	m.n = a.sent
	if !m.broadcast {
		a.engine.ears().near(Message{UUID: m.uuid, Name: m.name, Data: m.data, Fence: m.fence})
	}
	for pause := newPause(); ; {
		err := a.engine.emit(ctx, m)
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrUnavailable) {
			return fmt.Errorf("emit %s: %w", m.name, err)
		}
		if !pause.wait(ctx) {
			return fmt.Errorf("emit %s: %w (%w)", m.name, context.Cause(ctx), err)
		}
	}
}

func (a *Attempt) beginSend(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.mu.Lock()
	if a.sending == nil {
		a.sending = make(chan struct{}, 1)
	}
	over := a.over
	a.mu.Unlock()
	if over {
		return errAttemptOver
	}
	select {
	case a.sending <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
