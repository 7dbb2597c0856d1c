package conveyor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// Bounds and defaults of WorkerOptions.
const (
	DefaultConcurrency     = 10
	MaxConcurrency         = 10_000
	DefaultShutdownTimeout = 30 * time.Second
	DefaultStopTimeout     = 15 * time.Second
	maxQueues              = 1000
	MaxWeight              = 1000
)

// QueueShare is a queue that a worker serves, and how many of the worker's turns it gets in relation to the others.
type QueueShare struct {
	Name   string
	Weight int // 1 to 1000; 0 is 1
}

// WorkerOptions configures a Worker.
type WorkerOptions struct {
	// Queues are served by weight. nil is an error; an empty list makes a worker that waits for SetQueues and
	// takes what goes to it alone, or to all.
	Queues []QueueShare
	// ID names the worker; no two live workers share one. Default: the host's name and a random part.
	ID string
	// Team is a label for observers. Default: none.
	Team string
	// Concurrency is how many attempts run at a time, 1 to 10,000. Default: 10.
	Concurrency int
	// ShutdownTimeout is how long running jobs may go on after the context of Run ended; then they are told to stop and go
	// back to their places. Default: 30 s; negative: they are told at once.
	ShutdownTimeout time.Duration
	// StopTimeout is how long Run then waits for handlers that were told to stop. Default: 15 s, which is more than exec
	// gives its processes.
	StopTimeout time.Duration
	// Keyring verifies signatures and opens payloads. nil: jobs that need a key are left to other workers.
	Keyring *Keyring
	// AllowUnsigned runs jobs of signed types that carry no signature. With it, whoever can write to Redis can run commands
	// on this worker.
	AllowUnsigned bool
	// Secrets gives jobs the secrets that they ask for, see SecretSource. nil: jobs that ask for any are left to other workers.
	Secrets SecretSource
	// Logger gets what nobody can return. Default: discards.
	Logger *slog.Logger
	// Random gives numbers in [0,1) for the jitter of delays. It must be safe for concurrent use. Default: math/rand/v2.
	Random func() float64
}

func (o WorkerOptions) withDefaults() WorkerOptions {
	if o.ID == "" {
		host, err := os.Hostname()
		if err != nil || host == "" {
			host = "worker"
		}
		o.ID = strings.Map(nameRune, host[:min(len(host), maxName/2)]) + "-" + uuid.NewString()[:8]
	}
	if o.Concurrency == 0 {
		o.Concurrency = DefaultConcurrency
	}
	if o.ShutdownTimeout == 0 {
		o.ShutdownTimeout = DefaultShutdownTimeout
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = DefaultStopTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	return o
}

func (o WorkerOptions) validate() error {
	var problems []error
	if o.Queues == nil {
		problems = append(problems, errors.New("field Queues: name at least one queue, or give an empty list and call SetQueues"))
	}
	problems = append(problems, checkQueues(o.Queues))
	if !validName(o.ID) {
		problems = append(problems, fmt.Errorf("field ID: %q does not match [A-Za-z0-9._-]{1,128}", o.ID))
	}
	if o.Team != "" && !validName(o.Team) {
		problems = append(problems, fmt.Errorf("field Team: %q does not match [A-Za-z0-9._-]{1,128}", o.Team))
	}
	if o.Concurrency < 1 || o.Concurrency > MaxConcurrency {
		problems = append(problems, fmt.Errorf("field Concurrency: %d is not in 1..%d", o.Concurrency, MaxConcurrency))
	}
	problems = append(problems, checkPatterns(o.Secrets))
	if o.StopTimeout < 0 {
		problems = append(problems, fmt.Errorf("field StopTimeout: %s is negative", o.StopTimeout))
	}
	return errors.Join(problems...)
}

func checkQueues(queues []QueueShare) error {
	var problems []error
	if len(queues) > maxQueues {
		problems = append(problems, fmt.Errorf("field Queues: %d queues, the limit is %d", len(queues), maxQueues))
	}
	seen := make(map[string]bool, len(queues))
	for i, q := range queues {
		switch {
		case !validName(q.Name):
			problems = append(problems, fmt.Errorf("field Queues[%d]: name %q does not match [A-Za-z0-9._-]{1,128}", i, q.Name))
		case seen[q.Name]:
			problems = append(problems, fmt.Errorf("field Queues[%d]: queue %q is named twice", i, q.Name))
		}
		if q.Weight < 0 || q.Weight > MaxWeight {
			problems = append(problems, fmt.Errorf("field Queues[%d]: weight %d of %q is not in 1..%d", i, q.Weight, q.Name, MaxWeight))
		}
		seen[q.Name] = true
	}
	return errors.Join(problems...)
}

// nameRune keeps what a name may have.
func nameRune(r rune) rune {
	if r < 128 && validName(string(r)) {
		return r
	}
	return '-'
}

// engine is what a worker needs of a Client.
type engine interface {
	Exchange(ctx context.Context, r ExchangeRequest) (ExchangeReply, error)
	Beat(ctx context.Context, w WorkerInfo) (BeatReply, error)
	Tick(ctx context.Context) (TickReply, error)
	Leave(ctx context.Context, workerID string) error
	WaitWake(ctx context.Context, workerID string, timeout time.Duration) (bool, error)
	wake(ctx context.Context, workerID string) error
	Workers(ctx context.Context) ([]WorkerInfo, error)
	AppendLog(ctx context.Context, uuid string, fence, n int64, text []byte) error
	SetProgress(ctx context.Context, uuid string, fence int64, p Progress) error
	AddMany(ctx context.Context, jobs []*wire.Job, opts ...AddOption) error
	Statuses(ctx context.Context, uuids []string) ([]Status, error)
	Results(ctx context.Context, uuids []string) ([][]byte, error)
	emit(ctx context.Context, m emission) error
	ears() *hearing
}
