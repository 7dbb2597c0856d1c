package approve

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/planner"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	record := func(p *planner.Plan) string {
		var b bytes.Buffer
		if err := WriteRecord(&b, p, planner.RenderOptions{Width: 80}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	p := sales(t)
	var text bytes.Buffer
	if err := p.Render(&text, planner.RenderOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text.String(), record(p)); diff != "" {
		t.Errorf("of a small plan (-text +record):\n%s", diff)
	}
	large := record(many(t, 2000))
	if n := strings.Count(large, "\n"); n != maxRecord+3 {
		t.Errorf("of a large plan stay %d lines:\n%s", n, large)
	}
	for _, want := range []string{"  + job.split  500 instances, new\n", "  + job.step000000  new\n", "more changes.\n", "\nPlan: 2000 to add, 0 to change, 0 to destroy.\n"} {
		if !strings.Contains(large, want) {
			t.Errorf("%q is not in\n%s", want, large)
		}
	}
}
