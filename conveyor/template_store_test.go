package conveyor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// hash reads fields of a hash; those that are missing or empty are left out.
func (e *engine) hash(name string) map[string]string {
	e.Helper()
	all, err := e.rdb.HGetAll(e.Context(), e.key(name)).Result()
	e.ok(err)
	for k, v := range all {
		if v == "" {
			delete(all, k)
		}
	}
	return all
}

// members are those of a sorted set, in its order.
func (e *engine) ranked(name string) string {
	e.Helper()
	all, err := e.rdb.ZRange(e.Context(), e.key(name), 0, -1).Result()
	e.ok(err)
	return strings.Join(all, " ")
}

func (e *engine) want(want, got any) {
	e.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		e.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTemplateIsStored(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("h", downstream, after(0, "c")), job("c2", downstream, under("r")), job("c", downstream, under("r"), after(0, "once")), job("r", every("1 hour"), labelled("a=b")))
		e.states("h template, c2 template, c template, r template")
		e.want(map[string]string{"kind": "s", "when": "every hour", "catchup": "l", "overlap": "a", "max": "0", "since": fmt.Sprint(start), "entry": "h1|q|"}, e.hash("template:r"))
		e.want(map[string]string{"kind": "d", "catchup": "l", "overlap": "a", "max": "0", "entry": "h1|q|", "edges": "?p:r,?s:once::1"}, e.hash("template:c"))
		e.want("c2 c", e.ranked("emits:r:children"))
		e.want("h", e.ranked("emits:c:heirs"))
		e.want("c", e.ranked("emits:once:heirs"))
		e.want(map[string]string{"r": fmt.Sprint(start)}, e.scores("ticks"))
		e.nothing()
		before := dump(e)
		e.add(job("r", every("2 hours")))
		e.want(before, dump(e))

		found, err := e.Exists(e.Context(), map[string]string{"a": "b"})
		e.ok(err)
		e.want(true, found)

		stored := &wire.Job{}
		bytes, err := e.rdb.Get(e.Context(), e.key("jobs:r")).Bytes()
		e.ok(err)
		e.ok(proto.Unmarshal(bytes, stored))
		e.want("1 hour", stored.Schedule.Every)
	})
}

func TestTemplateAndJobStayWhatTheyAre(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("j"), job("r", every("1 hour")))
		before := dump(e)
		e.refused(e.Update(e.Context(), job("j", every("1 hour"))), conveyor.ErrTemplate)
		e.refused(e.Update(e.Context(), job("r")), conveyor.ErrTemplate)
		e.want(before, dump(e))
	})
}
