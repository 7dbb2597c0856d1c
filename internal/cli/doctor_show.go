package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/tui/screen"
)

// shownAtMost bounds how many of one kind are listed for people.
const shownAtMost = 50

// clean is what the store said as it may go to a terminal.
func clean(s string) string { return screen.CleanText(s) }

// showHealth writes what doctor found, for people.
func (a *app) showHealth(s *store, r roll, c *checkup) {
	out, ink := a.p.Stdout, a.ink(a.p.Stdout)
	about := fmt.Sprintf("Namespace %q, %s.", s.client.Namespace(), s.name)
	if s.workflow != "" {
		about = s.line()
	}
	fmt.Fprintln(out, about)
	if text := servedBy(s, c.server); text != "" {
		fmt.Fprintln(out, clean(text))
	}
	section := func(n int, one, many, explanation string, line func(i int) string) {
		if n == 0 {
			return
		}
		fmt.Fprintf(out, "\n%s %s\n", ink.Bold(countOf(int64(n), one, many)+"."), explanation)
		for i := range min(n, shownAtMost) {
			fmt.Fprintf(out, "  %s\n", line(i))
		}
		if n > shownAtMost {
			fmt.Fprintf(out, "  ... and %d more\n", n-shownAtMost)
		}
	}
	if c.store != nil {
		fmt.Fprintf(out, "\n%s %s\n", ink.Bold("The store is not fit."), clean(sentence(c.store.Error())))
	}
	if c.state != nil {
		fmt.Fprintf(out, "\n%s %s\n", ink.Bold("The state of the workflow cannot be read."), clean(sentence(c.state.Error())))
	}
	if c.keyring != nil {
		fmt.Fprintf(out, "\n%s %s\n", ink.Bold("The keys here cannot be used."), clean(asDiagnostic(c.keyring).Detail))
	}
	section(len(c.Violations), "broken promise", "broken promises", "What follows --> is how -fix repairs it.", func(i int) string {
		v := c.Violations[i]
		who := ""
		if v.UUID != "" {
			who = r.name(v.UUID) + ": "
		}
		return clean(fmt.Sprintf("%s %s%s: %s", v.Invariant, who, strings.TrimPrefix(v.Key, s.client.Prefix()), v.Detail)) + "\n    --> " + clean(r.named(v.Repair))
	})
	section(len(c.Orphans), "orphan", "orphans", "Jobs that wait for others that never came, or were withdrawn. Apply their workflow, or cancel them.", func(i int) string {
		return orphanLine(r, c.Orphans[i])
	})
	section(len(c.SetAside), "entry set aside", "entries set aside", "Nobody could work with them. -put-back adds again what is a job, -drop removes them.", func(i int) string {
		return setAsideLine(c.SetAside[i], s.client.Prefix())
	})
	section(len(c.Damaged), "damaged key", "damaged keys", "Moved out of the way by a repair and kept for you. -drop removes them.", func(i int) string {
		return clean(s.client.Prefix() + c.Damaged[i])
	})
	section(len(c.Silent), "silent worker", "silent workers", "Their jobs are taken back by the next worker that looks, or by -fix.", func(i int) string {
		w := c.Silent[i]
		return fmt.Sprintf("%s on %s, last seen %s, with %s", clean(w.ID), clean(w.Host), w.LastBeat.UTC().Format(time.RFC3339), countOf(int64(w.Load), "job", "jobs"))
	})
	section(len(c.Refused), "job refused", "jobs refused", "They are on hold: they are not what their key signed or sealed. Look at them, then apply their workflow with -replace=ADDR, or cancel them.", func(i int) string {
		j := c.Refused[i]
		return clean(fmt.Sprintf("%s in queue %s: %s", r.name(j.UUID), j.Queue, j.Reason))
	})
	section(len(c.keys), "key is still needed", "keys are still needed", "Beside the first one here. `waybill apply -rekey` signs and seals anew what needs them.", func(i int) string {
		return clean(c.keys[i].String())
	})
	section(len(c.Unserved), "queue that nobody serves", "queues that nobody serves", "Their jobs start when a worker serves them.", func(i int) string {
		q := c.Unserved[i]
		return fmt.Sprintf("%s, with %s ready", q.Name, countOf(q.Depth[0]+q.Depth[1]+q.Depth[2], "job", "jobs"))
	})
	section(len(c.Strange), "strange key", "strange keys", "They look like Waybill's and are not: nothing ever reads them.", func(i int) string {
		return clean(s.client.Prefix() + c.Strange[i])
	})
	if c.problems() == 0 {
		fmt.Fprintf(out, "\n%s\n", ink.Green("No problems found."))
	}
}

func orphanLine(r roll, o conveyor.Orphan) string {
	var parts []string
	if len(o.Unseen) > 0 {
		parts = append(parts, "waits for "+namesOf(r, o.Unseen)+", never seen")
	}
	if len(o.Cut) > 0 {
		parts = append(parts, "waits for "+namesOf(r, o.Cut)+", withdrawn")
	}
	text := r.name(o.UUID) + " " + strings.Join(parts, "; ")
	if !o.Since.IsZero() {
		text += ", since " + o.Since.UTC().Format(time.RFC3339)
	}
	return clean(text)
}

func namesOf(r roll, uuids []string) string {
	const shown = 3
	var names []string
	for _, u := range uuids[:min(len(uuids), shown)] {
		names = append(names, r.name(u))
	}
	if len(uuids) > shown {
		names = append(names, fmt.Sprintf("%d more", len(uuids)-shown))
	}
	return strings.Join(names, ", ")
}

func setAsideLine(e conveyor.SetAsideEntry, prefix string) string {
	text := strings.TrimPrefix(e.Key, prefix) + ": "
	if e.Job != nil {
		text += fmt.Sprintf("job %s of type %s for queue %s", e.Job.Uuid, e.Job.Type, e.Job.Queue)
		if err := e.Addable(); err != nil {
			text += ", which cannot be added: " + err.Error()
		}
		return clean(text)
	}
	const shown = 60
	bytes := string(e.Bytes[:min(len(e.Bytes), shown)])
	text += fmt.Sprintf("%d bytes: %q", len(e.Bytes), bytes)
	if len(e.Bytes) > shown {
		text += "..."
	}
	return clean(text)
}

type shownViolation struct {
	Invariant string `json:"invariant"`
	UUID      string `json:"uuid,omitempty"`
	Address   string `json:"address,omitempty"`
	Key       string `json:"key"`
	Detail    string `json:"detail"`
	Repair    string `json:"repair"`
}

type shownOrphan struct {
	UUID    string   `json:"uuid"`
	Address string   `json:"address,omitempty"`
	Unseen  []string `json:"unseen,omitempty"`
	Cut     []string `json:"cut,omitempty"`
	Since   string   `json:"since,omitempty"`
}

type shownAside struct {
	Key   string `json:"key"`
	UUID  string `json:"uuid,omitempty"`
	Type  string `json:"type,omitempty"`
	Bytes []byte `json:"bytes"` // base64
}

type shownSilent struct {
	ID       string `json:"id"`
	Host     string `json:"host"`
	LastBeat string `json:"last_beat"`
	Jobs     int    `json:"jobs"`
}

type shownRefused struct {
	UUID    string `json:"uuid"`
	Address string `json:"address,omitempty"`
	Queue   string `json:"queue"`
	Reason  string `json:"reason"`
}

// servedBy says which server has the namespace; "" where nothing is known of it.
func servedBy(s *store, server conveyor.Server) string {
	what := "server"
	switch s.kind {
	case cluster:
		what = "node of its slot"
	case bySentinels:
		what = "primary in force"
	}
	switch {
	case server.Address != "" && server.Version != "":
		return fmt.Sprintf("The %s is %s, %s.", what, server.Address, server.Version)
	case server.Address != "" || server.Version != "":
		return fmt.Sprintf("The %s is %s.", what, server.Address+server.Version)
	}
	return ""
}

// writeJSON writes what is left, and what was done.
func (d *doctoring) writeJSON(c *checkup) error {
	out := struct {
		Format     string           `json:"format_version"`
		Namespace  string           `json:"namespace"`
		Server     string           `json:"server_version,omitempty"`
		Address    string           `json:"server_address,omitempty"`
		Store      string           `json:"store_problem,omitempty"`
		State      string           `json:"state_problem,omitempty"`
		Keyring    string           `json:"keys_problem,omitempty"`
		Problems   int              `json:"problems"`
		Violations []shownViolation `json:"violations"`
		Orphans    []shownOrphan    `json:"orphans"`
		SetAside   []shownAside     `json:"set_aside"`
		Damaged    []string         `json:"damaged_keys"`
		Strange    []string         `json:"strange_keys"`
		Silent     []shownSilent    `json:"silent_workers"`
		Unserved   []string         `json:"unserved_queues"`
		Refused    []shownRefused   `json:"refused"`
		Keys       []neededKey      `json:"needed_keys"`
		Repaired   []shownViolation `json:"repaired,omitempty"`
		PutBack    []string         `json:"put_back,omitempty"`
		Dropped    []string         `json:"dropped,omitempty"`
		Undone     []string         `json:"not_done,omitempty"`
	}{Format: "1.0", Namespace: d.store.client.Namespace(), Server: c.server.Version, Address: c.server.Address, Problems: c.problems(), Violations: []shownViolation{}, Orphans: []shownOrphan{},
		SetAside: []shownAside{}, Damaged: append([]string{}, c.Damaged...), Strange: append([]string{}, c.Strange...), Silent: []shownSilent{},
		Unserved: []string{}, Refused: []shownRefused{}, Keys: append([]neededKey{}, c.keys...), PutBack: d.putBackUUIDs, Dropped: d.dropped, Undone: d.undone}
	if c.store != nil {
		out.Store = c.store.Error()
	}
	if c.state != nil {
		out.State = c.state.Error()
	}
	if c.keyring != nil {
		out.Keyring = asDiagnostic(c.keyring).Detail
	}
	for _, v := range c.Violations {
		out.Violations = append(out.Violations, d.shown(v))
	}
	for _, v := range d.repaired {
		out.Repaired = append(out.Repaired, d.shown(v.Violation))
	}
	for _, o := range c.Orphans {
		s := shownOrphan{UUID: o.UUID, Address: d.roll.addresses[o.UUID], Unseen: o.Unseen, Cut: o.Cut}
		if !o.Since.IsZero() {
			s.Since = o.Since.UTC().Format(time.RFC3339)
		}
		out.Orphans = append(out.Orphans, s)
	}
	for _, e := range c.SetAside {
		out.SetAside = append(out.SetAside, shownAside{e.Key, e.Job.GetUuid(), e.Job.GetType(), e.Bytes})
	}
	for _, w := range c.Silent {
		out.Silent = append(out.Silent, shownSilent{w.ID, w.Host, w.LastBeat.UTC().Format(time.RFC3339), w.Load})
	}
	for _, j := range c.Refused {
		out.Refused = append(out.Refused, shownRefused{j.UUID, d.roll.addresses[j.UUID], j.Queue, j.Reason})
	}
	for _, q := range c.Unserved {
		out.Unserved = append(out.Unserved, q.Name)
	}
	return json.NewEncoder(d.a.p.Stdout).Encode(out)
}

func (d *doctoring) shown(v conveyor.Violation) shownViolation {
	return shownViolation{v.Invariant, v.UUID, d.roll.addresses[v.UUID], v.Key, v.Detail, v.Repair}
}
