package conveyor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Why the context of an attempt ends before its handler does; context.Cause tells which. An attempt that was superseded
// has ErrOutdated for its cause: what it does from now on may be done by another worker at the same time.
var (
	// ErrTimeout says that the job's timeout has passed. It counts as a failed attempt.
	ErrTimeout = errors.New("timeout")
	// ErrCancelled says that somebody cancelled the job.
	ErrCancelled = errors.New("cancelled on request")
	// ErrShutdown says that the worker shuts down and its deadline has passed. The job goes back to its place with
	// nothing spent.
	ErrShutdown = errors.New("worker shuts down")
)

// permanentError is an error that no further attempt can mend.
type permanentError struct{ cause error }

func (e *permanentError) Error() string { return e.cause.Error() }
func (e *permanentError) Unwrap() error { return e.cause }

// Permanent marks an error that further attempts cannot mend: the job fails at once, or goes on hold when its retry policy
// says so. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// retryAfterError is an error with a delay of its own.
type retryAfterError struct {
	cause error
	delay time.Duration
}

func (e *retryAfterError) Error() string { return e.cause.Error() }
func (e *retryAfterError) Unwrap() error { return e.cause }

// RetryAfter marks an error after which the next attempt, if any is left, starts d later instead of after the backoff of the
// retry policy. The attempt counts as failed. RetryAfter(nil, d) is nil; to come back later without a failure see
// Attempt.Defer.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryAfterError{err, max(d, 0)}
}

// panicError is a handler's panic with its stack.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.value, e.stack) }

// Unwrap lets errors.Is see through panic(err).
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// errGoexit stands for a handler that ended its goroutine instead of returning.
var errGoexit = errors.New("the handler called runtime.Goexit")

// failureText is the text of an error as it is stored: valid UTF-8 of at most MaxFailure bytes.
func failureText(text string) string {
	const cut = "\n[cut]"
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= MaxFailure {
		return text
	}
	text = text[:MaxFailure-len(cut)]
	for len(text) > 0 {
		if r, n := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || n != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text + cut
}

// causeOf tells why ctx was ended by the worker; nil when it was not.
func causeOf(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
