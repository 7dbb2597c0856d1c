package conveyor

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestListenerQueue(t *testing.T) {
	t.Parallel()
	message := func(i int) Message { return Message{Name: fmt.Sprint(i)} }
	t.Run("a slow listener holds up nobody, and learns that it missed something", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			var slow, quick []string
			h := newHearing(nil, slog.New(slog.DiscardHandler))
			add := func(heard func(Message)) *listener {
				l := &listener{uuid: "a", event: AnyEvent, scope: Local, heard: heard, logger: h.logger}
				h.topics["a"] = &topic{listeners: append(h.topicOf("a"), l)}
				return l
			}
			add(func(m Message) {
				<-gate
				slow = append(slow, fmt.Sprint(m.Name, m.Missed))
			})
			add(func(m Message) { quick = append(quick, m.Name) })
			const n = maxWaiting + 3
			for i := range n {
				m := message(i)
				m.UUID = "a"
				h.near(m)
				synctest.Wait()
			}
			if len(quick) != n || len(slow) != 0 {
				t.Errorf("%d and %d heard", len(quick), len(slow))
			}
			close(gate)
			synctest.Wait()
			// The first was being heard; two of the next had to go.
			if diff := cmp.Diff([]string{"0false", "3true", "4false"}, slow[:3]); diff != "" || len(slow) != maxWaiting+1 {
				t.Errorf("%d heard (-want +got):\n%s", len(slow), diff)
			}
		})
	})
	t.Run("after its end nothing comes in; what waits is heard or dropped", func(t *testing.T) {
		for _, drop := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				var heard []string
				l := &listener{event: AnyEvent, heard: func(m Message) { <-gate; heard = append(heard, m.Name) }}
				l.put(message(1))
				synctest.Wait()
				l.put(message(2))
				l.end(drop)
				l.put(message(3))
				close(gate)
				synctest.Wait()
				want := []string{"1", "2"}
				if drop {
					want = want[:1]
				}
				if diff := cmp.Diff(want, heard); diff != "" {
					t.Errorf("drop %v (-want +got):\n%s", drop, diff)
				}
			})
		}
	})
	t.Run("a panic is logged, and the end of the goroutine is no end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var logged bytes.Buffer
			var heard []string
			l := &listener{uuid: "a", event: AnyEvent, logger: slog.New(slog.NewTextHandler(&logged, nil)), heard: func(m Message) {
				heard = append(heard, m.Name)
				switch m.Name {
				case "0":
					panic("oh")
				case "1":
					runtime.Goexit()
				}
			}}
			for i := range 3 {
				l.put(message(i))
			}
			synctest.Wait()
			if diff := cmp.Diff([]string{"0", "1", "2"}, heard); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
			if !strings.Contains(logged.String(), "panic=oh") || !strings.Contains(logged.String(), "listener_test.go") {
				t.Errorf("logged %s", logged.String())
			}
		})
	})
}

// topicOf are the listeners of a job.
func (h *hearing) topicOf(uuid string) []*listener {
	if t := h.topics[uuid]; t != nil {
		return t.listeners
	}
	return nil
}

func TestAnnouncementsOf(t *testing.T) {
	t.Parallel()
	s := func(state State, fence int64, attempts int, change ...func(*Status)) Status {
		s := Status{State: state, Fence: fence, Attempts: attempts, Opening: 1}
		for _, f := range change {
			f(&s)
		}
		return s
	}
	opening2 := func(s *Status) { s.Opening = 2 }
	ofChild := func(s *Status) { s.ChildFailed = true }
	tests := []struct {
		name        string
		prior, next Status
		want        string
	}{
		{"added", Status{}, s(StateQueued, 0, 0), ""},
		{"first seen completed", Status{}, s(StateCompleted, 1, 0), "started success"},
		{"first seen failed once", Status{}, s(StateFailed, 1, 1), "started failure"},
		{"first seen after a retry", Status{}, s(StateScheduled, 1, 1), "retry started"},
		{"started", s(StateQueued, 0, 0), s(StateRunning, 1, 0), "started"},
		{"own work done", s(StateRunning, 1, 0), s(StateClosing, 1, 0), ""},
		{"completed", s(StateClosing, 1, 0), s(StateCompleted, 1, 0), "success"},
		{"a child failed", s(StateClosing, 1, 0), s(StateFailed, 1, 0, ofChild), "failure"},
		{"failed for good", s(StateRunning, 3, 2), s(StateFailed, 3, 3), "failure"},
		{"attempts left", s(StateRunning, 1, 0), s(StateScheduled, 1, 1), "retry"},
		{"attempts left, started by the same call", s(StateRunning, 1, 0), s(StateRunning, 2, 1), "retry started"},
		{"handed back", s(StateRunning, 1, 0), s(StateQueued, 1, 0), ""},
		{"lost too often", s(StateRunning, 5, 0), s(StateFailed, 5, 0), "failure"},
		{"on hold", s(StateRunning, 3, 2), s(StateOnHold, 3, 3), "failure"},
		{"released", s(StateOnHold, 3, 3), s(StateQueued, 3, 0), "retry"},
		{"released, run and on hold again, unseen", s(StateOnHold, 3, 3), s(StateOnHold, 6, 3), "retry started failure"},
		{"cancelled while it waits", s(StateQueued, 0, 0), s(StateCancelled, 0, 0), "cancelled"},
		{"cancelled on hold", s(StateOnHold, 3, 3), s(StateCancelled, 3, 3), "cancelled"},
		{"an attempt that fails after the cancel", s(StateRunning, 1, 0), s(StateCancelled, 1, 1), "cancelled"},
		{"retried by hand", s(StateFailed, 3, 3), s(StateQueued, 3, 0, opening2), "retry"},
		{"reopened", s(StateCompleted, 1, 0), s(StateClosing, 1, 0, opening2), ""},
		{"reopened after a child failed", s(StateFailed, 1, 0, ofChild), s(StateClosing, 1, 0, opening2), ""},
		{"reopened and over, unseen", s(StateCompleted, 1, 0), s(StateCompleted, 1, 0, opening2), "success"},
		{"failed once and then completed, unseen", s(StateQueued, 0, 0), s(StateCompleted, 2, 1), "retry started success"},
		{"skipped", s(StateHeld, 0, 0), s(StateSkipped, 0, 0), "skipped"},
		{"expired", s(StateQueued, 0, 0), s(StateExpired, 0, 0), "expired"},
		{"obsolete", s(StateQueued, 0, 0), s(StateObsolete, 0, 0), "obsolete"},
		{"removed", s(StateCompleted, 1, 0), Status{}, "removed"},
		{"never there", Status{}, Status{}, ""},
		{"nothing new", s(StateRunning, 1, 0), s(StateRunning, 1, 0), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(announcements(tt.prior, tt.next), " "); got != tt.want {
				t.Errorf("announced %q, want %q", got, tt.want)
			}
		})
	}
}
