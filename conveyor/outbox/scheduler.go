package outbox

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// A Scheduler's calls out of order, and jobs that it does not take, for errors.Is. What Client.Add would refuse in a job is refused
// with the same errors of package conveyor.
var (
	ErrCreated     = errors.New("the pending jobs are written already: a transaction that is begun again needs a new Scheduler")
	ErrNotCreated  = errors.New("the pending jobs are not written: call CreatePendingJobs inside the transaction first")
	ErrNotPushed   = errors.New("jobs are not pushed yet: without their rows nothing would push them any more")
	ErrNoAttempt   = errors.New("the context is not that of a running job: use PushJobsWithClient")
	ErrTooMany     = errors.New("too many jobs for one statement: use a second Scheduler in the same transaction")
	ErrTwice       = errors.New("the job is collected already: two rows would be one job")
	ErrPayload     = errors.New("no payload can be made of the arguments")
	ErrRemoveAfter = errors.New("remove_after is too short: a job that is pushed again is known by the memory of its first end")
)

// MinRemoveAfter is the least remove_after of a job in an outbox, other than none at all.
const MinRemoveAfter = time.Hour

// Scheduler collects the jobs of one transaction and takes them through the steps of the package's description: AddJob and AddJobs,
// then CreatePendingJobs inside the transaction, then after its commit one of the calls that push and delete. It serves one
// transaction and one goroutine, and costs nothing to make.
type Scheduler struct {
	sql     *statements
	err     error // with the table
	prepare func(job *wire.Job) error

	jobs    []*wire.Job // in the order in which they were collected
	uuids   map[string]bool
	created bool
	pushed  int // the first of jobs, known to be on the queue
	deleted bool
}

// Option changes a Scheduler.
type Option func(*Scheduler)

// Prepare has a function called with each job once it has its uuid and payload, before it is checked and collected: to sign or
// seal it, which covers both, or to give every job the labels of a request.
func Prepare(prepare func(job *wire.Job) error) Option {
	return func(s *Scheduler) { s.prepare = prepare }
}

// NewScheduler returns a Scheduler without jobs. What is wrong with the table is told by its first call that can fail.
func NewScheduler(t Table, options ...Option) *Scheduler {
	s := &Scheduler{}
	s.sql, s.err = t.statements()
	for _, o := range options {
		o(s)
	}
	return s
}

// AddJob collects a job. It asks neither the database nor the queue, and an error collects nothing.
//
// The job given is a template, which stays as it is and may be used again: what is collected is a copy of it, with a uuid if it has
// none, and with a payload made of the arguments. Without arguments the payload stays. One argument becomes its JSON, or the binary form of a
// protobuf message as conveyor.Handle reads it; a []byte or json.RawMessage is the payload as it is. Several become a JSON array.
//
// Relative times, such as after and retention, count from the push; run_at is what it says.
func (s *Scheduler) AddJob(job *wire.Job, args ...any) error {
	return s.add([]*wire.Job{job}, args)
}

// AddJobs collects a job of each template with the same arguments, as AddJob does. An error collects none of them.
func (s *Scheduler) AddJobs(jobs []*wire.Job, args ...any) error {
	return s.add(jobs, args)
}

// Jobs are copies of the jobs collected so far, with their uuids, in their order.
func (s *Scheduler) Jobs() []*wire.Job {
	jobs := make([]*wire.Job, len(s.jobs))
	for i, job := range s.jobs {
		jobs[i] = proto.CloneOf(job)
	}
	return jobs
}

func (s *Scheduler) add(templates []*wire.Job, args []any) error {
	if err := s.ready(); err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	if s.created {
		return fmt.Errorf("schedule: %w", ErrCreated)
	}
	payload, err := payloadOf(args)
	if err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	jobs := make([]*wire.Job, len(templates))
	for i, template := range templates {
		if jobs[i], err = s.job(template, payload, len(args) > 0); err != nil {
			return fmt.Errorf("schedule %s: %w", nth(i, len(templates), template), err)
		}
	}
	fresh := make(map[string]bool, len(jobs))
	for i, job := range jobs {
		if s.uuids[job.Uuid] || fresh[job.Uuid] {
			return fmt.Errorf("schedule %s: %w", nth(i, len(jobs), job), ErrTwice)
		}
		fresh[job.Uuid] = true
	}
	if s.uuids == nil {
		s.uuids = fresh
	}
	for uuid := range fresh {
		s.uuids[uuid] = true
	}
	s.jobs = append(s.jobs, jobs...)
	return nil
}

// job makes what is collected of a template.
func (s *Scheduler) job(template *wire.Job, payload []byte, given bool) (*wire.Job, error) {
	if template == nil {
		return nil, conveyor.ErrNilJob
	}
	job := proto.CloneOf(template)
	if job.Uuid == "" {
		job.Uuid = uuid.NewString()
	}
	if given {
		if len(job.Payload) > 0 {
			return nil, fmt.Errorf("%w: the job has a payload already", ErrPayload)
		}
		job.Payload = payload
	}
	if s.prepare != nil {
		if err := s.prepare(job); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
		if job.Uuid == "" {
			return nil, fmt.Errorf("prepare: it took the uuid away: %w", conveyor.ErrUUID)
		}
	}
	if err := conveyor.Check(job); err != nil {
		return nil, err
	}
	return job, checkRemoveAfter(job.RemoveAfter)
}

// checkRemoveAfter: once the store has forgotten a job, nothing tells that it ran.
func checkRemoveAfter(d *durationpb.Duration) error {
	if after := d.AsDuration(); after > 0 && after < MinRemoveAfter {
		return fmt.Errorf("%w: %s is less than %s", ErrRemoveAfter, after, MinRemoveAfter)
	}
	return nil
}

// ready tells what is wrong with how the Scheduler was made.
func (s *Scheduler) ready() error {
	if s.err == nil && s.sql == nil {
		return errors.New("a Scheduler is made by NewScheduler")
	}
	return s.err
}

// nth names one of n jobs to people.
func nth(i, n int, job *wire.Job) string {
	name := "job"
	if n > 1 {
		name = fmt.Sprintf("job %d of %d", i+1, n)
	}
	if t := job.GetType(); t != "" {
		name += fmt.Sprintf(" (%s)", t)
	}
	return name
}
