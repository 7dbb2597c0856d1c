package console

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
)

const (
	prompt = "> "
	onward = ": " // while an expression goes on
)

// maxHistory is how many lines are remembered.
const maxHistory = 1000

// answered brings the answer to the lines that were entered.
type answered Answer

// model is the line and what was entered before.
type model struct {
	evaluate func(string) Answer
	keys     keyMap
	line     textinput.Model

	lines   []string // of the expression that is not complete
	history []string
	at      int    // in history; its length for the line that is being written
	draft   string // that line, while another one is shown
	busy    bool   // an answer is awaited
	left    bool
}

func newModel(o Options) model {
	line := textinput.New()
	line.Prompt = prompt
	line.Focus()
	return model{evaluate: o.Evaluate, keys: newKeyMap(), line: line}
}

func (m model) Init() tea.Cmd { return textinput.Blink }

func (m model) View() string {
	if m.left || m.busy {
		return ""
	}
	return m.line.View()
}

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case answered:
		return m.answer(Answer(msg))
	case tea.WindowSizeMsg:
		m.line.Width = max(10, msg.Width-len(prompt)-1)
		return m, nil
	case tea.KeyMsg:
		if m.busy {
			return m, nil
		}
		switch {
		case key.Matches(msg, m.keys.Enter):
			return m.enter()
		case key.Matches(msg, m.keys.Leave) && m.line.Value() == "":
			return m.leave()
		case key.Matches(msg, m.keys.Clear):
			if m.line.Value() == "" && len(m.lines) == 0 {
				return m.leave()
			}
			m.lines, m.line.Prompt, m.at = nil, prompt, len(m.history)
			m.line.SetValue("")
			return m, nil
		case key.Matches(msg, m.keys.Prior):
			return m.recall(m.at - 1), nil
		case key.Matches(msg, m.keys.Next):
			return m.recall(m.at + 1), nil
		}
	}
	var cmd tea.Cmd
	m.line, cmd = m.line.Update(msg)
	return m, cmd
}

// enter has the line evaluated, with those before it that it goes on from.
func (m model) enter() (tea.Model, tea.Cmd) {
	line := m.line.Value()
	echo := tea.Println(m.line.Prompt + line)
	if strings.TrimSpace(line) == "" && len(m.lines) == 0 {
		return m, echo
	}
	if n := len(m.history); n == 0 || m.history[n-1] != line {
		m.history = append(m.history, line)
		m.history = m.history[max(0, len(m.history)-maxHistory):]
	}
	m.at, m.draft, m.busy = len(m.history), "", true
	m.lines = append(m.lines[:len(m.lines):len(m.lines)], line)
	m.line.SetValue("")
	text, evaluate := strings.Join(m.lines, "\n"), m.evaluate
	return m, tea.Sequence(echo, func() tea.Msg { return answered(evaluate(text)) })
}

func (m model) answer(a Answer) (tea.Model, tea.Cmd) {
	m.busy = false
	switch {
	case a.Leave:
		return m.leave()
	case a.More:
		m.line.Prompt = onward
		return m, nil
	}
	m.lines, m.line.Prompt = nil, prompt
	if a.Text == "" {
		return m, nil
	}
	return m, tea.Println(strings.TrimRight(a.Text, "\n"))
}

// recall shows a line of the history, or the one that was being written.
func (m model) recall(at int) model {
	if at < 0 || at > len(m.history) {
		return m
	}
	if m.at == len(m.history) {
		m.draft = m.line.Value()
	}
	m.at = at
	text := m.draft
	if at < len(m.history) {
		text = m.history[at]
	}
	m.line.SetValue(text)
	m.line.CursorEnd()
	return m
}

func (m model) leave() (tea.Model, tea.Cmd) {
	m.left = true
	return m, tea.Quit
}
