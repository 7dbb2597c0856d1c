package config

import (
	"bytes"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

const (
	// maxSteps bounds the passes of for expressions of one load, which take about a microsecond each: three of them inside each
	// other, over a thousand elements each, would else take hours.
	maxSteps = 1_000_000
	// jobSteps is how many more there may be for each job.
	jobSteps = 64
)

// steps counts the passes of for expressions. The zero value has maxSteps.
type steps struct {
	used, granted atomic.Int64 // granted beyond maxSteps
	told          atomic.Bool  // that there are too many, once for all
}

// errTooManySteps is what an evaluation panics with, to end at once: hcl goes on with the next element after a mistake in one.
type errTooManySteps struct{}

func (errTooManySteps) Error() string { return "too many steps" }

// pass is what a for expression evaluates for each element.
type pass struct {
	*hclsyntax.ParenthesesExpr // so that who walks through the tree comes to what is inside
	steps                      *steps
}

func (p *pass) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if p.steps.used.Add(1) > maxSteps+p.steps.granted.Load() {
		panic(errTooManySteps{})
	}
	return p.Expression.Value(ctx)
}

// count makes the for expressions in a tree count their passes. The source that it was made from is asked first: most have none.
func (s *steps) count(tree hclsyntax.Node, src []byte) {
	if s == nil || !bytes.Contains(src, []byte("for")) {
		return
	}
	counted := func(expr hclsyntax.Expression) hclsyntax.Expression {
		return &pass{&hclsyntax.ParenthesesExpr{Expression: expr, SrcRange: expr.Range()}, s}
	}
	hclsyntax.VisitAll(tree, func(n hclsyntax.Node) hcl.Diagnostics {
		switch f, ok := n.(*hclsyntax.ForExpr); {
		case !ok:
		case f.CondExpr != nil: // evaluated for every element, also for one that is left out
			f.CondExpr = counted(f.CondExpr)
		default:
			f.ValExpr = counted(f.ValExpr)
		}
		return nil
	})
}

// tooManySteps reports that the steps are used up, once for all that find it so.
func (s *scope) tooManySteps(at hcl.Range) {
	if s.l.steps.told.CompareAndSwap(false, true) {
		s.r.error(sumTooManySteps, at, "The for expressions of these files make more than %d passes in all, not counting %d for each job. "+
			"A for inside of a for multiplies theirs. What several jobs use is found once where it stands in a local.", maxSteps, jobSteps)
	}
}
