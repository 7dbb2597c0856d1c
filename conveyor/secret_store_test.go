package conveyor_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// safe gives one secret, as it is now.
type safe struct {
	name  string
	value atomic.Value
}

func (s *safe) Secret(_ context.Context, name string) (string, error) {
	if name != s.name {
		return "", conveyor.ErrSecretRefused
	}
	return s.value.Load().(string), nil
}

func (s *safe) Patterns() []string { return []string{s.name} }

// asks has a signed job ask for a secret.
func asks(e *engine, k *conveyor.Keyring, name string) func(*wire.Job) {
	return func(j *wire.Job) {
		j.Secrets, j.Payload = []string{name}, []byte(conveyor.SecretText(name))
		e.ok(k.Sign(e.Namespace(), j))
	}
}

// becomes waits until a job is in a state.
func (e *engine) becomes(uuid string, state conveyor.State) {
	e.Helper()
	after, err := e.LastEvent(e.Context())
	e.ok(err)
	for e.status(uuid).State != state {
		batch, err := e.Events(e.Context(), after, conveyor.BeatEvery)
		e.ok(err)
		after = batch.Seq
	}
}

// TestSecretsOfJobs: whoever permits it gives a job its secrets when it starts: one that waits, the occurrences of a template, what each
// worker gets of a job for all. Each attempt gets what is there then, and the store never holds it.
func TestSecretsOfJobs(t *testing.T) {
	onBoth(t, func(e *engine) {
		k, err := conveyor.NewKeyring("0123456789abcdef0123456789abcdef")
		e.ok(err)
		source := &safe{name: "env:PW"}
		source.value.Store("value-0")
		got := make(chan string, 100)
		o := conveyor.WorkerOptions{ID: "w1", Queues: []conveyor.QueueShare{{Name: "q"}}, Keyring: k, Secrets: source}
		stop := e.workWith(e.Client, o, func(ctx context.Context, j *wire.Job) error {
			a := conveyor.FromContext(ctx)
			got <- string(j.GetPayload())
			a.Log(string(j.GetPayload()))
			if j.GetUuid() == "again" && a.Fence() == 1 {
				source.value.Store("value-1")
				return conveyor.RetryAfter(errors.New("not with "+string(j.GetPayload())), 0)
			}
			return nil
		})
		e.add(job("once", asks(e, k, "env:PW")))
		e.want("value-0", <-got)
		e.becomes("once", conveyor.StateCompleted)
		e.add(job("again", asks(e, k, "env:PW")))
		e.want([]string{"value-0", "value-1"}, []string{<-got, <-got})
		e.becomes("again", conveyor.StateCompleted)
		failure, err := e.Failure(e.Context(), "again")
		e.ok(err)
		e.want("not with ***", failure)

		e.add(job("all", toAll, asks(e, k, "env:PW")))
		e.want("value-1", <-got)
		e.add(job("forged", func(j *wire.Job) {
			j.Secrets, j.Payload = []string{"env:PW"}, []byte(conveyor.SecretText("env:PW"))
		}))
		e.becomes("forged", conveyor.StateOnHold)
		e.add(job("root", every("1 hour"), asks(e, k, "env:PW")))
		e.tickAt(firstHour)
		e.want("value-1", <-got)
		e.becomes(occ("root", "root", firstHour), conveyor.StateCompleted)
		workers, err := e.Workers(e.Context())
		e.ok(err)
		e.want([]string{"env:PW"}, workers[0].Secrets)
		stop()
		log, err := e.Logs(e.Context(), "once", conveyor.LogPosition{}, 10, 0)
		e.ok(err)
		e.want("***\n", string(log[0].Text))
	})
}
