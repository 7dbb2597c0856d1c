package schedule

import (
	"fmt"
	"math/bits"
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
