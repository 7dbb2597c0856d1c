package conveyor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

// TestWorkerReturnsStrays has beats name attempts that the worker does not name: it hands back what it does not have, and nothing else.
func TestWorkerReturnsStrays(t *testing.T) {
	t.Parallel()
	stray := Ack{UUID: "u7", Fence: 3, Verdict: VerdictBack}
	own := Ack{UUID: "u1", Fence: 1, Verdict: VerdictDone}
	tests := []struct {
		name  string
		beats int // that name them
		lost  int // replies of exchanges, from the one that reserves u1 on
		named []Holding
		want  []Ack
	}{
		{"named by one beat", 1, 0, []Holding{{"u7", 3}}, []Ack{own}},
		{"named by two beats in a row", 2, 0, []Holding{{"u7", 3}}, []Ack{stray, own}},
		{"running here", 2, 0, []Holding{{"u1", 1}, {"u7", 3}}, []Ack{stray, own}},
		{"reserved by a call whose reply is late", 2, 12, []Holding{{"u1", 1}}, []Ack{own}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeStore()
				w := fakeWorker(t, f, WorkerOptions{})
				w.HandleRaw("t", func(context.Context, *wire.Job) error { elapse(30 * time.Second); return nil })
				stop := running(t, w)
				synctest.Wait()
				left, beats := tt.lost, 0
				f.look(func() {
					f.reply = BeatReply{Unknown: tt.named}
					f.fail = func(call string, done bool) error {
						switch {
						case call == "beat" && done:
							if beats++; beats == tt.beats {
								f.reply = BeatReply{}
							}
						case call == "exchange" && done && left > 0:
							left--
							return errLost
						}
						return nil
					}
				})
				f.put(numbered(1))
				elapse(2 * time.Minute)
				if err := stop(); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(tt.want, f.acks); diff != "" {
					t.Errorf("acknowledgements (-want +got):\n%s", diff)
				}
				if left > 0 || beats <= tt.beats {
					t.Errorf("%d replies were not lost, %d beats", left, beats)
				}
			})
		})
	}
}
