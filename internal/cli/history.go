package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/planner"
)

// shownRevisions is how many revisions history lists without a number.
const shownRevisions = 20

func (a *app) historyCommand() *cobra.Command {
	var r redisFlag
	asJSON := false
	cmd := &cobra.Command{
		Use: "history [N] [DIR | FILES]", Short: "List what was applied, when and by whom",
		Long: `Lists the last applies of a workflow that changed something, the latest first, or
the last N of them. The newest 100 are kept.

REVISION is the commit that the files were of, where they are in a Git work tree;
-dirty says that some differed from it. ADD, CHANGE and DESTROY are what the apply
did. A line that is marked "incomplete" belongs to an apply that was interrupted, or
that is still at it. "rollback" goes back to one of them.`,
		Example: `waybill history
waybill history 5 examples/sales
waybill history -json | jq '.revisions[0]'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			limit, paths, err := countArgument(args)
			if err != nil {
				return err
			}
			w, err := a.load(paths, &variables{}, settingsOnly, nil)
			if err != nil {
				return err
			}
			s, err := a.open(cmd.Context(), r, w, reading)
			if err != nil {
				return err
			}
			defer s.close() //nolint:errcheck // nothing was written
			h, err := applier.ReadHistory(cmd.Context(), s.client, s.workflow)
			if err != nil {
				return err
			}
			h.Revisions = h.Revisions[:min(limit, len(h.Revisions))]
			if asJSON {
				return a.revisionsJSON(s, h)
			}
			return a.revisions(s, h)
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

// countArgument takes a number out of a command's arguments; the rest are paths. A file that is called like a number is a file.
func countArgument(args []string) (n int, paths []string, err error) {
	if len(args) == 0 {
		return shownRevisions, args, nil
	}
	n, err = strconv.Atoi(args[0])
	if _, is := os.Stat(args[0]); err != nil || is == nil {
		return shownRevisions, args, nil
	}
	if n < 1 {
		return 0, nil, fail("Wrong arguments", "history takes how many revisions to list, a number from 1 on, and got %d.", n)
	}
	return n, args[1:], nil
}

func (a *app) revisions(s *store, h applier.History) error {
	if len(h.Revisions) == 0 {
		fmt.Fprintf(a.p.Stderr, "Nothing was applied to workflow %q yet.\n", s.workflow)
		return nil
	}
	rows := [][]string{{"N", "APPLIED", "BY", "REVISION", "ADD", "CHANGE", "DESTROY", "WHAT"}}
	for _, r := range h.Revisions {
		rows = append(rows, []string{strconv.FormatInt(r.Number, 10), r.At.UTC().Format("2006-01-02 15:04:05Z"), byWhom(r), shortRevision(r.Source),
			strconv.Itoa(r.Added), strconv.Itoa(r.Changed), strconv.Itoa(r.Destroyed), whatOf(r)})
	}
	if err := table(a.p.Stdout, rows); err != nil {
		return err
	}
	if over := h.Revisions[0]; over.Of > 0 {
		fmt.Fprintf(a.p.Stderr, "\nA rollback to revision %d stands: what came after %[1]d is not applied again by \"waybill reconcile\" until its source shows something new.\n", over.Of)
	}
	return nil
}

// byWhom is the author of what was applied.
func byWhom(r applier.Revision) string {
	if r.Source.Author != "" {
		return r.Source.Author
	}
	return r.Who
}

// shortRevision is a revision as people write it.
func shortRevision(s planner.Source) string {
	const short, whole = 10, 40 // of a commit
	switch {
	case s.Revision == "":
		return "-"
	case len(s.Revision) >= whole:
		return s.Revision[:short] + s.Revision[whole:]
	}
	return s.Revision
}

func whatOf(r applier.Revision) string {
	text := r.Source.Message
	switch {
	case r.Of > 0:
		text = fmt.Sprintf("rollback to %d", r.Of)
	case r.Operation != "apply" && r.Operation != "reconcile":
		text = r.Operation
	case text == "":
		text = "-"
	}
	if !r.Complete {
		text += " (incomplete)"
	}
	return text
}

// shownRevision is a revision in JSON.
type shownRevision struct {
	Number    int64        `json:"number"`
	At        string       `json:"applied_at"`
	Who       string       `json:"applied_by"`
	Operation string       `json:"operation"`
	Source    *shownSource `json:"source,omitempty"`
	Added     int          `json:"add"`
	Changed   int          `json:"change"`
	Destroyed int          `json:"destroy"`
	Complete  bool         `json:"complete"`
	Of        int64        `json:"rollback_to,omitempty"`
	Possible  bool         `json:"can_roll_back_to"`
	Without   string       `json:"why_not,omitempty"`
}

type shownSource struct {
	Revision string `json:"revision,omitempty"`
	Author   string `json:"author,omitempty"`
	Message  string `json:"message,omitempty"`
	Time     string `json:"time,omitempty"`
}

func (a *app) revisionsJSON(s *store, h applier.History) error {
	list := []shownRevision{}
	for _, r := range h.Revisions {
		shown := shownRevision{Number: r.Number, At: r.At.UTC().Format(time.RFC3339), Who: r.Who, Operation: r.Operation, Added: r.Added, Changed: r.Changed,
			Destroyed: r.Destroyed, Complete: r.Complete, Of: r.Of, Possible: h.Archives[r.Config], Without: whyNot(h, r)}
		if r.Source != (planner.Source{}) {
			shown.Source = &shownSource{Revision: r.Source.Revision, Author: r.Source.Author, Message: r.Source.Message, Time: stamp(r.Source.Time)}
		}
		list = append(list, shown)
	}
	e := json.NewEncoder(a.p.Stdout)
	e.SetEscapeHTML(false)
	return e.Encode(map[string]any{"format_version": "1.0", "workflow": s.workflow, "revisions": list})
}

// whyNot says why nothing can be rolled back to a revision; "" when that is possible.
func whyNot(h applier.History, r applier.Revision) string {
	switch {
	case h.Archives[r.Config]:
		return ""
	case r.Without != "":
		return r.Without
	}
	return "its configuration is not kept any more"
}
