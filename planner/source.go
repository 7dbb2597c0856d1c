package planner

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// DirtySuffix follows the revision of a work tree whose files differ from it.
const DirtySuffix = "-dirty"

// Source tells people where a configuration came from. The zero value is one of which nothing is known.
type Source struct {
	Revision string    `json:"revision,omitempty"` // a commit, with DirtySuffix where files differ from it; "" outside of version control
	Author   string    `json:"author,omitempty"`   // of the commit, or user@host
	Message  string    `json:"message,omitempty"`  // the first line of what the author said about it
	Time     time.Time `json:"time,omitzero"`      // of the commit
}

// The bounds of what is stored of a source, in bytes.
const (
	maxRevision = 128
	maxAuthor   = 128
	maxMessage  = 200
)

// Clean is s as it is stored and shown: one line each, of bounded length, with nothing that a terminal would obey. Anybody who can
// make a commit chooses these texts.
func (s Source) Clean() Source {
	s.Revision, s.Author, s.Message = oneLine(s.Revision, maxRevision), oneLine(s.Author, maxAuthor), oneLine(s.Message, maxMessage)
	if !s.Time.IsZero() {
		s.Time = s.Time.UTC().Truncate(time.Second)
	}
	return s
}

// oneLine is the first line of a text with any letters in it, without control characters, cut to so many bytes.
func oneLine(text string, limit int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(strings.Map(func(c rune) rune {
		switch {
		case c == '\t':
			return ' '
		case c == utf8.RuneError || !unicode.IsPrint(c):
			return -1
		}
		return c
	}, line))
	if len(line) <= limit {
		return line
	}
	cut := limit - len("…")
	for !utf8.RuneStart(line[cut]) {
		cut--
	}
	return line[:cut] + "…"
}

// minPrefix is how much of a revision names it, in characters.
const minPrefix = 7

// Is tells whether a name means the revision: in full, or its beginning.
func (s Source) Is(name string) bool {
	return name != "" && (s.Revision == name || len(name) >= minPrefix && strings.HasPrefix(s.Revision, name))
}
