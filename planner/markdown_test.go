package planner_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/planner"
)

// reviewed is a plan as Markdown, of which nothing has left its place.
func reviewed(t fataler, p *planner.Plan, o planner.MarkdownOptions) string {
	var b bytes.Buffer
	if err := p.WriteMarkdown(&b, o); err != nil {
		t.Fatalf("%v", err)
	}
	if why := misplaced(b.String()); why != "" {
		t.Fatalf("%s:\n%s", why, b.String())
	}
	return b.String()
}

var (
	fenceLine   = regexp.MustCompile("^(`{3,})(diff|text)$")
	htmlLine    = regexp.MustCompile(`^<(?:h3|p|details|details open)>.*</(?:h3|p|summary)>$`)
	tableLine   = regexp.MustCompile("^\\| (?:`[-+/~.]+` )?[a-z:]* ?[-a-z :]*\\| (?:number|--:|\\d+) \\|$")
	sentence    = regexp.MustCompile(`^[A-Z0-9][A-Za-z0-9,:.;() =-]*\.$`)
	tags        = regexp.MustCompile(`</?(?:h3|p|b|code|details|summary)>|<details open>`)
	codeElement = regexp.MustCompile(`<code>[^<]*</code>`)
	entity      = regexp.MustCompile(`&(?:amp|lt|gt|quot|#39|#96|#124|#8203);`)
	mention     = regexp.MustCompile(`[@#!~%$^&][\pL\pN"'/@_-]`)
)

// misplaced reads a document line by line and says what is wrong with it, "" for nothing.
func misplaced(text string) string {
	if len(text) > 60_000 || !utf8.ValidString(text) {
		return fmt.Sprintf("%d bytes, or no UTF-8", len(text))
	}
	fence, language, open := "", "", 0
	for i, line := range strings.Split(text, "\n") {
		wrong := func(why string) string { return fmt.Sprintf("line %d %s: %q", i+1, why, line) }
		for _, r := range line {
			if r != '\t' && !unicode.IsPrint(r) {
				return wrong("has a control character")
			}
		}
		if fence != "" {
			switch {
			case line == fence:
				fence = ""
			case strings.Contains(line, fence):
				return wrong("ends its fence")
			case language == "diff" && line != "" && !strings.ContainsRune(" +-~", rune(line[0])):
				return wrong("begins with no sign")
			}
			continue
		}
		if m := fenceLine.FindStringSubmatch(line); m != nil {
			fence, language = m[1], m[2]
			continue
		}
		switch {
		case line == "":
		case line == "</details>":
			open--
		case strings.HasPrefix(line, "<"):
			if !htmlLine.MatchString(line) {
				return wrong("is no line of HTML")
			}
			open += strings.Count(line, "<details")
			rest := tags.ReplaceAllString(codeElement.ReplaceAllString(line, ""), "")
			if strings.ContainsAny(tags.ReplaceAllString(line, ""), "<>`|\"") {
				return wrong("has something that is not escaped")
			}
			rest = entity.ReplaceAllStringFunc(rest, func(e string) string { return map[bool]string{true: " ", false: "'"}[e == "&#8203;"] })
			if m := mention.FindString(rest); m != "" {
				return wrong("calls somebody with " + m)
			}
		case tableLine.MatchString(line), sentence.MatchString(line):
		default:
			return wrong("is nothing that belongs there")
		}
		if open < 0 || open > 1 {
			return wrong("nests parts")
		}
	}
	if fence != "" || open != 0 {
		return "a fence or part is not closed"
	}
	return ""
}

// evil is what somebody might write who wants out.
var evil = []string{
	"```", "````````", "~~~", "</details>", "</summary>", "</code>", "<script>alert(1)</script>", "<!--", "-->", "|", "@octocat", "#12", "!34", "~bug",
	"$x", "&epic", "&lt;", "&#64;me", "https://example.com", "![x](y)", "[a](b)", "**", "\n", "\r\n", "\n\n", "\t", "    ", "+ ", "- ", "~ ", "-/+", "\x00", "\x1b[31m",
	"\u202e", "\u2028", "\xff", "é", "日本", "a", "EOT", "\nEOT\n", "`", "\\", "'", "\"", " ", "${x}", strings.Repeat("`", 100), strings.Repeat("x", 3000),
}

// drawEvil puts some of it together.
func drawEvil(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(evil), 0, 6).Draw(t, label), "")
}

// evilPlan has the texts wherever users, or whoever can write to Redis, can put text.
func evilPlan(t fataler, key, text, cause string, kind int) *planner.Plan {
	payload, err := json.Marshal(map[string]any{key: text, "list": []string{text, key}, "text": "one\n" + text + "\n" + key + "\n", "env": map[string]string{text: key}})
	if err != nil {
		t.Fatalf("%v", err)
	}
	j := jobOf("a @x")
	j.Addr.Key = config.InstanceKey{Kind: config.KeyString, Str: key}
	j.Payload, j.Shown, j.Queue = payload, payload, "q"+text
	j.Predecessors[0].UUIDs = []string{"x" + text}
	heir := jobOf("b a")
	heir.Predecessors[0].Jobs = []config.Addr{j.Addr}
	w := &config.Workflow{Name: "w" + key, Jobs: []*config.Job{j, heir}, Queues: []*config.Queue{{Name: "q" + text}},
		Outputs: []*config.Output{{Name: text, Value: cty.StringVal(key)}}}
	s := noState()
	make := func(w *config.Workflow) *planner.Plan {
		p, diags := planner.Make(w, s, planner.Options{})
		if diags.HasErrors() {
			t.Fatalf("%v", diags)
		}
		return p
	}
	p := make(w)
	if kind == 0 {
		return p
	}
	if err := planner.Settle(p, s); err != nil {
		t.Fatalf("%v", err)
	}
	for _, r := range p.Rows {
		s.Records[r.Addr.String()] = r.Next
		s.Live[r.Addr.String()] = planner.Live{Status: planner.Failed, Opening: 1, Cause: cause}
	}
	s.Outputs = map[string]string{text: strconv.Quote(cause)}
	switch kind {
	case 1:
		return make(w)
	case 2:
		j2 := *j
		j2.Payload = bytes.ReplaceAll(payload, []byte("one"), []byte("two"))
		j2.Shown = j2.Payload
		s.Live[j.Addr.String()] = planner.Live{Status: planner.Completed, Opening: 1}
		return make(&config.Workflow{Name: w.Name, Jobs: []*config.Job{&j2, heir}})
	case 3:
		s.Live[j.Addr.String()] = planner.Live{Status: planner.Cancelled, Opening: 1, Cause: cause}
		return make(&config.Workflow{Name: w.Name})
	default:
		s.Live = map[string]planner.Live{}
		return make(w)
	}
}

// TestMarkdownHoldsEverythingInPlace draws plans and notes of all that could break out of a fence, a tag or a table.
func TestMarkdownHoldsEverythingInPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := evilPlan(t, drawEvil(t, "key"), drawEvil(t, "text"), drawEvil(t, "cause"), rapid.IntRange(0, 4).Draw(t, "kind"))
		o := planner.MarkdownOptions{File: drawEvil(t, "file")}
		for range rapid.IntRange(0, 4).Draw(t, "notes") {
			o.Notes = append(o.Notes, planner.Note{Failed: rapid.Bool().Draw(t, "failed"), Summary: drawEvil(t, "summary"), Text: drawEvil(t, "note")})
		}
		reviewed(t, p, o)
		var b bytes.Buffer
		if err := planner.WriteMarkdownFailure(&b, o.Notes); err != nil || misplaced(b.String()) != "" {
			t.Fatalf("%v, %s\n%s", err, misplaced(b.String()), b.String())
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	for i, s := range evil {
		f.Add(s, evil[len(evil)-1-i], s+s, i%5)
	}
	f.Fuzz(func(t *testing.T, key, text, cause string, kind int) {
		if len(key)+len(text)+len(cause) > 100_000 || !utf8.ValidString(key+text) {
			return // no address and no attribute holds it
		}
		reviewed(t, evilPlan(t, key, text, cause, kind%5), planner.MarkdownOptions{Notes: []planner.Note{{Summary: cause, Text: text}}, File: key})
	})
}

// TestMarkdownIsBounded holds plans of any size to the bound, and counts what they tell.
func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name            string
		destroyed, made int
		key             string // of each job
		want            []string
	}{
		{"all of few", 3, 4, "k", nil},
		{"some of many new ones", 0, 1000, "k", []string{`^<p><b>\d+ more jobs not shown</b> \(\d+ to add\): see the job's log or run <code>waybill show saved.wbplan</code>.</p>$`}},
		{"new ones give way", 200, 1000, "k", []string{`^<p><b>\d+ more jobs not shown</b>`, `more jobs to destroy or replace, without the details`}},
		{"many that end, by name", 1000, 5, "k", []string{`^-   job.gone\["k999"\]$`, `<b>5 more jobs not shown</b> \(5 to add\)`}},
		{"too many that end, by block", 6_000, 5, "k", []string{`^-   job.gone \(\d+ jobs\)$`}},
		{"long names", 500, 500, strings.Repeat("long/", 60), []string{`^-   job.gone \(\d+ jobs\)$`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			jobs := func(name string, n int) *config.Workflow {
				w := &config.Workflow{Name: "test"}
				for i := range n {
					j := jobOf(name)
					j.Addr.Key = config.InstanceKey{Kind: config.KeyString, Str: fmt.Sprint(test.key, i)}
					w.Jobs = append(w.Jobs, j)
				}
				return w
			}
			p := mustMake(t, jobs("new", test.made), stateOf(t, jobs("gone", test.destroyed)), planner.Options{})
			text := reviewed(t, p, planner.MarkdownOptions{File: "saved.wbplan"})
			for _, want := range append(test.want, fmt.Sprintf(`^Plan: %d to add, 0 to change, %d to destroy\.$`, test.made, test.destroyed)) {
				if !regexp.MustCompile("(?m)" + want).MatchString(text) {
					t.Errorf("%s is missing in:\n%s", want, text)
				}
			}
			shown := strings.Count(text, "</code> will be")
			if told := shown + sum(text, `<b>(\d+) more jobs? not shown`) + sum(text, `<summary>(\d+) more jobs? to destroy`); told != test.made+test.destroyed {
				t.Errorf("%d jobs are told of, want %d", told, test.made+test.destroyed)
			}
			named := strings.Count(text, "\n-   job.gone[") + sum(text, `\n-   job.gone \((\d+) jobs\)`) + sum(text, `\n {4}\.\.\. and (\d+) more jobs?\n`)
			if want := sum(text, `<summary>(\d+) more jobs? to destroy`); named != want {
				t.Errorf("%d of the jobs that end are named without details, want %d", named, want)
			}
		})
	}
}

// sum adds up the numbers in a text that a pattern finds.
func sum(text, pattern string) (n int) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		more, _ := strconv.Atoi(m[1])
		n += more
	}
	return n
}

// TestMarkdownOfManyBlocks has more blocks that end than can be named.
func TestMarkdownOfManyBlocks(t *testing.T) {
	t.Parallel()
	w := &config.Workflow{Name: "test"}
	for i := range 5000 {
		w.Jobs = append(w.Jobs, jobOf(fmt.Sprintf("block_with_a_long_name_%d", i)))
	}
	text := reviewed(t, mustMake(t, &config.Workflow{Name: "test"}, stateOf(t, w), planner.Options{}), planner.MarkdownOptions{})
	told := strings.Count(text, "\n-   job.block") + sum(text, `\n {4}\.\.\. and (\d+) more jobs?\n`)
	if want := sum(text, `<summary>(\d+) more jobs to destroy`); told != want || want < 4900 {
		t.Errorf("%d of the jobs are told of in the list, want %d", told, want)
	}
}

// TestMarkdownNotes checks that errors come first, and that what is left out is counted.
func TestMarkdownNotes(t *testing.T) {
	t.Parallel()
	p := mustMake(t, workflowOf("a"), noState(), planner.Options{})
	var notes []planner.Note
	for i := range 100 {
		notes = append(notes, planner.Note{Failed: i == 99, Summary: fmt.Sprintf("Note %d", i), Text: strings.Repeat("a line of it\n", 100)})
	}
	text := reviewed(t, p, planner.MarkdownOptions{Notes: notes})
	first, second := strings.Index(text, "<b>Error: </b>Note 99"), strings.Index(text, "<b>Warning: </b>Note 0<")
	if first < 0 || second < first || !strings.Contains(text, "<details open><summary><b>Error") {
		t.Errorf("the error does not come first:\n%s", text)
	}
	if n := strings.Count(text, "<b>Warning: </b>"); n+sum(text, `<p>(\d+) more warnings and errors not shown`) != 99 {
		t.Errorf("%d warnings are shown, and the rest is not counted:\n%s", n, text)
	}
}
