package board

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/applier"
)

// TestWarnings keeps each warning once, for as long as it holds.
func TestWarnings(t *testing.T) {
	t.Parallel()
	paused, unserved := applier.Warning{Summary: "paused"}, applier.Warning{Summary: "unserved"}
	b := New()
	for _, e := range []applier.Event{paused, unserved, paused, applier.WarningOver{Warning: paused}, applier.WarningOver{Warning: paused}} {
		b.Observe(e)
	}
	if diff := cmp.Diff([]applier.Warning{unserved}, b.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
