package planner

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

// Digest is a hash, truncated to 128 bits: SHA-256, or HMAC-SHA-256 under the digest key for sensitive work.
type Digest [16]byte

// digester hashes jobs. What it hashes starts with a letter and a number: a different list of fields is a different
// digest, so the number rises with the list, and a plan after such an upgrade shows every job as changed.
type digester struct {
	g     *Graph
	keyed func(sensitive bool, data []byte) (Digest, string)
	buf   []byte
}

// work hashes what makes a job run again: type, payload, inputs, triggers and run_at. keyID is "" for a plain digest.
func (d *digester) work(j *config.Job) (digest Digest, keyID string) {
	d.buf = append(d.buf[:0], "w1"...)
	d.text(j.Type)
	d.bytes(j.Payload)
	d.number(int64(len(j.Inputs)))
	for i := range j.Inputs {
		d.text(j.Inputs[i].Path)
		d.buf = append(d.buf, j.Inputs[i].SHA256[:]...)
	}
	d.bytes(j.Triggers)
	d.time(j.RunAt.Time)
	d.number(int64(j.RunAt.After))
	if j.Sensitive {
		return d.keyed(true, d.buf)
	}
	return d.sum(), ""
}

// handling hashes everything else that a job in Redis follows, edges included. on_change is not in it: it only says
// what a later plan does.
func (d *digester) handling(job int32) Digest {
	j := d.g.jobs[job]
	d.buf = append(d.buf[:0], "h1"...)
	d.text(j.Queue)
	d.number(int64(j.Priority))
	d.number(int64(j.Timeout))
	d.number(int64(j.Reserve))
	d.number(int64(j.Retry.MaxAttempts))
	d.number(int64(j.Retry.MaxLost))
	d.number(int64(j.Retry.Backoff))
	d.number(int64(j.Retry.Min))
	d.number(int64(j.Retry.Max))
	d.number(int64(math.Float64bits(j.Retry.Jitter)))
	d.flag(j.Retry.Hold)
	for _, l := range d.g.up.of(job) {
		d.number(int64(l.kind))
		d.number(int64(l.group))
		d.flag(l.inside())
		d.text(d.g.end(l))
	}
	d.later(j)
	if above := d.g.triggers.above(job); len(above) > 0 {
		d.number(digestReplacedBy)
		d.number(int64(len(above)))
		for _, to := range above {
			d.text(d.g.names[to])
		}
	}
	return d.sum()
}

// Marks of what came to the handling digest after its first format. Each is written with its value and only where it is set,
// so that jobs without it keep the digest of older records. No kind of an edge has these numbers.
const (
	digestUnique = 1000 + iota
	digestLabels
	digestRemoveAfter
	digestRetention
	digestSchedule
	digestGate
	digestTriggersGate
	digestDelivery
	digestObsoleteIf
	digestSync
	digestMaxCycles
	digestReplacedBy
)

func (d *digester) later(j *config.Job) {
	if j.Unique != "" {
		d.number(digestUnique)
		d.text(j.Unique)
	}
	d.texts(digestLabels, j.Labels)
	if j.RemoveAfter != 0 {
		d.number(digestRemoveAfter)
		d.number(int64(j.RemoveAfter))
	}
	if j.Retention != 0 {
		d.number(digestRetention)
		d.number(int64(j.Retention))
	}
	d.cycles(j)
}

// cycles hashes what makes a job run again and again, and what decides whether it runs. A schedule counts by its canonical
// text: another spelling of the same ticks is no change.
func (d *digester) cycles(j *config.Job) {
	if s := j.Schedule; s != nil {
		d.number(digestSchedule)
		d.text(s.Text)
		d.number(int64(s.Catchup))
		d.number(int64(s.Overlap))
		d.flag(s.Disabled)
	}
	if j.Gate != nil {
		d.list(digestGate, j.Gate.Waiting)
	}
	if len(j.TriggersGate) > 0 {
		d.list(digestTriggersGate, j.TriggersGate)
	}
	if j.Delivery != nil {
		d.number(digestDelivery)
		d.flag(j.Delivery.All)
		d.text(j.Delivery.Worker)
	}
	if j.ObsoleteIf != nil {
		d.texts(digestObsoleteIf, j.ObsoleteIf.Labels)
	}
	d.texts(digestSync, j.Sync)
	if j.MaxCycles != 0 {
		d.number(digestMaxCycles)
		d.number(int64(j.MaxCycles))
	}
}

// texts writes a mark and what it stands for; nothing where that is empty.
func (d *digester) texts(mark int64, texts map[string]string) {
	if len(texts) == 0 {
		return
	}
	d.number(mark)
	d.number(int64(len(texts)))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		d.text(name)
		d.text(texts[name])
	}
}

func (d *digester) list(mark int64, texts []string) {
	d.number(mark)
	d.number(int64(len(texts)))
	for _, text := range texts {
		d.text(text)
	}
}

func (d *digester) sum() Digest {
	sum := sha256.Sum256(d.buf)
	return Digest(sum[:len(Digest{})])
}

func (d *digester) text(s string) { d.number(int64(len(s))); d.buf = append(d.buf, s...) }

// bytes tells nil and empty apart.
func (d *digester) bytes(b []byte) {
	if b == nil {
		d.number(-1)
		return
	}
	d.number(int64(len(b)))
	d.buf = append(d.buf, b...)
}

func (d *digester) number(n int64) { d.buf = binary.AppendVarint(d.buf, n) }

func (d *digester) flag(b bool) {
	if b {
		d.buf = append(d.buf, 1)
	} else {
		d.buf = append(d.buf, 0)
	}
}

// time is the instant: the same moment written in another zone is no change.
func (d *digester) time(t time.Time) {
	d.flag(!t.IsZero())
	if !t.IsZero() {
		d.number(t.Unix())
		d.number(int64(t.Nanosecond()))
	}
}

// digest hashes every declared job.
func (m *maker) digest() (diags hcl.Diagnostics) {
	d := digester{g: m.g, keyed: m.o.Digest}
	old := m.olderDigests(&d)
	var foreign []int
	for i := range m.rows {
		r := &m.rows[i]
		if r.Prior != nil && r.Prior.KeyID != "" && !m.holds(r.Prior.KeyID) {
			foreign = append(foreign, i)
		}
		if r.Job.Sensitive && m.o.Digest == nil {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "No key for sensitive values", Subject: r.Job.Range.Ptr(),
				Detail: fmt.Sprintf("%s has sensitive values, which are hashed and sealed under a key, and there is no key. Set "+
					"WAYBILL_KEY, or run `waybill init` to make one.", r.Addr),
			})
			continue
		}
		r.Work, r.KeyID = d.work(r.Job)
		as := &d
		if m.rotated(r) {
			as = old(r.Prior.KeyID)
			if work, _ := as.work(r.Job); work == r.Prior.Work {
				m.older[int32(i)] = true
			}
		}
		if len(m.s.MovedFrom) > 0 && r.Prior != nil && r.Work != r.Prior.Work && !m.older[int32(i)] {
			m.renameWork(as, int32(i))
		}
		r.Handling = d.handling(int32(i))
		if r.Importing() {
			m.adopt(&d, int32(i))
		}
	}
	if foreign != nil {
		diags = append(diags, m.foreignKeys(foreign))
	}
	return diags
}
