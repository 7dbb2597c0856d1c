package config

import (
	"bytes"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

const (
	// maxSteps bounds the passes of for expressions of one load: three of them inside each other, over a thousand elements each, would
	// else take hours. A short pass is one step and takes about a microsecond; one with more to evaluate is several, see passWeight, and
	// so is what functions in it are given, see argument.
	maxSteps = 1_000_000
	// stepWeight is the weight of one step.
	stepWeight = 3
	// jobSteps is how many more there may be for each job.
	jobSteps = 64
	// maxText bounds what the templates of one load put together, in bytes: a template of a thousand references to one large local
	// would else fill the memory.
	maxText = 256 << 20
	// jobText is how much more there may be for each job, whose payload has at most 1 MiB.
	jobText = 256 << 10
)

// steps counts the passes of for expressions, the elements of collections that functions make, and the text of templates. The zero value has maxSteps and maxText.
type steps struct {
	used, granted atomic.Int64 // in weight; granted beyond maxSteps
	told          atomic.Bool  // that there are too many, once for all

	text, grantedText atomic.Int64 // bytes; granted beyond maxText

	// sampled: what is evaluated is made from a sample, in which nothing is known. What a condition of a for may keep is kept, so that
	// what is made of it is looked at.
	sampled bool
}

// grant allows what so many jobs may use.
func (s *steps) grant(jobs int) {
	s.granted.Add(int64(stepWeight * jobSteps * jobs))
	s.grantedText.Add(int64(jobText * jobs))
}

// use counts the weight of what is evaluated, and ends the evaluation when there is too much.
func (s *steps) use(weight int64) {
	if s.used.Add(weight) > stepWeight*maxSteps+s.granted.Load() {
		panic(errTooManySteps{})
	}
}

// write counts text of templates. It is false when there is too much.
func (s *steps) write(n int) bool { return s.text.Add(int64(n)) <= maxText+s.grantedText.Load() }

// errTooManySteps is what an evaluation panics with, to end at once: hcl goes on with the next element after a mistake in one.
type errTooManySteps struct{}

func (errTooManySteps) Error() string { return "too many steps" }

// errTooMuchText ends an evaluation likewise.
type errTooMuchText struct{}

func (errTooMuchText) Error() string { return "too much text" }

// pass is what a for expression evaluates for each element.
type pass struct {
	*hclsyntax.ParenthesesExpr // so that who walks through the tree comes to what is inside
	steps                      *steps
	weight                     int64
	keeps                      bool // it is the condition
}

func (p *pass) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	p.steps.use(p.weight)
	val, diags := p.Expression.Value(ctx)
	if p.keeps && p.steps.sampled && !val.IsKnown() {
		val = cty.True
	}
	return val, diags
}

// piece is a part of a template that may be long.
type piece struct {
	*hclsyntax.ParenthesesExpr
	steps *steps
}

func (p *piece) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	val, diags := p.Expression.Value(ctx)
	if n := textOf(val); n > 0 && !p.steps.write(n) {
		panic(errTooMuchText{})
	}
	return val, diags
}

// textOf is how many bytes of strings a template takes from a value: from a string, and from a tuple that for has made.
func textOf(val cty.Value) (n int) {
	val, _ = val.Unmark()
	if val.IsNull() || !val.IsKnown() {
		return 0
	}
	if val.Type() == cty.String {
		return len(val.AsString())
	}
	if val.Type().IsTupleType() {
		for it := val.ElementIterator(); it.Next(); {
			if _, elem := it.Element(); elem.Type() == cty.String {
				n += textOf(elem)
			}
		}
	}
	return n
}

// counting are the parts of a source without which nothing in it is counted.
var counting = []string{"for", "${", "[*]", ".*"}

// count makes the for expressions in a tree count their passes, and its templates their text. The source that it was made from is
// asked first: most have neither.
func (s *steps) count(tree hclsyntax.Node, src []byte) {
	if s == nil || !slices.ContainsFunc(counting, func(part string) bool { return bytes.Contains(src, []byte(part)) }) {
		return
	}
	counted := func(expr hclsyntax.Expression, weight int64, keeps bool) hclsyntax.Expression {
		return &pass{&hclsyntax.ParenthesesExpr{Expression: expr, SrcRange: expr.Range()}, s, weight, keeps}
	}
	measured := func(expr hclsyntax.Expression) hclsyntax.Expression {
		return &piece{&hclsyntax.ParenthesesExpr{Expression: expr, SrcRange: expr.Range()}, s}
	}
	hclsyntax.VisitAll(tree, func(n hclsyntax.Node) hcl.Diagnostics {
		switch e := n.(type) {
		case *hclsyntax.ForExpr:
			weight := passWeight(e)
			s.countArguments(e)
			if e.CondExpr != nil { // evaluated for every element, also for one that is left out
				e.CondExpr = counted(e.CondExpr, weight, true)
			} else {
				e.ValExpr = counted(e.ValExpr, weight, false)
			}
		case *hclsyntax.SplatExpr:
			e.Each = counted(e.Each, 1, false)
		case *hclsyntax.TemplateExpr:
			for i, part := range e.Parts {
				if mayBeLong(part) {
					e.Parts[i] = measured(part)
				}
			}
		case *hclsyntax.TemplateJoinExpr:
			e.Tuple = measured(e.Tuple)
		}
		return nil
	})
}

// passWeight is how much one pass of a for evaluates: its expressions twice, objects six times, operations and calls twelve times, without
// what a for in it does for each of its own. A number or a name is one step.
func passWeight(e *hclsyntax.ForExpr) int64 {
	w := weigher{}
	for _, part := range []hclsyntax.Expression{e.KeyExpr, e.ValExpr, e.CondExpr} {
		if part != nil {
			hclsyntax.Walk(part, &w) //nolint:errcheck // it finds nothing
		}
	}
	if e.KeyExpr != nil {
		w.weight += objectWeight
	}
	return max(stepWeight, w.weight)
}

// objectWeight is what a pass takes more where it makes an attribute and not an element.
const objectWeight = 14

// weigher adds up the expressions that it is not led into a for expression for.
type weigher struct {
	weight int64
	inside int
}

func (w *weigher) Enter(n hclsyntax.Node) hcl.Diagnostics {
	if w.inside == 0 {
		switch e := n.(type) {
		case *hclsyntax.FunctionCallExpr:
			w.weight += 12 + tolls[e.Name].call
		case *hclsyntax.BinaryOpExpr:
			w.weight += 12
		case *hclsyntax.ObjectConsExpr:
			w.weight += 6
		case hclsyntax.Expression:
			w.weight += 2
		}
	}
	if _, loops := n.(*hclsyntax.ForExpr); loops {
		w.inside++
	}
	return nil
}

func (w *weigher) Exit(n hclsyntax.Node) hcl.Diagnostics {
	if _, loops := n.(*hclsyntax.ForExpr); loops {
		w.inside--
	}
	return nil
}

// mayBeLong tells whether a part of a template is neither written there nor a name or number of the job.
func mayBeLong(part hclsyntax.Expression) bool {
	switch e := part.(type) {
	case *hclsyntax.LiteralValueExpr:
		return false
	case *hclsyntax.ScopeTraversalExpr:
		switch e.Traversal.RootName() {
		case "count", "path", "workflow":
			return false
		}
	}
	return true
}

// countBlock is count for what the plain parser has made.
func (s *steps) countBlock(b *block, src []byte) {
	if s == nil || b.inner == nil || !bytes.Contains(src, []byte("${")) {
		return
	}
	s.countContent(b.inner)
}

func (s *steps) countContent(c *content) {
	for i := range c.attrs {
		if node, ok := c.attrs[i].expr.(hclsyntax.Node); ok {
			s.count(node, []byte("${"))
		}
	}
	for i := range c.blocks {
		if c.blocks[i].inner != nil {
			s.countContent(c.blocks[i].inner)
		}
	}
}

// exhausted words that an evaluation was ended: p is what it has panicked with.
func exhausted(p any) (sum summary, detail string, ok bool) {
	switch p {
	case error(errTooManySteps{}):
		return sumTooManySteps, fmt.Sprintf("The for expressions of these files make more than %d passes in all, not counting %d for each job; a long pass counts as several, and so do the elements of a collection that a function makes. "+
			"A for inside of a for multiplies theirs. What several jobs use is found once where it stands in a local.", maxSteps, jobSteps), true
	case error(errTooMuchText{}):
		return sumValueTooLarge, fmt.Sprintf("The templates of these files put together more than %d MiB of text in all, not counting %d KiB for each job. "+
			"Each ${...} copies the text that it stands for. Leave large text in a file, and read it where it is used.", maxText>>20, jobText>>10), true
	}
	return "", "", false
}

// constant is the value of an expression without references. A panic in it is a diagnostic.
func constant(expr hcl.Expression) (val cty.Value, diags hcl.Diagnostics) {
	defer func() {
		if p := recover(); p != nil {
			sum, detail, ok := exhausted(p)
			if !ok {
				sum, detail = sumCannotEvaluate, fmt.Sprintf("This expression cannot be evaluated: %v. Please report this, it is a defect of Waybill.", p)
			}
			var r report
			r.error(sum, expr.Range(), "%s", detail)
			val, diags = cty.NilVal, r.diags
		}
	}()
	return expr.Value(nil)
}

// ended reports that an evaluation was ended, once for all that find it so.
func (s *scope) ended(at hcl.Range, sum summary, detail string) {
	if s.l.steps.told.CompareAndSwap(false, true) {
		s.r.error(sum, at, "%s", detail)
	}
}
