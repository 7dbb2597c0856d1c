package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/config"
)

// markdownJobs writes the jobs that something happens to, within room bytes.
//
// Those that end or run again stand first, in full as long as there is room left to name all the others of them. What does not
// fit then is cut between two jobs, with a note of how many are missing.
func (p *Plan) markdownJobs(room int, file string) string {
	room -= cutNotice
	var b strings.Builder
	chains := NewChains(p)
	ending := slices.Concat(p.rowsOf(Delete), p.rowsOf(Replace))
	names, rest := make([]nameLine, len(ending)), 0
	for i, r := range ending {
		names[i] = nameLine{nameText(r.Action, r.Addr), 1}
		rest += names[i].size()
	}
	for i, r := range ending {
		rest -= names[i].size()
		need := 0
		if i+1 < len(ending) {
			need = rest + listOverhead
		}
		block := chains.markdown(r)
		if b.Len()+len(block)+need > room {
			b.WriteString(nameThem(ending[i:], names[i:], room-b.Len()))
			break
		}
		b.WriteString(block)
	}
	others := slices.DeleteFunc(slices.Clone(p.Rows), func(r *Row) bool { return r.Action == NoOp || r.Action == Delete || r.Action == Replace })
	for i, r := range others {
		block := chains.markdown(r)
		if b.Len()+len(block) > room {
			b.WriteString(cutHere(others[i:], file))
			break
		}
		b.WriteString(block)
	}
	return b.String()
}

func (p *Plan) rowsOf(a Action) (rows []*Row) {
	for _, r := range p.Rows {
		if r.Action == a {
			rows = append(rows, r)
		}
	}
	return rows
}

// nameLine names a job, or the jobs of one block.
type nameLine struct {
	text string
	jobs int
}

func (n nameLine) size() int { return len(n.text) + 1 }

func nameText(a Action, addr config.Addr) string {
	return fmt.Sprintf("%-3s %s", a.Symbol(), plainText(addr.String(), maxName))
}

// listOverhead is what a list of names takes besides them: its title, its fence, and a last line.
const listOverhead = 400

// nameThem lists rows that are not shown in full: by their addresses or, where these are too many, by their blocks, the largest
// first.
func nameThem(rows []*Row, names []nameLine, room int) string {
	total := 0
	for _, n := range names {
		total += n.size()
	}
	room -= listOverhead
	if total > room {
		names = blocksOf(rows)
	}
	var lines []string
	hidden := 0
	for _, n := range names {
		if room -= n.size(); room < 0 || hidden > 0 {
			hidden += n.jobs
			continue
		}
		lines = append(lines, n.text)
	}
	if hidden > 0 {
		lines = append(lines, "    ... and "+counted(hidden, "more job", "more jobs"))
	}
	return details(fmt.Sprintf("%s to destroy or replace, without the details", counted(len(rows), "more job", "more jobs")), true, fenced("diff", lines, maxMarkdown))
}

// blocksOf names the blocks of rows, with how many jobs there are of each.
func blocksOf(rows []*Row) []nameLine {
	type block struct {
		action Action
		addr   config.Addr
	}
	var order []block
	counts := map[block]int{}
	for _, r := range rows {
		k := block{r.Action, config.Addr{Module: r.Addr.Module, Name: r.Addr.Name}}
		if counts[k]++; counts[k] == 1 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b block) int { return counts[b] - counts[a] })
	lines := make([]nameLine, len(order))
	for i, k := range order {
		lines[i] = nameLine{nameText(k.action, k.addr), counts[k]}
		if k := counts[k]; k > 1 {
			lines[i].text += fmt.Sprintf(" (%d jobs)", k)
		}
	}
	return lines
}

// cutHere says how many jobs are left out, and where to see them.
func cutHere(rows []*Row, file string) string {
	add, change, forget := 0, 0, 0
	for _, r := range rows {
		switch r.Action {
		case Create:
			add++
		case Forget:
			forget++
		default:
			change++
		}
	}
	var parts []string
	for _, part := range [...]struct {
		n    int
		what string
	}{{add, "to add"}, {change, "to change"}, {forget, "to forget"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	see := ""
	if file != "" {
		see = " or run " + codeHTML("waybill show "+file, maxName)
	}
	return fmt.Sprintf("<p><b>%s not shown</b> (%s): see the job's log%s.</p>\n\n", counted(len(rows), "more job", "more jobs"), strings.Join(parts, ", "), see)
}

// maxReviewed is how many links of a chain of causes a reviewer is shown.
const maxReviewed = 15

// markdown is one row: its address, action and reason in one line, and, once that is opened, the lines of Render, with the chain
// of causes where it has more than one link.
func (c *Chains) markdown(r *Row) string {
	title := "<code>" + r.Action.Symbol() + "</code> "
	if r.justMoves() {
		title += codeHTML(r.MovedFrom.String(), maxName) + " has moved to " + codeHTML(r.Addr.String(), maxName)
	} else {
		title += codeHTML(r.Addr.String(), maxName) + " " + r.Fate()
		if r.Reason != ReasonNew && r.Reason != ReasonRequested && r.Reason != ReasonDestroy {
			title += ", because " + textHTML(r.Because(), maxSentence)
		}
	}
	lines := lineDiff(r.Lines(0))
	if links, whole := c.Of(r, maxReviewed); len(links) > 1 {
		chain := []string{"  # Causes:"}
		for _, l := range ChainText(links, whole) {
			chain = append(chain, "  #   "+l)
		}
		lines = slices.Insert(lines, min(len(lines), 1+len(r.notes())), chain...)
	}
	return details(title, false, fenced("diff", lines, maxMarkdownJob))
}

// lineDiff are lines of a plan with their signs in the first column, by which viewers of differences colour them. No other line
// has anything there.
func lineDiff(lines []Line) []string {
	all := make([]string, len(lines))
	for i, l := range lines {
		text := l.String()
		lead := len(text) - len(strings.TrimLeft(text, " "))
		switch sign := l.sign(); {
		case sign != "" && lead > 0:
			text = sign + text[:lead] + text[lead+len(sign):]
		case sign == "" && text != "" && lead == 0:
			text = " " + text
		}
		all[i] = text
	}
	return all
}

// sign is the mark with which a line begins, "" for none. What users write never looks like one.
func (l Line) sign() string {
	for _, s := range l {
		if strings.TrimSpace(s.Text) == "" {
			continue
		}
		if s.Look == Added || s.Look == Removed || s.Look == Changed {
			return s.Text
		}
		return ""
	}
	return ""
}
