package config

import (
	"regexp"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
)

// Import is an import block: a job that the store holds already, and the declared job that it is.
type Import struct {
	To    Addr
	ID    string // its uuid, in lower case
	Range hcl.Range
}

// importable is what the id of a job with a record looks like: uuids in the form of RFC 9562.
var importable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
})

// Importable tells whether a job with this id can have a record.
func Importable(id string) bool { return importable().MatchString(id) }

// evaluateImports reads the import blocks, once it is known which jobs there are.
func (l *loader) evaluateImports(jobs []*Job) []Import {
	var list []Import
	to, from := map[Addr]Import{}, map[string]Import{}
	for _, b := range l.imports {
		v, ok := l.readImport(b, jobs)
		if !ok {
			continue
		}
		if first, twice := to[v.To]; twice {
			l.r.error(sumBadImport, v.Range, "The import block at %s is about %s too. Remove one of the two.", place(first.Range), v.To)
			continue
		}
		if first, twice := from[v.ID]; twice {
			l.r.error(sumBadImport, v.Range, "The import block at %s takes this job for %s, and a job has one address. Remove one of the two.", place(first.Range), first.To)
			continue
		}
		to[v.To], from[v.ID] = v, v
		list = append(list, v)
	}
	slices.SortStableFunc(list, func(a, b Import) int { return compareRanges(a.Range, b.Range) })
	return list
}

func (l *loader) readImport(b *block, jobs []*Job) (v Import, ok bool) {
	c := b.open(&l.r)
	s := l.root.scope(&l.r, rootVar|rootLocal|rootPath|rootWorkflow, "an import")
	evaluated := *c
	evaluated.attrs = slices.DeleteFunc(slices.Clone(c.attrs), func(a attribute) bool { return a.name == "to" })
	s.prepare(&evaluated)
	to, id := c.attr("to"), c.attr("id")
	if to == nil || id == nil {
		return v, false // reported
	}
	v.Range = b.header
	var found bool
	v.ID, found = s.text(id)
	if found && !Importable(v.ID) {
		l.r.error(sumBadImport, id.expr.Range(), "Id is the uuid of a job that the store holds, such as \"0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11\", and this is %q. Jobs with other ids can have no record.", clip(v.ID))
		found = false
	}
	if v.To, ok = l.root.address(to, "an import", &l.r); !ok {
		return v, false
	}
	if v.To.IsModule() {
		l.r.error(sumBadImport, to.expr.Range(), "%s is a module, and what is imported is one job. Name a job in it.", upperFirst(v.To.String()))
		return v, false
	}
	if slices.ContainsFunc(jobs, func(j *Job) bool { return j.Addr == v.To }) {
		return v, found
	}
	switch at, block := l.declares(v.To.Block()); {
	case !block:
		l.r.error(sumBadImport, to.expr.Range(), "%s is not declared, and what is imported has to be. Write a job block for it.", upperFirst(v.To.String()))
	case !l.r.diags.HasErrors():
		l.r.error(sumBadImport, to.expr.Range(), "%s is not an instance of the block at %s. Name one that it has.", upperFirst(v.To.String()), place(at))
	}
	return v, false
}
