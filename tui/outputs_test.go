package tui_test

import (
	"testing"

	"github.com/waybill-dev/waybill/tui"
)

// TestFormatDocument writes references to other jobs as in the files, and nothing else.
func TestFormatDocument(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`"${job.a.result.rows}"`:                           `job.a.result.rows`,
		`"rows: ${job.a.result.rows}, ${job.b.uuid}!"`:     `"rows: ${job.a.result.rows}, ${job.b.uuid}!"`,
		`"say \"${job.a[\"}\"].result[\"k\"]}\" ${other}"`: `"say \"${job.a["}"].result["k"]}\" $${other}"`,
		`"${HOME} %{ if }"`:                                `"$${HOME} %%{ if }"`,
		`"${"`:                                             `"$${"`,
		`""`:                                               `""`,
	} {
		if got := tui.FormatDocument(value); got != want {
			t.Errorf("%s is written %s, want %s", value, got, want)
		}
	}
}
