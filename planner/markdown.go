package planner

import (
	"fmt"
	"io"
	"strings"
)

// MarkdownOptions is what a plan for reviewers says besides itself.
type MarkdownOptions struct {
	// Notes are warnings, checks that failed and the like, shown above the jobs in this order.
	Notes []Note
	// File is where the plan is saved, for the hint how to see what is cut. Default: none.
	File string
}

// Note is something to be said about a plan.
type Note struct {
	Failed  bool   // else a warning
	Summary string // one line
	Text    string // what there is to read below it, "" for nothing
}

// Bounds of a plan in Markdown, in bytes. The comments of GitHub hold 65,536 characters; what is left is for whoever posts them.
// All parts but the jobs are bounded one by one, so that more than a third of the document is left for jobs, and the note that jobs are
// missing always has its place.
const (
	maxMarkdown      = 60_000
	maxMarkdownNotes = 8_000  // all notes
	maxMarkdownNote  = 3_000  // the text of one
	maxMarkdownPart  = 4_000  // drift, queues, outputs, schedules, forecast
	maxMarkdownJob   = 12_000 // the lines of one job
	maxMarkdownLine  = 1_000
	cutNotice        = 1_600
)

// WriteMarkdown writes the plan for a comment below a change that is under review: the sentence that Render ends with, counts, notes,
// and each job in a part that is opened by a click. No text of users can leave the place that it is given there, nor call anybody.
// Jobs that end, or run again, come first and are always named; of the others those are left out that 60,000 bytes do not hold.
func (p *Plan) WriteMarkdown(w io.Writer, o MarkdownOptions) error {
	var b strings.Builder
	b.WriteString("<h3>" + p.markdownTitle() + " " + codeHTML(p.Workflow, maxName) + "</h3>\n\n")
	b.WriteString(p.headline() + "\n\n")
	p.markdownCounts(&b)
	b.WriteString(markdownNotes(o.Notes))
	if drift := drawnLines(func(c *canvas) { p.renderDrift(c) }); len(drift) > 2 { // its title stands above it
		b.WriteString(markdownPart("Jobs have changed outside of Waybill", "text", drift[2:]))
	}
	if p.Former != "" {
		b.WriteString(markdownPart("The workflow has moved", "text", drawnLines(p.renderFormer)))
	}
	tail := p.markdownTail()
	b.WriteString(p.markdownJobs(maxMarkdown-b.Len()-len(tail), o.File))
	b.WriteString(tail)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteMarkdownFailure writes, in place of a plan, why there is none.
func WriteMarkdownFailure(w io.Writer, notes []Note) error {
	_, err := io.WriteString(w, "<h3>Waybill plan failed</h3>\n\nThere is no plan: what follows has to be mended first.\n\n"+markdownNotes(notes))
	return err
}

func (p *Plan) markdownTitle() string {
	switch {
	case p.Destroy:
		return "Waybill plan to destroy"
	case p.RefreshOnly:
		return "Waybill plan, refresh only, of"
	default:
		return "Waybill plan of"
	}
}

// headline is the sentence that scripts match.
func (p *Plan) headline() string {
	switch {
	case p.RefreshOnly && p.Forgotten() == 0 && len(p.Drift()) == 0:
		return "No changes. Your jobs still match the configuration."
	case p.RefreshOnly:
		return "This plan only looks at what happened outside of Waybill: " + counted(p.Forgotten(), "record is", "records are") + " forgotten, and nothing else changes."
	case !p.Empty():
		return p.Sentence()
	case p.Destroy:
		return "No changes. No jobs need to be destroyed."
	default:
		return "No changes. Your jobs match the configuration."
	}
}

// markdownCounts writes the table of what happens to how many.
func (p *Plan) markdownCounts(b *strings.Builder) {
	counts := map[Action]int{}
	for _, r := range p.Rows {
		counts[r.Action]++
	}
	var lines strings.Builder
	row := func(what string, n int) {
		if n > 0 {
			fmt.Fprintf(&lines, "| %s | %d |\n", what, n)
		}
	}
	row("`-` destroy", counts[Delete])
	row("`-/+` replace: a new generation runs", counts[Replace])
	row("`+` create", counts[Create])
	row("`~` update in place", counts[Update])
	row("`~` update of the record only", counts[Rerecord])
	row("`~` reopen", counts[Reopen])
	row("`.` forget", counts[Forget])
	row("unchanged", counts[NoOp])
	row("queues", len(p.Queues))
	row("outputs", len(p.Outputs))
	if lines.Len() > 0 {
		b.WriteString("| | number |\n| :-- | --: |\n" + lines.String() + "\n")
	}
	if p.Assumed {
		b.WriteString(assumedNote + "\n\n")
	}
}

// markdownNotes writes what there is to say about a plan, as much of it as there is room for. What failed comes first.
func markdownNotes(notes []Note) string {
	var b strings.Builder
	left := 0
	for _, failed := range [...]bool{true, false} {
		for i := range notes {
			n := &notes[i]
			if n.Failed != failed {
				continue
			}
			word := "Warning: "
			if n.Failed {
				word = "Error: "
			}
			one := "<p><b>" + word + "</b>" + textHTML(n.Summary, maxSentence) + "</p>\n\n"
			if n.Text != "" {
				one = details("<b>"+word+"</b>"+textHTML(n.Summary, maxSentence), n.Failed, fenced("text", strings.Split(strings.Trim(n.Text, "\n"), "\n"), maxMarkdownNote))
			}
			if left > 0 || b.Len()+len(one) > maxMarkdownNotes {
				left++
				continue
			}
			b.WriteString(one)
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "<p>%s not shown: see the job's log.</p>\n\n", counted(left, "more warning or error", "more warnings and errors"))
	}
	return b.String()
}

// markdownTail is what comes below the jobs.
func (p *Plan) markdownTail() string {
	if p.RefreshOnly {
		return ""
	}
	var b strings.Builder
	if p.Empty() {
		if lines := drawnLines(p.renderNothing); len(lines) > 2 {
			b.WriteString(fenced("text", lines[2:], maxMarkdownPart) + "\n")
		}
		return b.String()
	}
	if len(p.Queues) > 0 {
		b.WriteString(markdownPart("Changes to queues", "diff", lineDiff(lineUp(drawn(RenderOptions{Color: true}, p.renderQueues)))))
	}
	if len(p.Outputs) > 0 {
		b.WriteString(markdownPart("Changes to outputs", "diff", lineDiff(p.OutputsLines(0)[1:])))
	}
	var schedules []string
	for _, r := range p.Rows {
		if r.showsRecurrence() {
			schedules = append(schedules, r.recurrence().Text)
		}
	}
	b.WriteString(markdownPart("Schedules and gates", "text", schedules))
	b.WriteString(markdownPart("Forecast", "text", drawnLines(p.renderForecast)))
	if n := p.Forgotten(); n > 0 {
		b.WriteString(counted(n, "record", "records") + " will be forgotten without anything to destroy.\n")
	}
	return b.String()
}

// markdownPart is a part that is opened by a click, nothing without lines.
func markdownPart(title, language string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return details(title, false, fenced(language, lines, maxMarkdownPart))
}

// drawnLines are the lines of a part of a plan, without colours.
func drawnLines(part func(*canvas)) []string {
	text := strings.Trim(drawn(RenderOptions{}, part), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
