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
		// Where only addresses stand they have no quotes either; what is none keeps them.
		`{"predecessor":[{"job":"job.a[\"eu\"]"},{"jobs":["job.b"]}]}`: "{\n  \"predecessor\" = [\n    {\n      \"job\" = job.a[\"eu\"]\n    },\n" +
			"    {\n      \"jobs\" = [\n        job.b,\n      ]\n    },\n  ]\n}",
		`{"parent":[{"job":"no address"}],"job":"job.a"}`: "{\n  \"job\" = \"job.a\"\n  \"parent\" = [\n    {\n      \"job\" = \"no address\"\n    },\n  ]\n}",
	} {
		if got := tui.FormatDocument(value); got != want {
			t.Errorf("%s is written %s, want %s", value, got, want)
		}
	}
}
