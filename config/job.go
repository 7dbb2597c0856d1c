package config

import (
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"
)

// evaluateJobs evaluates the job blocks of all modules, several at a time, and gives their instances by address.
func (l *loader) evaluateJobs() []*Job {
	if l.crowded {
		return nil // reported: what there are already is close to a million
	}
	var blocks []*jobBlock
	total := 0
	for _, m := range l.modules {
		first := len(blocks)
		blocks = slices.Grow(blocks, len(m.jobs))
		for _, j := range m.jobs {
			blocks = append(blocks, j)
			total += len(j.instances())
		}
		slices.SortFunc(blocks[first:], func(a, b *jobBlock) int { return strings.Compare(a.name, b.name) })
	}
	if total > maxInstances {
		l.r.error(sumTooManyJobs, blocks[0].header, "The workflow has %d jobs; at most %d are supported.", total, maxInstances)
		return nil
	}
	l.steps.grant(total)
	jobs := make([][]Job, len(blocks))
	reports := make([]report, len(blocks))
	parallel(len(blocks), 16, func(i int) {
		reports[i].in = blocks[i].m.addr
		jobs[i] = l.evaluateJob(blocks[i], &reports[i])
	})
	all := make([]*Job, 0, total)
	for i := range blocks {
		if r := blocks[i].m.dir.r; len(reports[i].diags) > 0 {
			r.in = ""
			r.add(reports[i].diags)
		}
		for k := range jobs[i] {
			all = append(all, &jobs[i][k])
		}
	}
	return all
}

// sharedBlock is a plain job of a directory that several modules are made of: it is parsed once.
type sharedBlock struct {
	once   sync.Once
	report report
	block  *block // nil after a report
}

// parseBlock parses a plain job; the syntax tree is dropped with the block after its evaluation, unless other modules need it too.
func (j *jobBlock) parseBlock(r *report) *block {
	switch {
	case j.block != nil:
		return j.block
	case j.shared == nil || j.m.dir.instances == 1:
		return j.parseItem(r)
	}
	j.shared.once.Do(func() {
		if b := j.parseItem(&j.shared.report); b != nil {
			b.openAll(&j.shared.report)
			j.shared.block = b
		}
	})
	r.add(j.shared.report.diags)
	if j.shared.block == nil {
		return nil
	}
	return j.shared.block.fresh()
}

func (j *jobBlock) parseItem(r *report) *block {
	if b, ok := j.source.parsePlain(j.item, schema()); ok {
		return &b
	}
	p := j.source.parse(j.item)
	r.add(p.report.diags)
	if p.broken || len(p.blocks) != 1 {
		return nil
	}
	return &p.blocks[0]
}

func (l *loader) evaluateJob(j *jobBlock, r *report) []Job {
	b := j.parseBlock(r)
	if b == nil {
		return nil
	}
	c := b.open(r)
	s := j.m.scope(r, anyRoot, "this job")
	s.self = j
	for i := range c.attrs {
		switch c.attrs[i].name {
		case "count":
			s.roots |= rootCount
			c.attrs[i].state = exprBroken // evaluated already; it knows no count.index
		case "for_each":
			s.roots |= rootEach
			c.attrs[i].state = exprBroken
		}
	}
	unevaluated(c, r)
	j.protected = preventDestroy(c, r)
	s.prepare(c)
	keys := j.instances()
	if len(keys) == 0 {
		return nil
	}
	if len(keys) > 1 || c.isDynamic() {
		r.seen = map[finding]struct{}{}
	}
	if len(keys) > 1 {
		s.fold(c)
	}
	jobs := make([]Job, len(keys))
	shares := (len(keys) + share - 1) / share
	reports := make([]report, shares)
	parallel(shares, 1, func(n int) {
		part := *s
		part.r = &reports[n]
		part.r.in = r.in
		if r.seen != nil {
			part.r.seen = map[finding]struct{}{}
		}
		for i := n * share; i < min((n+1)*share, len(keys)); i++ {
			part.buildInstance(j, c, i, &jobs[i])
		}
	})
	in := r.in
	r.in = "" // each part says it
	for i := range reports {
		r.add(reports[i].diags)
	}
	r.in = in
	return jobs
}

// share is how many instances of a block one goroutine evaluates at a time.
const share = 512

// fold evaluates what is the same for all instances once.
func (s *scope) fold(c *content) {
	for i := range c.attrs {
		a := &c.attrs[i]
		if a.state != exprShared {
			continue
		}
		if a.name == "job" || a.name == "jobs" {
			a.targets, a.state = s.targets(a), exprConstant
			continue
		}
		if a.name == "replace_triggered_by" {
			a.targets, a.state = s.replacing(a), exprConstant
			continue
		}
		val, ok := s.evaluate(a.expr)
		if !ok {
			val = cty.NilVal
		}
		a.value, a.state = val, exprConstant
	}
	for i := range c.blocks {
		s.fold(c.blocks[i].inner)
	}
}

// buildInstance evaluates the body for the i-th instance.
func (s *scope) buildInstance(j *jobBlock, c *content, i int, job *Job) {
	key := j.instances()[i]
	job.Addr, job.Range = j.addr(key), j.header
	in := *s
	if key.Kind != NoKey {
		in.each = &instance{key: key}
		if key.Kind == KeyString {
			in.each.value = j.values[i]
		}
	}
	in.build(in.unfold(c), job)
}

func (s *scope) build(c *content, job *Job) {
	if c.block("precondition") != nil {
		s.preconditions(c, sumPrecondition, job.Addr.String())
	}
	s.work(c, job)
	s.settings(c, job)
	s.edges(c, job)
}

// settings reads how the job runs.
func (s *scope) settings(c *content, job *Job) {
	job.Queue = s.l.queue
	if c.attr("type") != nil {
		job.Queue = job.Type
	}
	if a := c.attr("queue"); a != nil {
		if name, ok := s.text(a); ok && s.r.storeName("queue", name, a.expr.Range()) {
			job.Queue = name
		}
	}
	job.Priority = 1
	if a := c.attr("priority"); a != nil {
		s.priority(a, job)
	}
	if d, ok := s.duration(c.attr("timeout"), millisecond); ok {
		job.Timeout = d
	}
	if d, ok := s.duration(c.attr("reserve_for"), millisecond); ok {
		job.Reserve = d
	}
	if d, ok := s.duration(c.attr("remove_after"), millisecond); ok {
		job.RemoveAfter = d
	}
	if d, ok := s.duration(c.attr("retention"), millisecond); ok {
		job.Retention = d
	}
	if a := c.attr("unique"); a != nil {
		job.Unique = s.uniqueKey(a)
	}
	if a := c.attr("meta"); a != nil {
		job.Labels, _ = s.labels(a)
	}
	if a := c.attr("triggers"); a != nil {
		job.Triggers = s.triggers(a)
	}
	job.Retry = defaultRetry
	if b := c.block("retry"); b != nil {
		s.in(b).retry(b.inner, &job.Retry)
	}
	if b := c.block("run_at"); b != nil {
		s.in(b).runAt(b, job)
	}
	s.cycles(c, job)
	s.delivery(c, job)
	s.lifecycle(c, job)
}

var priorities = []string{"low", "normal", "high"}

// priority is a number from 0 to 2, or its name.
func (s *scope) priority(a *attribute, job *Job) {
	val, ok := s.plain(a, cty.DynamicPseudoType)
	switch {
	case !ok:
	case val.Type() == cty.String && slices.Contains(priorities, val.AsString()):
		job.Priority = slices.Index(priorities, val.AsString())
	case val.Type() == cty.String && (val.AsString() == "0" || val.AsString() == "1" || val.AsString() == "2"):
		job.Priority = int(val.AsString()[0] - '0') // as an untyped variable gives it
	case val.Type() == cty.Number:
		n, err := wholeNumber(val.AsBigFloat(), 0, 2)
		if err != nil {
			s.r.error(sumOutOfRange, a.expr.Range(), `Priority %v, or one of "low", "normal", "high".`, err)
			return
		}
		job.Priority = n
	case val.Type() == cty.String:
		s.r.error(sumBadChoice, a.expr.Range(), `Priority is a number from 0 to 2 or one of "low", "normal", "high", and not %q.%s`,
			clip(val.AsString()), didYouMeanOf(val.AsString(), priorities...))
	default:
		s.r.error(sumWrongType, a.expr.Range(), `Priority needs a number from 0 to 2 or one of "low", "normal", "high", and this is %s.`, typeName(val.Type()))
	}
}

// triggers are values whose change makes the job run again.
func (s *scope) triggers(a *attribute) []byte {
	val, ok := s.value(a)
	if !ok || val.IsNull() {
		return nil
	}
	if containsMarked(val) {
		s.r.error(sumSensitive, a.expr.Range(), "Triggers are shown in plans, so they cannot be made from sensitive values. A digest of one may be shown: nonsensitive(sha256(VALUE)).")
		return nil
	}
	if ty := val.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		s.r.error(sumWrongType, a.expr.Range(), "Triggers needs an object, such as { version = 2 }, and this is %s.", typeName(ty))
		return nil
	}
	var d document
	if err := d.value(val); err != nil {
		s.r.error(sumWrongType, a.expr.Range(), "Triggers cannot be used: %v.", err)
		return nil
	}
	return d.real
}
