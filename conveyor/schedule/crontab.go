package schedule

import (
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"

	"github.com/netresearch/go-cron"
)

// crontab is what a cron line says, without a time zone: bit n of a field is set if the field names n.
type crontab struct {
	minutes, hours, days, months, weekdays uint64

	// whether the two day fields begin with a star; then a day has to be in both of them, otherwise in either
	starDays, starWeekdays bool
}

// macros are the names that lines have.
var macros = map[string]string{
	"@hourly":   "0 * * * *",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@weekly":   "0 0 * * 0",
	"@monthly":  "0 0 1 * *",
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
}

var macroNames = []string{"@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"}

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

// parseCrontab reads a line of five fields, or its name. Its error is an [*Error] of kind ErrCron, or ErrNever.
func parseCrontab(line string) (crontab, *Error) {
	refuse := func(kind error, detail string) (crontab, *Error) {
		return crontab{}, &Error{Kind: kind, Attribute: "cron", Value: line, Detail: detail}
	}
	text := strings.TrimSpace(line)
	if len(text) > cron.MaxSpecLength {
		return refuse(ErrCron, fmt.Sprintf("a line has at most %d characters, this one has %d", cron.MaxSpecLength, len(text)))
	}
	if strings.HasPrefix(text, "@") {
		meaning, known := macros[text]
		if !known {
			return refuse(ErrCron, "the named lines are "+strings.Join(macroNames, ", ")+didYouMean(text, macroNames))
		}
		text = meaning
	}
	if strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=") {
		return refuse(ErrCron, "the time zone of a line is an attribute of its own; write timezone instead of "+
			strings.Fields(text)[0])
	}
	words := strings.Fields(text)
	if len(words) != len(fields) {
		detail := fmt.Sprintf("a line has 5 fields, minute, hour, day of month, month and day of week; this one has %d", len(words))
		if len(words) == 6 {
			detail += "; seconds and years are not supported, leave that field out"
		}
		return refuse(ErrCron, detail)
	}
	var masks [5]uint64
	for i, word := range words {
		mask, err := fields[i].parse(word)
		if err != nil {
			return refuse(ErrCron, fmt.Sprintf("the %s field is %q: %v", fields[i].name, clip(word), err))
		}
		masks[i] = mask
	}
	c := crontab{masks[0], masks[1], masks[2], masks[3], masks[4], words[2][0] == '*', words[4][0] == '*'}
	if detail := c.never(); detail != "" {
		return refuse(ErrNever, detail)
	}
	return c, nil
}

// element is one part of a field's list: a star, a value or a range, and a step.
var element = regexp.MustCompile(`^(?:(\*)|([0-9]+|[a-z]+)(?:-([0-9]+|[a-z]+))?)(?:/([0-9]+))?$`)

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
	m := element.FindStringSubmatch(e)
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

// never explains why the line never fires, "" if it does. Only a day that none of its months has can be the cause: in the
// 400 years after which the calendar repeats, each day of each month, the 29 February too, is each day of the week.
func (c crontab) never() string {
	if !c.starDays && !c.starWeekdays {
		return ""
	}
	first := bits.TrailingZeros64(c.days)
	for month, length := range [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
		if c.months>>month&1 != 0 && first <= length {
			return ""
		}
	}
	return fmt.Sprintf("no month that it names has a day %d; for the last day of a month, fire on the 1st of the next", first)
}

// String is the canonical line.
func (c crontab) String() string {
	return strings.Join([]string{
		fields[0].format(c.minutes, true), fields[1].format(c.hours, true), fields[2].format(c.days, c.starDays),
		fields[3].format(c.months, true), fields[4].format(c.weekdays, c.starWeekdays),
	}, " ")
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
