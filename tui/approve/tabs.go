package approve

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// tabTexts are the tabs that list something, without styles, and the cells that each begins at.
func (m *model) tabTexts() (which []tab, texts []string, starts []int) {
	for _, words := range []bool{true, false} {
		which, texts, starts = nil, nil, nil
		at := 0
		for t := range tabs {
			n := m.list.changes.counts[t]
			if n == 0 && t != tabAll {
				continue
			}
			text := tabSymbols[t] + " " + grouped(n)
			if words && t != tabAll {
				text += " " + tabWords[t]
			}
			if t == m.list.tab {
				text = "[" + text + "]"
			} else {
				text = " " + text + " "
			}
			which, texts, starts = append(which, t), append(texts, text), append(starts, at)
			at += ansi.StringWidth(text) + 1
		}
		if at <= m.width {
			break
		}
	}
	return which, texts, starts
}

func (m *model) tabLine() string {
	which, texts, _ := m.tabTexts()
	for i, t := range which {
		switch {
		case t == m.list.tab:
			texts[i] = m.styles.tab.Render(texts[i])
		case t != tabAll:
			sign := strings.Join(paintAll(m.symbol(tabSymbols[t])), "")
			texts[i] = " " + strings.TrimLeft(sign, " ") + texts[i][1+len(tabSymbols[t]):]
		}
	}
	return strings.Join(texts, " ")
}

func paintAll(pieces []piece) (painted []string) {
	for _, p := range pieces {
		painted = append(painted, p.style.Render(strings.TrimLeft(p.text, " ")))
	}
	return painted
}
