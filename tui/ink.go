package tui

import "hash/fnv"

// Ink colours lines that scroll by, with the eight colours that every terminal has. The zero value writes none.
type Ink struct{ On bool }

func (i Ink) wrap(code, s string) string {
	if !i.On || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Bold is for what a reader's eye should find first.
func (i Ink) Bold(s string) string { return i.wrap("1", s) }

// Red is for errors.
func (i Ink) Red(s string) string { return i.wrap("31", s) }

// Green is for success.
func (i Ink) Green(s string) string { return i.wrap("32", s) }

// Yellow is for warnings.
func (i Ink) Yellow(s string) string { return i.wrap("33", s) }

// Faint is for what may be skipped.
func (i Ink) Faint(s string) string { return i.wrap("2", s) }

// Tell is for names that tell lines of several sources apart: each name has a colour of its own, the same in every run.
func (i Ink) Tell(name, s string) string {
	h := fnv.New32a()
	h.Write([]byte(name)) //nolint:errcheck // it never fails
	return i.wrap(tellColours[h.Sum32()%uint32(len(tellColours))], s)
}

// tellColours leave out red and yellow, which mean something.
var tellColours = [...]string{"36", "32", "35", "34", "96", "92", "95", "94"}
