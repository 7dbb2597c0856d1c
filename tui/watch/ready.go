package watch

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/tui/board"
	"github.com/waybill-dev/waybill/tui/screen"
)

// readied is a list of a workflow's jobs that was made ready beside the view, so that a hundred thousand jobs do not stop it.
type readied struct {
	applier.OfWorkflow
	names   []string
	members members
}

// prepared makes lists of jobs ready before the view gets them.
func prepared(take tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		msg := take()
		if events, ok := msg.(screen.Events); ok {
			for i, e := range events.Events {
				of, ok := e.(applier.OfWorkflow)
				if !ok {
					continue
				}
				if f, ok := of.Event.(applier.Following); ok {
					events.Events[i] = ready(of.Workflow, f)
				}
			}
		}
		return msg
	}
}

func ready(workflow string, f applier.Following) readied {
	r := readied{OfWorkflow: applier.OfWorkflow{Workflow: workflow, Event: board.NewRoster(f)}, names: make([]string, len(f.Jobs))}
	for i, j := range f.Jobs {
		r.names[i] = strings.ToLower(screen.Clean(j.Addr.String()))
	}
	r.members = enrol(len(f.Jobs), func(i int) board.Section { return board.Standing(f.Jobs[i].Status) })
	return r
}
