package conveyor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// mq is one message queue under test.
type mq struct {
	*engine
	q *conveyor.MessageQueue
}

// task is one for a message queue; its priority is 1 unless changed.
func task(id string, change ...func(*wire.Job)) *wire.Job {
	j := &wire.Job{Uuid: id, Priority: proto.Int32(1), Payload: []byte(id)}
	for _, f := range change {
		f(j)
	}
	return j
}

func reservedFor(d time.Duration) func(*wire.Job) {
	return func(j *wire.Job) { j.ReserveFor = durationpb.New(d) }
}

func (m *mq) push(tasks ...*wire.Job) {
	m.Helper()
	for _, t := range tasks {
		_, err := m.q.Push(m.Context(), t)
		m.ok(err)
	}
}

// next reserves a task and wants this one; "" wants that nothing is there.
func (m *mq) next(want string) *conveyor.Reservation {
	m.Helper()
	r, err := m.q.Reserve(m.Context())
	m.ok(err)
	got := ""
	if r != nil {
		got = r.Job.Uuid
	}
	if got != want {
		m.Fatalf("reserved %q, want %q", got, want)
	}
	return r
}

func (m *mq) nexts(want ...string) (all []*conveyor.Reservation) {
	m.Helper()
	for _, id := range want {
		all = append(all, m.next(id))
	}
	return all
}

func (m *mq) drop(rs ...*conveyor.Reservation) {
	m.Helper()
	for _, r := range rs {
		m.ok(m.q.Delete(m.Context(), r))
	}
}

// onQueue runs behaviours, each on a message queue of its own; every task must be deleted in the end.
func onQueue(t *testing.T, rows map[string]func(m *mq)) {
	onBoth(t, func(e *engine) {
		for name, test := range rows {
			e.Behaviour(name, func(e *engine) {
				id, _, _ := strings.Cut(name, " ")
				q, err := e.MessageQueue("mq-"+id, conveyor.MessageQueueOptions{})
				e.ok(err)
				m := &mq{e, q}
				test(m)
				m.next("")
				if i := e.info("mq-" + id); i.Running != 0 || i.Depth != [3]int64{} {
					e.Errorf("left: %+v", i)
				}
			})
		}
	})
}

func TestMessageQueue(t *testing.T) {
	onQueue(t, map[string]func(m *mq){
		"E1a push, reserve, delete; higher first, FIFO inside": func(m *mq) {
			in := task("E1a-n1")
			stored, err := m.q.Push(m.Context(), in)
			m.ok(err)
			if stored.Queue != "mq-E1a" || stored.Type != conveyor.DefaultTaskType || in.Queue != "" {
				m.Errorf("stored %v, given %v", stored, in)
			}
			m.push(task("E1a-n2"), task("E1a-l1", lane(0)), task("E1a-h1", lane(2)), task("E1a-h2", lane(2)), task("E1a-l2", lane(0)))
			all := m.nexts("E1a-h1", "E1a-h2", "E1a-n1", "E1a-n2", "E1a-l1", "E1a-l2")
			if string(all[0].Job.Payload) != "E1a-h1" || all[0].Fence != 1 {
				m.Errorf("%+v", all[0])
			}
			m.drop(all...)
		},
		"E1b an error from Push: not queued": func(m *mq) {
			broken := m.key("queue:mq-E1b")
			m.ok(m.rdb.Set(m.Context(), broken, "x", 0).Err())
			if _, err := m.q.Push(m.Context(), task("E1b-a")); !errors.Is(err, conveyor.ErrPush) {
				m.Errorf("got %v", err)
			}
			ended, cancel := context.WithCancel(m.Context())
			cancel()
			if _, err := m.q.Push(ended, task("E1b-b", lane(2))); !errors.Is(err, context.Canceled) {
				m.Errorf("got %v", err)
			}
			m.ok(m.rdb.Del(m.Context(), broken).Err())
			m.states("E1b-a unknown, E1b-b unknown")
		},
		"E2a exclusive, starts a timeout": func(m *mq) {
			m.push(task("E2a-a"), task("E2a-b", reservedFor(90*time.Second+time.Nanosecond)))
			a := m.next("E2a-a")
			m.next("E2a-b")
			m.next("")
			m.pass(conveyor.DefaultReserveFor - time.Millisecond)
			m.next("")
			m.pass(time.Millisecond)
			again := m.next("E2a-a")
			if again.Fence != a.Fence+1 || again.Attempts != 0 || again.Lost != 1 {
				m.Errorf("%+v", again)
			}
			m.drop(again)
			m.pass(30 * time.Second)
			m.next("")
			m.pass(time.Millisecond)
			m.drop(m.next("E2a-b"))
		},
		"E2b nothing there: nil, nil": func(m *mq) {
			m.next("")
			m.push(task("E2b-a"))
			m.ok(m.PauseQueue(m.Context(), "mq-E2b"))
			m.next("")
			m.ok(m.ResumeQueue(m.Context(), "mq-E2b"))
			m.drop(m.next("E2b-a"))
		},
		"E2c nothing lost on an error in the reservation itself": func(m *mq) {
			m.push(task("E2c-a"), task("E2c-b"))
			cut := &cutting{}
			m.rdb.AddHook(cut)
			ended, cancel := context.WithCancel(m.Context())
			cut.after = cancel // the store acts, and the answer is lost
			if r, err := m.q.Reserve(ended); err == nil {
				m.Fatalf("reserved %v although no answer came", r)
			}
			cut.after = nil
			m.states("E2c-a running, E2c-b queued")
			a := m.next("E2c-a")
			if a.Fence != 1 {
				m.Errorf("started %d times", a.Fence)
			}
			b := m.next("E2c-b")
			m.drop(a)
			// The same once more, but nobody asks before the time is out.
			m.push(task("E2c-c"))
			ended, cancel = context.WithCancel(m.Context())
			cut.after = cancel
			if _, err := m.q.Reserve(ended); err == nil {
				m.Fatal("no error")
			}
			cut.after = nil
			m.drop(b)
			m.pass(conveyor.DefaultReserveFor)
			m.drop(m.next("E2c-c"))
		},
		"E3a [A B C]: A reserved, B deleted, A times out: A, C": func(m *mq) {
			m.push(task("E3a-A"), task("E3a-B"), task("E3a-C"))
			m.next("E3a-A")
			m.drop(m.next("E3a-B"))
			m.pass(conveyor.DefaultReserveFor)
			m.drop(m.nexts("E3a-A", "E3a-C")...)
		},
		"E3b several expiring come back in order": func(m *mq) {
			for i, seconds := range []int{50, 10, 40, 20, 30} {
				m.push(task(fmt.Sprintf("E3b-%d", i), reservedFor(time.Duration(seconds)*time.Second)))
			}
			m.push(task("E3b-5"))
			for i := range 5 {
				m.next(fmt.Sprintf("E3b-%d", i))
			}
			for range 5 { // one after another, in another order than they came
				m.pass(10 * time.Second)
				m.tick()
			}
			m.drop(m.nexts("E3b-0", "E3b-1", "E3b-2", "E3b-3", "E3b-4", "E3b-5")...)
		},
		"E3c hundreds expiring together": func(m *mq) {
			var want []string
			for i := range 450 {
				want = append(want, fmt.Sprintf("E3c-%03d", i))
				m.push(task(want[i], lane(int32(2-i/150))))
			}
			m.nexts(want...)
			m.pass(conveyor.DefaultReserveFor)
			m.push(task("E3c-last", lane(0)))
			m.drop(m.nexts(append(want, "E3c-last")...)...) // whoever asks first brings all of them back
		},
		"E4a reserved: gone for good": func(m *mq) {
			m.push(task("E4a-a"))
			r := m.next("E4a-a")
			m.drop(r, r) // the answer to the first may have been lost
			m.pass(conveyor.DefaultReserveFor)
			m.tick()
			m.next("")
			m.states("E4a-a completed")
		},
		"E4b there but not reserved: error": func(m *mq) {
			m.push(task("E4b-a"), task("E4b-later", delayed(time.Hour)))
			for _, id := range []string{"E4b-a", "E4b-later"} {
				m.refused(m.q.Delete(m.Context(), &conveyor.Reservation{Job: task(id)}), conveyor.ErrNotReserved)
			}
			r := m.next("E4b-a")
			m.pass(conveyor.DefaultReserveFor)
			m.tick()
			m.refused(m.q.Delete(m.Context(), r), conveyor.ErrNotReserved)
			m.drop(m.next("E4b-a"))
			m.ok(m.Cancel(m.Context(), "E4b-later"))
		},
		"E4c unknown: success": func(m *mq) {
			m.drop(&conveyor.Reservation{Job: task("E4c-never")}, &conveyor.Reservation{Job: task("E4c-never"), Fence: 3})
		},
		"E4d a late delete does not touch another's reservation": func(m *mq) {
			m.push(task("E4d-a"))
			late := m.next("E4d-a")
			m.pass(conveyor.DefaultReserveFor)
			now := m.next("E4d-a")
			m.refused(m.q.Delete(m.Context(), late), conveyor.ErrReservedElsewhere)
			m.refused(m.q.Delete(m.Context(), &conveyor.Reservation{Job: task("E4d-a")}), conveyor.ErrReservedElsewhere)
			m.states("E4d-a running")
			m.drop(now, late)
		},
		"E5a delay": func(m *mq) {
			m.push(task("E5a-late", lane(2), delayed(5*time.Second)), task("E5a-now"))
			m.drop(m.next("E5a-now"))
			m.pass(5*time.Second - time.Millisecond)
			m.next("")
			m.push(task("E5a-low", lane(0)), task("E5a-high", lane(2)))
			m.pass(time.Millisecond)
			m.drop(m.nexts("E5a-high", "E5a-late", "E5a-low")...)
		},
		"E5b same id twice runs once": func(m *mq) {
			m.push(task("E5b-a"), task("E5b-a", lane(2)))
			r := m.next("E5b-a")
			m.push(task("E5b-a"))
			m.next("")
			m.drop(r)
			m.push(task("E5b-a"))
		},
		"E6a distinct errors": func(m *mq) {
			push := func(t *wire.Job) error { _, err := m.q.Push(m.Context(), t); return err }
			m.push(task("E6a-a"))
			wrong := map[error]error{
				conveyor.ErrNilTask:         push(nil),
				conveyor.ErrEmptyID:         push(task("")),
				conveyor.ErrMissingPriority: push(&wire.Job{Uuid: "E6a-b"}),
				conveyor.ErrPriorityRange:   push(task("E6a-b", lane(3))),
				conveyor.ErrNotReserved:     m.q.Delete(m.Context(), &conveyor.Reservation{Job: task("E6a-a")}),
			}
			m.next("E6a-a")
			wrong[conveyor.ErrReservedElsewhere] = m.q.Delete(m.Context(), &conveyor.Reservation{Job: task("E6a-a"), Fence: 7})
			for want := range wrong {
				for other, err := range wrong {
					if errors.Is(err, want) != (want == other) {
						m.Errorf("%v: is it %q: %v", err, want, errors.Is(err, want))
					}
				}
			}
			m.refused(push(task("E6a-b", lane(-1))), conveyor.ErrPriorityRange)
			m.refused(m.q.Delete(m.Context(), nil), conveyor.ErrNilTask)
			m.refused(m.q.Delete(m.Context(), &conveyor.Reservation{Job: &wire.Job{}}), conveyor.ErrEmptyID)
			m.refused(push(task("a b")), conveyor.ErrUUID)
			m.refused(push(task("E6a-b", reservedFor(-time.Second))), conveyor.ErrTime)
			m.states("E6a-b unknown")
			m.drop(&conveyor.Reservation{Job: task("E6a-a"), Fence: 1})
		},
		"E6b a poison entry blocks nothing and is set aside": func(m *mq) {
			ctx, list := m.Context(), m.key("queue:mq-E6b")
			m.push(task("E6b-a"), task("E6b-spoilt"), task("E6b-b"))
			entries := m.rdb.LRange(ctx, list, 0, -1).Val()
			spoilt := entries[1][:len(entries[1])-3] // its last field is cut off
			m.ok(m.rdb.LSet(ctx, list, 1, spoilt).Err())
			m.ok(m.rdb.RPush(ctx, list, "\xff\xff not a job").Err())
			m.drop(m.nexts("E6b-a", "E6b-b")...)
			m.next("") // acknowledges what it met
			m.states("E6b-spoilt failed")
			aside := m.rdb.LRange(ctx, m.key("setaside"), 0, -1).Val()
			if !slices.ContainsFunc(aside, func(s string) bool { return strings.Contains(s, "not a job") }) {
				m.Errorf("set aside: %q", aside)
			}
			if kept := m.rdb.HGet(ctx, m.key("failed"), "E6b-spoilt").Val(); kept != spoilt {
				m.Errorf("kept: %q", kept)
			}
		},
	})
}

func TestMessageQueueOptions(t *testing.T) {
	onBoth(t, func(e *engine) {
		_, err := e.MessageQueue("a:b", conveyor.MessageQueueOptions{ReserveFor: time.Microsecond})
		e.refused(err, conveyor.ErrQueueName)
		if err == nil || !strings.Contains(err.Error(), "ReserveFor") {
			e.Errorf("%v does not name the field", err)
		}
		q, err := e.MessageQueue("own", conveyor.MessageQueueOptions{ReserveFor: 5 * time.Second, Type: "mail"})
		e.ok(err)
		m := &mq{e, q}
		m.push(task("a"), task("b", func(j *wire.Job) { j.Type = "letter" }))
		types := []string{m.next("a").Job.Type, m.next("b").Job.Type}
		if diff := cmp.Diff([]string{"mail", "letter"}, types); diff != "" {
			e.Error(diff)
		}
		for range 8 { // however often: no limit of lost leases unless the task sets one
			m.pass(5 * time.Second)
			m.nexts("a", "b")
		}
		m.drop(&conveyor.Reservation{Job: task("a"), Fence: 9}, &conveyor.Reservation{Job: task("b"), Fence: 9})
	})
}

// cutting calls after when a script was run and before its answer is read: with the end of a context, the answer is lost.
type cutting struct{ after func() }

func (c *cutting) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *cutting) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if c.after == nil || !redistest.IsScript(cmd) || !slices.Contains(cmd.Args(), any("mq-E2c")) {
			return next(ctx, cmd)
		}
		err := next(context.WithoutCancel(ctx), cmd)
		if err == nil {
			c.after()
			err = context.Canceled
			cmd.SetErr(err)
		}
		return err
	}
}

func (c *cutting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
