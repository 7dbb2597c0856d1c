package conveyor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// What an attempt's output costs: one call to the store per flushEvery, of at most maxPiece bytes.
const (
	flushEvery = 200 * time.Millisecond
	maxPiece   = 64 << 10
	keepTail   = 64 << 10
	// keepHead leaves room for the tail and the line that says how much is missing between the two.
	keepHead = MaxLog - keepTail - 256
)

// Log writes one line, or several, to the job's log. What handlers write is kept in its order: the first part and the end
// of it when it is more than MaxLog, with a count of what is missing between the two. Log never blocks on the store.
func (a *Attempt) Log(text string) {
	a.output.write([]byte(text), true)
}

// Output is the job's log as a writer, for the output of programs. Its Write never fails.
func (a *Attempt) Output() io.Writer { return outputWriter{a.output} }

type outputWriter struct{ o *output }

func (w outputWriter) Write(p []byte) (int, error) {
	w.o.write(p, false)
	return len(p), nil
}

// Progress tells observers how far the attempt is; Total 0 is unknown. Only the latest of many in a short time is sent.
func (a *Attempt) Progress(p Progress) {
	a.mu.Lock()
	if p != a.told { // telling the same again is no progress
		a.told, a.toldAt = p, time.Now()
	}
	a.mu.Unlock()
	a.output.setProgress(p)
}

// output collects what an attempt writes and sends it in few calls. Sending runs beside the handler and is retried until the
// store answers, so a store that is away costs memory, at most MaxLog, and no time.
type output struct {
	engine engine
	uuid   string
	fence  int64

	mu       sync.Mutex
	mask     *mask  // nil: nothing is masked
	held     []byte // what may be the beginning of a secret
	unsent   []byte
	kept     int    // bytes of the head taken so far, sent or not
	tail     []byte // the latest keepTail bytes that the head had no room for
	missing  int64  // bytes before the tail that are lost
	unended  bool   // unsent is a line that had no end at the previous flush
	progress *Progress
	timer    *time.Timer // set while something is unsent
	closed   bool

	sending chan struct{}   // 1 slot, taken by whoever sends; made with the first byte
	pieces  int64           // sent so far; the sender's
	ctx     context.Context // of the calls to the store
}

// newOutput starts nothing; ctx bounds the calls to the store.
func newOutput(ctx context.Context, e engine, uuid string, fence int64) *output {
	return &output{engine: e, uuid: uuid, fence: fence, ctx: ctx}
}

func (o *output) write(p []byte, line bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if line && !bytes.HasSuffix(p, []byte("\n")) {
		p = append(p, '\n')
	}
	if o.mask != nil {
		p, o.held = o.mask.told(append(o.held, p...), false)
	}
	o.keep(p)
	o.schedule()
}

// hide has what is written from now on masked.
func (o *output) hide(m *mask) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mask = m
}

// keep puts p into the head, then into the tail.
func (o *output) keep(p []byte) {
	n := min(len(p), keepHead-o.kept)
	if o.sending == nil {
		o.sending = make(chan struct{}, 1)
	}
	o.unsent = append(o.unsent, p[:n]...)
	o.kept += n
	o.tail = append(o.tail, p[n:]...)
	if over := len(o.tail) - keepTail; over > keepTail { // in steps, so that each byte moves once
		o.cutTail(over)
	}
}

func (o *output) cutTail(over int) {
	o.missing += int64(over)
	o.tail = append(o.tail[:0], o.tail[over:]...)
}

func (o *output) setProgress(p Progress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		p.Text = o.mask.text(p.Text)
		if o.sending == nil {
			o.sending = make(chan struct{}, 1)
		}
		o.progress = &p
		o.schedule()
	}
}

// schedule has what is unsent sent soon.
func (o *output) schedule() {
	if o.timer == nil && !o.closed && (len(o.unsent) > 0 || o.progress != nil) {
		o.timer = time.AfterFunc(flushEvery, func() { _ = o.flush(false) })
	}
}

// close sends the rest. It fails when the store does not answer until ctx of newOutput ends, and with ErrOutdated when the
// attempt is superseded.
func (o *output) close() error {
	o.mu.Lock()
	if len(o.held) > 0 {
		rest, _ := o.mask.told(o.held, true)
		o.keep(rest)
	}
	o.closed = true
	if over := len(o.tail) - keepTail; over > 0 {
		o.cutTail(over)
	}
	if o.missing > 0 {
		o.unsent = fmt.Appendf(o.unsent, "\n[%d bytes of the log are not kept]\n", o.missing)
	}
	o.unsent = append(o.unsent, o.tail...)
	idle := o.timer == nil && len(o.unsent) == 0
	if o.timer != nil {
		o.timer.Stop()
	}
	o.progress = nil // the end says more
	o.mu.Unlock()
	if idle {
		return nil
	}
	return o.flush(true)
}

// flush sends what is unsent: whole lines, unless this is the last flush or a line did not end in time, as a prompt or a row
// of dots does not.
func (o *output) flush(last bool) error {
	o.sending <- struct{}{}
	defer func() { <-o.sending }()
	for {
		o.mu.Lock()
		if o.closed && !last { // the last flush sends all
			o.mu.Unlock()
			return nil
		}
		piece, progress := pieceOf(o.unsent, last || o.unended), o.progress
		o.unended, o.progress = false, nil
		if len(piece) == 0 && progress == nil {
			o.timer = nil
			o.unended = len(o.unsent) > 0
			o.schedule()
			o.mu.Unlock()
			return nil
		}
		o.mu.Unlock()
		if err := o.send(piece, progress); err != nil {
			return err // superseded or over: nobody will read what is left
		}
	}
}

// pieceOf is the next piece to send; unless all may go it ends with a line.
func pieceOf(unsent []byte, all bool) []byte {
	if len(unsent) > maxPiece {
		if end := bytes.LastIndexByte(unsent[:maxPiece], '\n'); end >= 0 {
			return unsent[:end+1]
		}
		return unsent[:maxPiece]
	}
	if all {
		return unsent
	}
	return unsent[:bytes.LastIndexByte(unsent, '\n')+1]
}

// send sends one piece and takes it off what is unsent. The number makes a repeated call harmless.
func (o *output) send(piece []byte, progress *Progress) error {
	for pause := newPause(); ; {
		var err error
		if progress != nil {
			if err = o.engine.SetProgress(o.ctx, o.uuid, o.fence, *progress); errors.Is(err, ErrFull) {
				err = nil // what is told next may find room
			}
		}
		if err == nil && len(piece) > 0 {
			err = o.engine.AppendLog(o.ctx, o.uuid, o.fence, o.pieces+1, piece)
		}
		if errors.Is(err, ErrFull) { // the attempt must not wait for room to tell of itself
			o.mu.Lock()
			defer o.mu.Unlock()
			o.unsent, o.missing = o.unsent[len(piece):], o.missing+int64(len(piece))
			return nil
		}
		if err == nil {
			break
		}
		if !errors.Is(err, ErrUnavailable) {
			return err
		}
		if !pause.wait(o.ctx) {
			return err
		}
	}
	if len(piece) > 0 {
		o.pieces++
		o.mu.Lock()
		o.unsent = o.unsent[len(piece):]
		o.mu.Unlock()
	}
	return nil
}
