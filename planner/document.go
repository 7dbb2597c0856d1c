package planner

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/config"
)

// document is a whole job as people read it: what a definition holds, with type, queue and edges added. Values are
// those of encoding/json, numbers as json.Number.
type document map[string]any

// Document is the job of a record as canonical JSON: type, queue, uuid, edges and all that its definition holds.
func (r *Record) Document() []byte {
	d := r.document()
	d["uuid"] = r.UUID.String()
	return d.encode()
}

// Unique is the unique key of the recorded job, "" for none.
func (r *Record) Unique() string {
	if !bytes.Contains(r.Definition, []byte(`"unique":`)) {
		return ""
	}
	key, _ := decodeDefinition(r.Definition)["unique"].(string)
	return key
}

// TriggersGate are the labels of gates that the recorded job's success triggers.
func (r *Record) TriggersGate() (labels []string) {
	if !bytes.Contains(r.Definition, []byte(`"triggers_gate":`)) {
		return nil
	}
	list, _ := decodeDefinition(r.Definition)["triggers_gate"].([]any)
	for _, label := range list {
		if text, ok := label.(string); ok {
			labels = append(labels, text)
		}
	}
	return labels
}

func (r *Record) document() document {
	d := decodeDefinition(r.Definition)
	d["type"], d["queue"] = r.Type, r.Queue
	ends := make([]shownEdge, 0, len(r.Edges))
	for i := range r.Edges {
		if e := &r.Edges[i]; e.Kind != EdgeSuccessor {
			ends = append(ends, shownEdge{e.Kind, e.Group, e.Addr, e.UUID})
		}
	}
	d.addEdges(ends)
	d.addTriggers(len(r.Triggers), func(i int) config.Addr { return r.Triggers[i].Addr })
	return d
}

// addTriggers adds replace_triggered_by.
func (d document) addTriggers(n int, addr func(int) config.Addr) {
	if n == 0 {
		return
	}
	names := make([]any, n)
	for i := range names {
		names[i] = address(addr(i).String())
	}
	d["lifecycle"] = map[string]any{"replace_triggered_by": names}
}

// Before is the job that a row changes as canonical JSON, nil when there is none.
func (r *Row) Before() []byte {
	if r.Prior == nil {
		return nil
	}
	return r.Prior.Document()
}

// After is the job as it will be, as canonical JSON; nil when it is gone and in rows without action. The uuid of a new
// submission is not in it: it is known after apply.
func (r *Row) After() []byte {
	d := r.after()
	if d == nil {
		return nil
	}
	if r.keepsUUID() {
		d["uuid"] = r.Prior.UUID.String()
	}
	return d.encode()
}

func (r *Row) after() document {
	if r.Job == nil || r.Action == NoOp || r.Action == Delete || r.Action == Forget {
		return nil
	}
	if r.Leave {
		rec := *r.Prior
		rec.Edges = r.keptEdges()
		return rec.document()
	}
	d := decodeDefinition(r.Definition)
	d["type"], d["queue"] = r.Job.Type, r.Job.Queue
	if r.KeepsWork {
		d["type"] = r.Prior.Type
	}
	ends := make([]shownEdge, 0, len(r.Edges))
	for i := range r.Edges {
		t := &r.Edges[i]
		ends = append(ends, shownEdge{t.Kind, t.Group, t.Addr, t.UUID})
	}
	d.addEdges(ends)
	if c := r.Job.Lifecycle; c != nil {
		by := slices.SortedFunc(slices.Values(c.ReplacedBy), compareAddr)
		d.addTriggers(len(by), func(i int) config.Addr { return by[i] })
	}
	return d
}

// keepsUUID tells whether the row's job stays the submission it is.
func (r *Row) keepsUUID() bool {
	return r.Prior != nil && (r.Action == Update || r.Action == Rerecord || r.Action == Reopen || r.Action == NoOp)
}

func decodeDefinition(definition []byte) document {
	d := document{}
	if len(definition) == 0 {
		return d
	}
	if err := decodeJSON(definition, &d); err != nil || d == nil {
		return document{"definition": string(definition)}
	}
	return d
}

// decodeJSON keeps numbers as they are written.
func decodeJSON(raw []byte, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(to)
}

func (d document) encode() []byte {
	raw, err := encodeJSON(d)
	if err != nil {
		return []byte("{}") // not reached: decoded JSON encodes
	}
	return raw
}

// shownEdge is an edge by name, recorded or declared.
type shownEdge struct {
	kind  EdgeKind
	group int
	addr  config.Addr
	uuid  string
}

func (e *shownEdge) end() (key string, name any) {
	if e.addr != (config.Addr{}) {
		return "job", address(e.addr.String())
	}
	return "uuid", e.uuid
}

// addEdges adds the parent and predecessor blocks. Edges are in canonical order: groups are not interleaved.
func (d document) addEdges(edges []shownEdge) {
	var parents, predecessors []any
	for i := 0; i < len(edges); {
		e := &edges[i]
		key, name := e.end()
		if e.kind.Parent() {
			block := map[string]any{key: name}
			if e.kind == EdgeParentLenient {
				block["on_child_failure"] = "ignore"
			}
			parents = append(parents, block)
			i++
			continue
		}
		block := map[string]any{}
		if runIf := e.kind.runIf(); runIf != config.RunIfSuccess {
			block["run_if"] = runIf.String()
		}
		jobs, uuids := []any{}, []any{}
		n := i
		for ; n < len(edges) && !edges[n].kind.Parent() && edges[n].group == e.group; n++ {
			if key, name := edges[n].end(); key == "job" {
				jobs = append(jobs, name)
			} else {
				uuids = append(uuids, name)
			}
		}
		switch {
		case len(uuids) == 0 && len(jobs) == 1:
			block["job"] = jobs[0]
		case len(jobs) > 0:
			block["jobs"] = jobs
		}
		switch {
		case len(uuids) == 1:
			block["uuid"] = uuids[0]
		case len(uuids) > 1:
			block["uuids"] = uuids
		}
		predecessors = append(predecessors, block)
		i = n
	}
	if parents != nil {
		d["parent"] = parents
	}
	if predecessors != nil {
		d["predecessor"] = predecessors
	}
}

// runIf is the condition of a predecessor edge.
func (k EdgeKind) runIf() config.RunIf {
	switch k {
	case EdgeFailure:
		return config.RunIfFailure
	case EdgeAlways, EdgeSuccessor:
		return config.RunIfAlways
	default:
		return config.RunIfSuccess
	}
}

// isWork tells whether a member of a document is part of the work: a change of it runs the job again.
func isWork(key string) bool {
	return strings.Contains(" exec http inputs payload payload_base64 protobuf run_at sleep triggers type ", " "+key+" ")
}
