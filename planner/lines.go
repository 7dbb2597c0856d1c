package planner

import (
	"strings"
)

// A plan is rendered once, by the canvas. What shows a plan otherwise than from top to bottom takes its parts from here:
// they are the lines that Render writes, at the same width.

// Line is one line of a rendered plan.
type Line []Span

// Span is a part of a line that looks alike. Its text holds no control characters but tabs of texts shown line by line.
type Span struct {
	Text string
	Look Look
}

// Look is how a span stands out.
type Look uint8

// The looks. A mark, such as the sign of an added attribute, has the look of what it marks.
const (
	Plain Look = iota
	Strong
	Added
	Removed
	Changed
)

// String is the line's text.
func (l Line) String() string {
	if len(l) == 1 {
		return l[0].Text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Text is the block of one row as Render writes it.
func (r *Row) Text(o RenderOptions) string { return drawn(o, r.render) }

// Lines are the lines of Text.
func (r *Row) Lines(width int) []Line {
	return lineUp(r.Text(RenderOptions{Color: true, Width: width}))
}

// Text is the block of one queue as Render writes it.
func (q *QueueChange) Text(o RenderOptions) string { return drawn(o, q.render) }

// Lines are the lines of Text.
func (q *QueueChange) Lines(width int) []Line {
	return lineUp(q.Text(RenderOptions{Color: true, Width: width}))
}

// ForecastText is the forecast as Render writes it, "" for none.
func (p *Plan) ForecastText(o RenderOptions) string { return drawn(o, p.renderForecast) }

// OutputsText is what Render writes of changed outputs, "" for none.
func (p *Plan) OutputsText(o RenderOptions) string { return drawn(o, p.renderOutputs) }

// OutputsLines are the lines of OutputsText.
func (p *Plan) OutputsLines(width int) []Line {
	return lineUp(p.OutputsText(RenderOptions{Color: true, Width: width}))
}

// drawn is a part of a plan as text.
func drawn(o RenderOptions, part func(*canvas)) string {
	var b strings.Builder
	c := &canvas{w: &b, ink: ink(o.Color), width: o.Width}
	part(c)
	_ = c.flush() // a builder takes everything
	return b.String()
}

// looks are the codes that ink writes.
var looks = map[string]Look{"1": Strong, "32": Added, "31": Removed, "33": Changed}

// lineUp takes ink's codes, the only escape sequences that a canvas writes, out of a text.
func lineUp(text string) []Line {
	if text == "" {
		return nil
	}
	text = strings.TrimSuffix(text, "\n")
	lines := make([]Line, 0, 1+strings.Count(text, "\n"))
	for raw := range strings.SplitSeq(text, "\n") {
		lines = append(lines, lookAt(raw))
	}
	return lines
}

func lookAt(raw string) Line {
	const start, end = "\x1b[", "\x1b[0m"
	var line Line
	for raw != "" {
		before, rest, found := strings.Cut(raw, start)
		if before != "" {
			line = append(line, Span{Text: before})
		}
		if !found {
			break
		}
		code, rest, _ := strings.Cut(rest, "m")
		inside, after, _ := strings.Cut(rest, end)
		if inside != "" {
			line = append(line, Span{Text: inside, Look: looks[code]})
		}
		raw = after
	}
	return line
}
