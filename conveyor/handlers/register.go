package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// The job types that Register adds.
const (
	TypeExec  = "exec"
	TypeHTTP  = "http"
	TypeSleep = "sleep"
	TypeNoop  = "noop"
)

// DefaultGrace is how long a process has between SIGTERM and SIGKILL.
const DefaultGrace = 10 * time.Second

// Options configures the built-in handlers. The zero value works.
type Options struct {
	// Dir is where commands run and what their relative paths are relative to. Default: the working directory.
	Dir string
	// Grace is how long a process has between SIGTERM and SIGKILL. Default: DefaultGrace. A worker's StopTimeout is longer.
	Grace time.Duration
	// Transport makes HTTP requests. Default: one that gives up on a server that does not answer for five minutes.
	Transport http.RoundTripper
	// Logger gets what concerns the worker and no single job. Default: discards.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Dir == "" {
		o.Dir = "."
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	if o.Transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.ResponseHeaderTimeout = 5 * time.Minute
		o.Transport = t
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// validate also makes Dir absolute, so that a later change of the working directory changes nothing.
func (o *Options) validate() error {
	var problems []error
	dir, err := filepath.Abs(o.Dir)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(dir); err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a directory", dir)
		}
	}
	if err != nil {
		problems = append(problems, fmt.Errorf("field Dir: %w", err))
	}
	o.Dir = dir
	if o.Grace < 0 {
		problems = append(problems, fmt.Errorf("field Grace: %s is negative", o.Grace))
	}
	return errors.Join(problems...)
}

// Register adds the handlers to a worker, before its Run. exec and http jobs have to be signed with a key of the worker's
// Keyring, unless its options allow unsigned ones.
func Register(w *conveyor.Worker, o Options) error {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return fmt.Errorf("handler options: %w", err)
	}
	e := newExecutor(o)
	w.AtEnd(e.close)
	w.HandleRaw(TypeExec, handler(e.run), conveyor.Signed())
	r := newRequester(o)
	w.AtEnd(r.close)
	w.HandleRaw(TypeHTTP, handler(r.run), conveyor.Signed())
	w.HandleRaw(TypeSleep, handler(sleep))
	w.HandleRaw(TypeNoop, func(context.Context, *wire.Job) error { return nil }) // whatever its payload
	return nil
}

// attempt is what handlers use of a conveyor.Attempt.
type attempt interface {
	Fence() int64
	Output() io.Writer
	SetResult(result []byte) error
	Sync() map[string]string
	SetSync(state map[string]string) error
	Defer(d time.Duration)
}

// handler makes a conveyor.Handler of a function over a payload.
func handler[P any](run func(ctx context.Context, job *wire.Job, payload P, a attempt) error) conveyor.Handler {
	return func(ctx context.Context, job *wire.Job) error {
		var payload P
		if err := decode(job.GetPayload(), &payload); err != nil {
			return conveyor.Permanent(fmt.Errorf("the payload is not one of job type %q: %w", job.GetType(), err))
		}
		return run(ctx, job, payload, conveyor.FromContext(ctx))
	}
}

// decode reads one JSON value strictly.
func decode(payload []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("it is empty")
		}
		return fmt.Errorf("%w (a newer version may have submitted it: upgrade this worker)", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}
