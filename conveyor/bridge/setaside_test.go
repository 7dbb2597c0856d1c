package bridge

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
	"github.com/waybill-dev/waybill/internal/conveyorstand"
)

// TestSetAside keeps what cannot be a job, wherever it lies, and goes on with the rest.
func TestSetAside(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var told []string
	b, w := r.bridge("1", fromClients, func(o *Options) {
		o.Observe = func(e Event) {
			if e.Kind == SetAside {
				told = append(told, e.UUID+": "+e.Detail)
			}
		}
	}), r.worker("theirs")
	push := func(key string, entries ...any) {
		t.Helper()
		if err := r.rdb.LPush(r.ctx, key, entries...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	r.add(job("known"))
	if err := r.client.Cancel(r.ctx, "known"); err != nil {
		t.Fatal(err)
	}
	q := conveyorstand.Queue(queue)
	push(q, "", "\x0a", "no protobuf", "\x0a\x02\xff\xfe", "\x1a\x01q")
	r.enqueue(theirs("known"), theirs("a b"), theirs("time", func(j *wire.Job) { j.RunAt = &timestamppb.Timestamp{Nanos: -1} }))
	push(conveyorstand.Job("a")+":children", "\x0a\x05")
	r.enqueue(theirs("child", childOf("a")), theirs("a"))
	r.finished(b, w, "a", "child")
	r.wantStates("a completed child completed known cancelled", "a", "child", "known")
	n, err := b.SetAsideCount(r.ctx)
	if err != nil || n != 9 || len(told) != 9 {
		t.Errorf("%d set aside, %d told, %v; want 9", n, len(told), err)
	}
	all := strings.Join(told, "\n")
	for _, want := range []string{": an entry of conv:queue:shop.Order", "known: a job of this uuid is here already, and is cancelled",
		"a b: " + conveyor.ErrUUID.Error(), "time: ", "\xff\xfe: it is no job"} {
		if !strings.Contains(all, want) {
			t.Errorf("it does not tell %q:\n%s", want, all)
		}
	}
	entries, err := r.rdb.LRange(r.ctx, b.SetAsideKey(), 0, -1).Result()
	if err != nil || entries[0] != q+" " || entries[2] != q+" no protobuf" {
		t.Errorf("set aside are %q, %v", entries, err)
	}
	r.wantTheirs(b.SetAsideKey())
}
