package board

import (
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/tui/screen"
)

// AwayLine says how long the store is silent, and how much longer it is waited for.
func AwayLine(e applier.StoreAway) string {
	return fmt.Sprintf("The store has not answered for %s; asking again... [%s left]", Elapsed(e.For), Elapsed(e.Left))
}

// BackLine says for how long the store was silent.
func BackLine(e applier.StoreBack) string {
	return fmt.Sprintf("The store answers again, after %s.", Elapsed(e.After))
}

// LockLine says who holds the lock and how much longer it is waited for.
func LockLine(e applier.LockWaiting) string {
	by := screen.Clean(e.Holder.Who)
	if by == "" {
		by = "somebody else"
	}
	doing := ""
	if e.Holder.Operation != "" {
		doing = fmt.Sprintf(" (%s since %s)", screen.Clean(e.Holder.Operation), e.Holder.Since.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("Waiting for the state lock, held by %s%s... [%s left]", by, doing, Elapsed(e.Left))
}

// Replanned says why a plan was made again, and what is left of it.
func Replanned(e applier.Replanned) string {
	text := "The state has changed since the plan was made"
	const shown = 3
	for i, a := range e.Moved[:min(shown, len(e.Moved))] {
		if i == 0 {
			text += " ("
		} else {
			text += ", "
		}
		text += screen.Clean(a.String())
	}
	switch n := len(e.Moved); {
	case n > shown:
		text += fmt.Sprintf(" and %d more)", n-shown)
	case n > 0:
		text += ")"
	}
	text += ", so it was made again. "
	if e.Plan == nil || e.Plan.Empty() {
		return text + "Nothing is left to change."
	}
	return text + e.Plan.Sentence()
}
