package conveyor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/wire"
)

// template writes a template as the scripts leave it.
func (e *engine) template(uuid string, fields map[string]string) {
	e.Helper()
	bytes, err := proto.Marshal(&wire.Job{Uuid: uuid, Type: "noop", Queue: "q", Name: "job." + uuid})
	e.ok(err)
	e.ok(e.rdb.HSet(e.Context(), e.key("status"), uuid, "t1|q|").Err())
	e.ok(e.rdb.Set(e.Context(), e.key("jobs:"+uuid), bytes, 0).Err())
	if len(fields) > 0 {
		e.ok(e.rdb.HSet(e.Context(), e.key("template:"+uuid), fields).Err())
	}
}

func TestReadTemplates(t *testing.T) {
	tick := func(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
	const hour = 3_600_000
	status := func(uuid string) conveyor.Status {
		return conveyor.Status{UUID: uuid, State: conveyor.StateTemplate, Queue: "q", Priority: 1, Opening: 1}
	}
	onBoth(t, func(e *engine) {
		read := func(e *engine, uuid string, want conveyor.Template) {
			e.Helper()
			got, err := e.Templates(e.Context(), []string{uuid})
			e.ok(err)
			want.UUID, want.Name, want.Status = uuid, "job."+uuid, status(uuid)
			if want.Sync == nil {
				want.Sync = map[string]string{}
			}
			if diff := cmp.Diff([]conveyor.Template{want}, got); diff != "" {
				e.Errorf("(-want +got)\n%s", diff)
			}
		}
		alone := func(name string, test func(e *engine)) {
			e.Run(name, func(e *engine) { e = newEngine(e, e.rdb); test(e) })
		}
		for _, row := range []struct {
			name   string
			fields map[string]string
			want   conveyor.Template
		}{
			{"no tick has seen it", map[string]string{"kind": "s", "when": "every 1 hour"},
				conveyor.Template{Kind: conveyor.TemplateScheduled, When: "every 1 hour", Next: tick(start - start%hour + hour)}},
			{"one that was resumed in the past", map[string]string{"kind": "s", "when": "every 1 hour", "since": "3600000"},
				conveyor.Template{Kind: conveyor.TemplateScheduled, When: "every 1 hour", Since: tick(hour), Next: tick(2 * hour)}},
			{"one that is late", map[string]string{"kind": "s", "when": "every 1 hour", "since": "3600000", "next": "7200000"},
				conveyor.Template{Kind: conveyor.TemplateScheduled, When: "every 1 hour", Since: tick(hour), Next: tick(2 * hour)}},
			{"disabled", map[string]string{"kind": "s", "when": "every 1 hour", "since": "3600000", "next": "7200000", "off": "1", "catchup": "none", "overlap": "skip"},
				conveyor.Template{Kind: conveyor.TemplateScheduled, When: "every 1 hour", Since: tick(hour), Disabled: true,
					Catchup: wire.Schedule_NONE, Overlap: wire.Schedule_SKIP}},
			{"paused", map[string]string{"kind": "s", "when": "every 1 hour", "next": "7200000", "hand": "1", "catchup": "all", "overlap": "replace"},
				conveyor.Template{Kind: conveyor.TemplateScheduled, When: "every 1 hour", Paused: true, Catchup: wire.Schedule_ALL, Overlap: wire.Schedule_REPLACE}},
			{"on hold", map[string]string{"kind": "s", "when": "every 1 hour", "max": "3", "used": "3", "catchup": "last", "overlap": "allow"},
				conveyor.Template{Kind: conveyor.TemplateScheduled, When: "every 1 hour", MaxCycles: 3, Cycles: 3, OnHold: true}},
			{"one cycle before", map[string]string{"kind": "s", "when": "every 1 hour", "next": "7200000", "max": "3", "used": "2"},
				conveyor.Template{Kind: conveyor.TemplateScheduled, When: "every 1 hour", MaxCycles: 3, Cycles: 2, Next: tick(2 * hour)}},
			{"a gate", map[string]string{"kind": "g"}, conveyor.Template{Kind: conveyor.TemplateGated}},
		} {
			alone(row.name, func(e *engine) {
				e.template("u", row.fields)
				row.want.Root = "u"
				read(e, "u", row.want)
			})
		}
		alone("labels, state and cycles", func(e *engine) {
			e.template("u", map[string]string{"kind": "g"})
			e.ok(e.rdb.HSet(e.Context(), e.key("template:u:gate"), "b", "1", "a", "0", "c", "-x").Err())
			e.ok(e.rdb.HSet(e.Context(), e.key("sync"), "u", "at=%,k%3D=v").Err())
			e.ok(e.rdb.HSet(e.Context(), e.key("cycles:u"), "20", "21:2:1", "3", "3:1::r").Err())
			read(e, "u", conveyor.Template{Root: "u", Kind: conveyor.TemplateGated,
				Gate: []conveyor.GateLabel{{Label: "a"}, {Label: "b", Flipped: true}, {Label: "c", Failed: "x"}},
				Sync: map[string]string{"at": "", "k=": "v"},
				Live: []conveyor.Cycle{{Tick: tick(3), Began: tick(3), Jobs: 1, Replaced: true}, {Tick: tick(20), Began: tick(21), Jobs: 2, Failed: 1}}})
		})
	})
}

func TestReadHistory(t *testing.T) {
	onBoth(t, func(e *engine) {
		e = newEngine(e, e.rdb)
		e.ok(e.rdb.RPush(e.Context(), e.key("history:u"), "3:C", "2:F", "1:s").Err())
		history := func(limit int) []conveyor.CycleOutcome {
			e.Helper()
			got, err := e.History(e.Context(), "u", limit)
			e.ok(err)
			var out []conveyor.CycleOutcome
			for _, c := range got {
				out = append(out, c.Outcome)
			}
			return out
		}
		if diff := cmp.Diff([]conveyor.CycleOutcome{conveyor.CycleCompleted, conveyor.CycleFailed, conveyor.CycleSkipped}, history(0)); diff != "" {
			e.Errorf("(-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]conveyor.CycleOutcome{conveyor.CycleCompleted}, history(1)); diff != "" {
			e.Errorf("(-want +got)\n%s", diff)
		}
		if got, err := e.History(e.Context(), "v", 0); err != nil || len(got) > 0 {
			e.Errorf("got %v, %v", got, err)
		}
		_, err := e.History(e.Context(), "a b", 0)
		e.refused(err, conveyor.ErrUUID)
		if _, err = e.History(e.Context(), "u", -1); err == nil {
			e.Error("a negative limit is taken")
		}
		e.ok(e.rdb.LPush(e.Context(), e.key("history:u"), "what").Err())
		_, err = e.History(e.Context(), "u", 0)
		e.refused(err, conveyor.ErrCorrupt)
	})
}

func TestReadMembers(t *testing.T) {
	onBoth(t, func(e *engine) {
		e.add(job("b"), job("a"))
		e.ok(e.rdb.SAdd(e.Context(), e.key("cycle:r:60000"), "b", "gone", "a").Err())
		got, err := e.Members(e.Context(), "r", time.UnixMilli(60000))
		e.ok(err)
		var uuids []string
		for _, s := range got {
			uuids = append(uuids, s.UUID+" "+s.State.String())
		}
		if diff := cmp.Diff([]string{"a queued", "b queued"}, uuids); diff != "" {
			e.Errorf("(-want +got)\n%s", diff)
		}
		_, err = e.Members(e.Context(), "", time.UnixMilli(60000))
		e.refused(err, conveyor.ErrUUID)
		e.ok(e.rdb.Del(e.Context(), e.key("cycle:r:60000")).Err())
	})
}

func TestListTemplates(t *testing.T) {
	onBoth(t, func(e *engine) {
		e = newEngine(e, e.rdb)
		e.add(job("j"))
		e.template("s", map[string]string{"kind": "s", "when": "every 1 day"})
		e.template("g", map[string]string{"kind": "g"})
		e.template("d", map[string]string{"kind": "d", "edges": "?s:j,?p:d2::1"})
		e.template("d2", map[string]string{"kind": "d", "edges": "?s:g"})
		e.template("alone", map[string]string{"kind": "d", "edges": "?s:gone"})
		got, err := e.ListTemplates(e.Context())
		e.ok(err)
		var kinds []string
		for _, t := range got {
			kinds = append(kinds, t.UUID+" "+t.Kind.String())
		}
		if diff := cmp.Diff([]string{"g gated", "s scheduled"}, kinds); diff != "" {
			e.Errorf("(-want +got)\n%s", diff)
		}
		all, err := e.Templates(e.Context(), []string{"d", "d2", "alone"})
		e.ok(err)
		if all[0].Root != "g" || all[1].Root != "g" || all[2].Root != "" || all[0].Kind != conveyor.TemplateDownstream {
			e.Errorf("roots %q %q %q", all[0].Root, all[1].Root, all[2].Root)
		}
		all, err = e.Templates(e.Context(), []string{"j", "nobody"})
		e.ok(err)
		if all[0].Kind != 0 || all[0].Status.State != conveyor.StateQueued || all[1].Kind != 0 || all[1].UUID != "nobody" {
			e.Errorf("got %+v", all)
		}
		for _, field := range []string{"since", "next", "max", "used"} {
			e.ok(e.rdb.HSet(e.Context(), e.key("template:s"), field, "x").Err())
			_, err = e.ListTemplates(e.Context())
			e.refused(err, conveyor.ErrCorrupt)
			e.ok(e.rdb.HDel(e.Context(), e.key("template:s"), field).Err())
		}
		e.ok(e.rdb.HSet(e.Context(), e.key("template:s"), "kind", "x").Err())
		_, err = e.ListTemplates(e.Context())
		e.refused(err, conveyor.ErrCorrupt)
		e.ok(e.rdb.HSet(e.Context(), e.key("template:s"), "kind", "s", "when", "now and then").Err())
		_, err = e.ListTemplates(e.Context())
		e.refused(err, conveyor.ErrCorrupt)
	})
}
