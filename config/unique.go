package config

import (
	"strings"
	"unicode"
)

// maxUnique bounds a unique key, in bytes: it stands in the job's status entry and in one hash for the whole namespace.
const maxUnique = 256

// uniqueKey reads the key that at most one live job of a type has.
func (s *scope) uniqueKey(a *attribute) string {
	key, ok := s.text(a)
	switch at := a.expr.Range(); {
	case !ok:
		return ""
	case key == "":
		s.r.error(sumBadUnique, at, "The unique key is empty. Leave the argument out, or set it to null, for a job that any number of others may be like.")
	case hasPlaceholder(key):
		s.r.error(sumBadUnique, at, "The unique key holds the uuid of a job, which is another one each time that job is submitted. Use its address, or a name.")
	case len(key) > maxUnique:
		s.r.error(sumBadUnique, at, "The unique key has %d bytes; at most %d are possible. A long one can be hashed: sha256(VALUE).", len(key), maxUnique)
	case strings.ContainsFunc(key, unicode.IsControl):
		s.r.error(sumBadUnique, at, "The unique key %q holds a control character. Remove it, for example with trimspace().", clip(key))
	default:
		return key
	}
	return ""
}

// warnOfSharedKeys tells of jobs that cannot be live together. It is no mistake by itself: all but one may have ended
// before this one is submitted. Edges between them do not help, since a job that waits holds its key already. jobs are by
// address.
func (l *loader) warnOfSharedKeys(jobs []*Job) {
	type holder struct{ jobType, key string }
	holders := map[holder][]*Job{}
	for _, j := range jobs {
		if j.Unique != "" {
			h := holder{j.Type, j.Unique}
			holders[h] = append(holders[h], j)
		}
	}
	for h, of := range holders {
		if len(of) < 2 {
			continue
		}
		others := ""
		if n := len(of) - 2; n > 0 {
			others = " (and " + itoa(n) + " more)"
		}
		l.r.warn(sumSharedUnique, of[1].Range, "%s and %s%s are of type %q and have the unique key %q. A job holds its key from its submission to its end, also while it waits, "+
			"so of these only one can be in the queue or run, and those submitted meanwhile fail. Make the keys different, for example with each.key. "+
			"To let jobs run one after the other, put them into a queue with concurrency = 1.",
			upperFirst(of[0].Addr.String()), of[1].Addr, others, h.jobType, clip(h.key))
	}
}
