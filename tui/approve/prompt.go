package approve

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/waybill-dev/waybill/tui/screen"
)

// input is a line that is being typed.
type input struct{ text string }

// maxInput bounds what is typed or pasted, in bytes.
const maxInput = 400

func (i *input) add(runes []rune) {
	i.text += screen.Clean(string(runes))
	if len(i.text) > maxInput {
		i.text = strings.ToValidUTF8(i.text[:maxInput], "")
	}
}

// back takes the last character away.
func (i *input) back() {
	last := 0
	for at := 0; at < len(i.text); {
		cluster, _ := ansi.FirstGraphemeCluster(i.text[at:], ansi.GraphemeWidth)
		last = at
		at += max(1, len(cluster))
	}
	i.text = i.text[:last]
}

// shown is the end of the text, with the cursor, in at most width cells.
func (i *input) shown(width int) string {
	text := i.text
	for text != "" && ansi.StringWidth(text)+1 > width {
		cluster, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		text = text[max(1, len(cluster)):]
	}
	return text + "█"
}

// prompt asks for the word that approves.
type prompt struct {
	open   bool
	answer input
	wrong  string // what was entered instead, "" for nothing
}

// verdict is what an answer means.
type verdict uint8

const (
	again    verdict = iota // neither
	approves                // "yes", and nothing else
	declines                // "no"
	returns                 // nothing was entered
)

func (p *prompt) enter() verdict {
	switch answer := strings.TrimSpace(p.answer.text); answer {
	case "yes":
		return approves
	case "no", "n":
		return declines
	case "":
		return returns
	default:
		p.wrong, p.answer.text = answer, ""
		return again
	}
}

// add takes what is typed. The y that has opened the prompt is the answer's first letter; who types the whole word
// afterwards means the same.
func (p *prompt) add(runes []rune) {
	if p.answer.text == "y" && len(runes) > 0 && runes[0] == 'y' {
		p.answer.text = ""
	}
	p.answer.add(runes)
	p.wrong = ""
}
