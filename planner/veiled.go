package planner

import (
	"maps"
	"slices"
)

// veiled is a value that a definition does not show. It is written as what stands in its place, and equals another where digest does.
type veiled struct {
	text   string // what is shown of it
	digest Digest
}

// documents are the job of a row before and after, with sensitive values told apart. before is nil for a new job and after for one that
// goes.
func (r *Row) documents() (before, after document) {
	after = r.after()
	if r.Prior == nil || r.Action == Create {
		return nil, after
	}
	before = r.Prior.document()
	if after == nil || r.Leave || r.KeyID == "" && r.Prior.KeyID == "" {
		return before, after
	}
	if r.KeyID == r.Prior.KeyID {
		was, recorded := before.veil(r.Prior.Hidden)
		is, declared := after.veil(r.Hidden)
		if recorded && declared && (r.Reason != ReasonWork || len(differences("", was, is)) > 0) {
			return was, is
		}
	}
	if r.Reason == ReasonWork { // each may have changed
		return before.apart(Digest{0}), after.apart(Digest{1})
	}
	return before, after
}

// veil is a document with its sensitive values told apart by digests, see hidden; ok is false where there is not one for each.
func (d document) veil(digests []Digest) (apart document, ok bool) {
	ok = true
	apart = d.veils(hiddenMembers[:], func() (next Digest) {
		if len(digests) == 0 {
			ok = false
			return next
		}
		next, digests = digests[0], digests[1:]
		return next
	})
	return apart, ok && len(digests) == 0
}

// apart is a document whose sensitive work equals only that of a document with the same digest.
func (d document) apart(digest Digest) document {
	return d.veils(slices.Concat(hiddenMembers[:], []string{"payload_base64"}), func() Digest { return digest })
}

// veils gives each sensitive value in some members of a document the next digest.
func (d document) veils(members []string, next func() Digest) document {
	apart := maps.Clone(d)
	for _, name := range members {
		if _, has := d[name]; !has {
			continue
		}
		apart[name] = mapHidden(d[name], nil, name, func(_ string, shown, _ any) any {
			switch shown := shown.(type) {
			case string:
				return veiled{shown, next()}
			case map[string]any: // a long value, of which two may look the same
				long := maps.Clone(shown)
				long["content"] = veiled{shownSensitive, next()}
				return long
			}
			return shown
		})
	}
	return apart
}
