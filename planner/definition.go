package planner

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/config"
)

// maxShown bounds how much of a payload or of triggers a record keeps to show, in bytes. Every plan reads all records, so
// a longer one stands there as its size and hash.
const maxShown = 4096

// defaultPriority is the lane a job is in when it does not say, and defaultRetry how it is retried: neither is written
// into a definition. The numbers are those of DESIGN.md section 3 and ENGINE.md section 5.
const defaultPriority = 1

var defaultRetry = config.Retry{MaxAttempts: 3, MaxLost: 5, Min: time.Second, Max: time.Hour, Jitter: 0.2}

// appendDefinition appends the definition of a job, as records keep it: canonical JSON, keys sorted.
func appendDefinition(b []byte, j *config.Job) []byte {
	d := definition{b: append(b, '{')}
	d.delivery(j.Delivery)
	d.builtin(j, "exec")
	if j.Gate != nil {
		d.object("gate", func(inner *definition) { inner.texts("waiting", j.Gate.Waiting) })
	}
	d.builtin(j, "http")
	if len(j.Inputs) > 0 {
		d.inputs(j.Inputs)
	}
	d.number("max_cycles", j.MaxCycles, 0)
	if len(j.Labels) > 0 {
		d.labels("meta", j.Labels)
	}
	if j.ObsoleteIf != nil {
		d.object("obsolete_if", func(inner *definition) { inner.labels("labels", j.ObsoleteIf.Labels) })
	}
	d.payload(j)
	if j.Priority != defaultPriority {
		d.key("priority")
		d.b = strconv.AppendInt(d.b, int64(j.Priority), 10)
	}
	if j.Message != nil {
		d.labels("protobuf", j.Message.Fields)
	}
	d.duration("remove_after", j.RemoveAfter)
	d.duration("reserve_for", j.Reserve)
	d.duration("retention", j.Retention)
	if j.Retry != defaultRetry {
		d.retry(j.Retry)
	}
	d.runAt(j)
	d.builtin(j, "sleep")
	if len(j.Sync) > 0 {
		d.labels("sync", j.Sync)
	}
	d.duration("timeout", j.Timeout)
	if j.Triggers != nil {
		d.key("triggers")
		d.value(j.Triggers)
	}
	if len(j.TriggersGate) > 0 {
		d.texts("triggers_gate", j.TriggersGate)
	}
	if j.Unique != "" {
		d.text("unique", j.Unique)
	}
	return append(d.b, '}')
}

// definition writes the members of one JSON object.
type definition struct {
	b    []byte
	some bool
}

func (d *definition) key(name string) {
	if d.some {
		d.b = append(d.b, ',')
	}
	d.some = true
	d.b = append(append(append(d.b, '"'), name...), '"', ':')
}

func (d *definition) text(name, value string) {
	d.key(name)
	d.b = appendJSONString(d.b, value)
}

// duration leaves out zero: none, or the default.
func (d *definition) duration(name string, value time.Duration) {
	if value != 0 {
		d.text(name, durationText(value))
	}
}

// durationText is a duration without the zeros at its end: 48h, 1h30m.
func durationText(value time.Duration) string {
	text := value.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// value writes JSON, with placeholders as people read them.
func (d *definition) value(raw []byte) {
	if len(raw) > maxShown {
		d.long(raw)
		return
	}
	d.b = appendReadable(d.b, raw)
}

func (d *definition) long(raw []byte) {
	sum := sha256.Sum256(raw)
	d.b = append(d.b, `{"bytes":`...)
	d.b = strconv.AppendInt(d.b, int64(len(raw)), 10)
	d.b = append(d.b, `,"sha256":"`...)
	d.b = hex.AppendEncode(d.b, sum[:])
	d.b = append(d.b, `"}`...)
}

// builtin writes the block of a built-in type under its name.
func (d *definition) builtin(j *config.Job, name string) {
	if j.Type == name && len(j.Shown) > 0 {
		d.key(name)
		d.value(j.Shown)
	}
}

// payload writes what a typed job gets.
func (d *definition) payload(j *config.Job) {
	switch {
	case j.Type == "exec" || j.Type == "http" || j.Type == "sleep" || len(j.Shown) == 0:
	case json.Valid(j.Shown):
		d.key("payload")
		d.value(j.Shown)
	case len(j.Shown) > maxShown:
		d.key("payload_base64")
		d.long(j.Shown)
	default:
		d.text("payload_base64", base64.StdEncoding.EncodeToString(j.Shown))
	}
}

// inputs keeps 16 digits of each hash: enough to see that a file changed.
func (d *definition) inputs(inputs []config.Input) {
	d.key("inputs")
	inner := definition{}
	for _, in := range inputs {
		if inner.some {
			inner.b = append(inner.b, ',')
		}
		inner.some = true
		inner.b = append(appendJSONString(inner.b, in.Path), ':')
		inner.b = appendJSONString(inner.b, hex.EncodeToString(in.SHA256[:8]))
	}
	inner.b = append(append([]byte{'{'}, inner.b...), '}')
	d.value(inner.b)
}

// object writes a member that is an object of its own.
func (d *definition) object(name string, write func(inner *definition)) {
	d.key(name)
	inner := definition{b: append(d.b, '{')}
	write(&inner)
	d.b = append(inner.b, '}')
}

// texts writes a list, in the order it has.
func (d *definition) texts(name string, list []string) {
	d.key(name)
	d.b = append(d.b, '[')
	for i, text := range list {
		if i > 0 {
			d.b = append(d.b, ',')
		}
		d.b = appendJSONString(d.b, text)
	}
	d.b = append(d.b, ']')
}

func (d *definition) delivery(to *config.Delivery) {
	if to == nil {
		return
	}
	d.object("delivery", func(inner *definition) {
		if to.All {
			inner.text("to", "all")
		}
		if to.Worker != "" {
			inner.text("worker", to.Worker)
		}
	})
}

// runAt writes when a job runs: a time, a delay, or a schedule as it was written.
func (d *definition) runAt(j *config.Job) {
	if j.Schedule == nil && j.RunAt.Time.IsZero() && j.RunAt.After == 0 {
		return
	}
	d.object("run_at", func(inner *definition) {
		inner.duration("after", j.RunAt.After)
		if s := j.Schedule; s != nil {
			inner.schedule(s)
		}
		if !j.RunAt.Time.IsZero() {
			inner.text("time", j.RunAt.Time.Format(time.RFC3339Nano))
		}
	})
}

func (d *definition) schedule(s *config.Schedule) {
	if s.Catchup != config.CatchupLast {
		d.text("catchup", s.Catchup.String())
	}
	if s.Cron != "" {
		d.text("cron", s.Cron)
	}
	if s.Disabled {
		d.key("enabled")
		d.b = append(d.b, "false"...)
	}
	if s.Every != "" {
		d.text("every", s.Every)
	}
	if s.Overlap != config.OverlapAllow {
		d.text("overlap", s.Overlap.String())
	}
	if s.Timezone != "" {
		d.text("timezone", s.Timezone)
	}
}

// labels writes names and values. Labels are bounded one by one; many long ones stand there as their size and hash.
func (d *definition) labels(member string, labels map[string]string) {
	d.key(member)
	inner := definition{b: []byte{'{'}}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if inner.some {
			inner.b = append(inner.b, ',')
		}
		inner.some = true
		inner.b = append(appendJSONString(inner.b, name), ':')
		inner.b = appendJSONString(inner.b, labels[name])
	}
	d.value(append(inner.b, '}'))
}

func (d *definition) retry(r config.Retry) {
	d.key("retry")
	inner := definition{b: append(d.b, '{')}
	if r.Backoff != defaultRetry.Backoff {
		inner.text("backoff", r.Backoff.String())
	}
	if r.Jitter != defaultRetry.Jitter {
		inner.key("jitter")
		inner.b = strconv.AppendFloat(inner.b, r.Jitter, 'g', -1, 64)
	}
	if r.Max != defaultRetry.Max {
		inner.text("max", r.Max.String())
	}
	inner.number("max_attempts", r.MaxAttempts, defaultRetry.MaxAttempts)
	inner.number("max_lost", r.MaxLost, defaultRetry.MaxLost)
	if r.Min != defaultRetry.Min {
		inner.text("min", r.Min.String())
	}
	if r.Hold {
		inner.text("on_exhausted", "hold")
	}
	d.b = append(inner.b, '}')
}

func (d *definition) number(name string, value, usual int) {
	if value != usual {
		d.key(name)
		d.b = strconv.AppendInt(d.b, int64(value), 10)
	}
}

// appendJSONString writes s as JSON without escaping what only HTML minds. Bytes that are no UTF-8 become U+FFFD.
func appendJSONString(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < ' ' || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}
