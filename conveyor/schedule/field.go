package schedule

import (
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/netresearch/go-cron"
)

// field is one of the five of a line.
type field struct {
	name     string
	min, max int
	top      int      // the highest bit: Sunday is 7 in lines too, and bit 0
	names    []string // of its numbers, from min on
	parser   cron.Parser
	bits     func(*cron.SpecSchedule) uint64
}

var fields = []field{
	{name: "minute", max: 59, top: 59, parser: cron.MustNewParser(cron.Minute),
		bits: func(s *cron.SpecSchedule) uint64 { return s.Minute }},
	{name: "hour", max: 23, top: 23, parser: cron.MustNewParser(cron.Hour),
		bits: func(s *cron.SpecSchedule) uint64 { return s.Hour }},
	{name: "day of month", min: 1, max: 31, top: 31, parser: cron.MustNewParser(cron.Dom),
		bits: func(s *cron.SpecSchedule) uint64 { return s.Dom }},
	{name: "month", min: 1, max: 12, top: 12, parser: cron.MustNewParser(cron.Month),
		names: strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec"),
		bits:  func(s *cron.SpecSchedule) uint64 { return s.Month }},
	{name: "day of week", max: 7, top: 6, parser: cron.MustNewParser(cron.Dow),
		names: strings.Fields("sun mon tue wed thu fri sat"),
		bits:  func(s *cron.SpecSchedule) uint64 { return s.Dow }},
}

// element is one part of a field's list: a star, a value or a range, and a step.
var element = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(\*)|([0-9]+|[a-z]+)(?:-([0-9]+|[a-z]+))?)(?:/([0-9]+))?$`)
})

// parse reads one field. What crontab(5) does not know is refused before the parser may read it in its own way.
func (f *field) parse(word string) (uint64, error) {
	list := strings.Split(strings.ToLower(word), ",")
	for _, e := range list {
		if err := f.check(e); err != nil {
			return 0, err
		}
		if e[0] == '*' && len(list) > 1 && strings.HasPrefix(f.name, "day") {
			return 0, fmt.Errorf("a star within a list leaves open whether the other day field narrows it or adds to it; " +
				"write the range instead of the star")
		}
	}
	s, err := f.parser.Parse(strings.ToLower(word))
	if err != nil {
		return 0, fmt.Errorf("%w; write %s", err, f.vocabulary())
	}
	spec, ok := s.(*cron.SpecSchedule)
	if !ok {
		return 0, fmt.Errorf("read as a %T, which is a bug in Waybill", s)
	}
	return f.bits(spec) & (1<<(f.top+1) - 1), nil // without the parser's mark for a star
}

func (f *field) check(e string) error {
	m := element().FindStringSubmatch(e)
	switch {
	case e == "":
		return fmt.Errorf("there is nothing between two commas; write %s", f.vocabulary())
	case m == nil && strings.ContainsAny(e, "?#"), isExtension(e):
		return fmt.Errorf("?, L, W, # and H are extensions of other schedulers; write %s", f.vocabulary())
	case m == nil:
		return fmt.Errorf("%q is no value, range or step; write %s", clip(e), f.vocabulary())
	case m[1] == "*":
		return f.checkStep(f.min, f.max, m[4])
	}
	low, err := f.number(m[2])
	if err != nil {
		return err
	}
	high := low
	if m[3] != "" {
		if high, err = f.number(m[3]); err != nil {
			return err
		}
	}
	switch {
	case m[3] == "" && m[4] != "":
		return fmt.Errorf("a step needs a range; write %d-%d/%s", low, f.top, m[4])
	case low == 7 && f.top == 6 && m[3] != "":
		return fmt.Errorf("a range of days begins with Sunday as 0; write 0-%d", high%7)
	case low > high:
		return fmt.Errorf("a range goes up; write %s,%s", span(low, f.top), span(f.min, high))
	case m[4] != "":
		return f.checkStep(low, high, m[4])
	}
	return nil
}

// isExtension finds the letters that other schedulers give a meaning: L, 3L, L-2, LW, 15W, H.
func isExtension(e string) bool {
	return e != "" && strings.Trim(e, "0123456789lwh-/()") == "" && strings.ContainsAny(e, "lwh")
}

// checkStep refuses a step that reaches no second value: it is a slip, as in */90 for each 90 minutes.
func (f *field) checkStep(low, high int, step string) error {
	if step == "" {
		return nil
	}
	n, err := strconv.Atoi(step)
	if err == nil && n >= 1 && (n == 1 || n <= high-low) {
		return nil
	}
	return fmt.Errorf("the step %s does not fit into %s; "+
		`steps begin anew with each round of a field, so write the value alone, or an interval such as every = "90 minutes"`,
		clip(step), span(low, high))
}

// number reads a value: a number within the bounds, or a name.
func (f *field) number(word string) (int, error) {
	for i, name := range f.names {
		if word == name {
			return f.min + i, nil
		}
	}
	n, err := strconv.Atoi(word)
	switch {
	case errors.Is(err, strconv.ErrSyntax) && f.names == nil:
		return 0, fmt.Errorf("%q is no number; write %s", clip(word), f.vocabulary())
	case errors.Is(err, strconv.ErrSyntax):
		return 0, fmt.Errorf("%q is no number and no name; write %s%s", clip(word), f.vocabulary(), didYouMean(word, f.names))
	case err != nil || n < f.min || n > f.max:
		return 0, fmt.Errorf("%s is out of bounds; write %s", clip(word), f.vocabulary())
	}
	return n, nil
}

// vocabulary says what the field may hold.
func (f *field) vocabulary() string {
	s := fmt.Sprintf("%d to %d", f.min, f.max)
	if f.names != nil {
		s += fmt.Sprintf(" or %s to %s", f.names[0], f.names[len(f.names)-1])
	}
	return s + ", *, a range such as 2-5, a step such as */2, or a list of them"
}

func span(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

// format writes the values of a field in the shortest way: with a star and a step, if a star is allowed here, or a range
// and a step, or a list. A day field keeps its star or the lack of it, which means something.
func (f *field) format(mask uint64, star bool) string {
	low, high := bits.TrailingZeros64(mask), bits.Len64(mask)-1
	if star && mask == f.steps(f.min, f.top, 1) {
		return "*"
	}
	if star {
		for step := 2; step <= f.max-f.min; step++ {
			if mask == f.steps(f.min, f.top, step) && (bits.OnesCount64(mask) > 1 || strings.HasPrefix(f.name, "day")) {
				return fmt.Sprintf("*/%d", step)
			}
		}
	}
	if n := bits.OnesCount64(mask); n > 2 && (high-low)%(n-1) == 0 {
		if step := (high - low) / (n - 1); step > 1 && mask == f.steps(low, high, step) {
			return fmt.Sprintf("%d-%d/%d", low, high, step)
		}
	}
	var list []string
	for rest := mask; rest != 0; {
		from := bits.TrailingZeros64(rest)
		to := from + bits.TrailingZeros64(^(rest >> from)) - 1
		if to == from+1 {
			list = append(list, strconv.Itoa(from))
			from = to
		}
		list = append(list, span(from, to))
		rest &^= 1<<(to+1) - 1
	}
	return strings.Join(list, ",")
}

// steps is the mask of low, low+step, and so on up to high.
func (f *field) steps(low, high, step int) (mask uint64) {
	for n := low; n <= high; n += step {
		mask |= 1 << n
	}
	return mask
}
