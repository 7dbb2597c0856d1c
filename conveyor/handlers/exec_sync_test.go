package handlers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/conveyor/wire"
)

func TestExecSync(t *testing.T) {
	t.Parallel()
	type state = map[string]string
	tests := []struct {
		name   string
		before state
		shell  string
		want   state // nil: nothing is set
		output string
		defers []time.Duration
		err    string // contained; "" is success
	}{
		{name: "nothing there, nothing written", shell: `test ! -e "$WAYBILL_SYNC"`},
		{name: "read", before: state{"cursor": "42", "at": "a b=c"}, shell: `cat "$WAYBILL_SYNC"`, output: "at=a b=c\ncursor=42\n"},
		{name: "the first value", shell: `echo cursor=1 > "$WAYBILL_SYNC"`, want: state{"cursor": "1"}},
		{name: "counted on", before: state{"n": "41"}, want: state{"n": "42"},
			shell: `n=$(sed -n 's/^n=//p' "$WAYBILL_SYNC"); echo "n=$((n + 1))" > "$WAYBILL_SYNC"`},
		{name: "a key is added", before: state{"a": "1"}, shell: `echo b=2 >> "$WAYBILL_SYNC"`, want: state{"a": "1", "b": "2"}},
		{name: "the last line of a key counts", before: state{"a": "1"}, shell: `echo a=2 >> "$WAYBILL_SYNC"`, want: state{"a": "2"}},
		{name: "emptied", before: state{"a": "1"}, shell: `: > "$WAYBILL_SYNC"`, want: state{}},
		{name: "removed is not touched", before: state{"a": "1"}, shell: `rm "$WAYBILL_SYNC"`},
		{name: "JSON", before: state{"a": "1"}, shell: `printf '{"a": 2, "b": true, "c": "x\\ny"}' > "$WAYBILL_SYNC"`, want: state{"a": "2", "b": "true", "c": "x\ny"}},
		{name: "a line break is given as JSON", before: state{"a": "x\ny"}, shell: `cat "$WAYBILL_SYNC"`, output: `{"a":"x\ny"}`},
		{name: "so is a key that lines cannot hold", before: state{"a=b": "1"}, shell: `cat "$WAYBILL_SYNC"`, output: `{"a=b":"1"}`},
		{name: "neither", shell: `printf 'a=1\nwhat\n' > "$WAYBILL_SYNC"`, err: "WAYBILL_SYNC: line 2 is neither empty nor key=value"},
		{name: "a list", shell: `echo '{"a": [1]}' > "$WAYBILL_SYNC"`, err: `the value of "a" is no string`},
		{name: "half an object", shell: `echo '{"a":' > "$WAYBILL_SYNC"`, err: "starts like JSON"},
		{name: "two objects", shell: `echo '{}{}' > "$WAYBILL_SYNC"`, err: "something follows"},
		{name: "no text", shell: `printf 'a=\377' > "$WAYBILL_SYNC"`, err: "not UTF-8"},
		{name: "far too much", shell: `head -c 1048577 /dev/zero > "$WAYBILL_SYNC"`, err: "too large"},
		{name: "a failed attempt leaves nothing", before: state{"a": "1"}, shell: `echo a=2 > "$WAYBILL_SYNC"; echo 5s > "$WAYBILL_DEFER"; false`, err: "exit status 1"},
		{name: "comes back", shell: `echo 90s > "$WAYBILL_DEFER"`, defers: []time.Duration{90 * time.Second}},
		{name: "turns a page", before: state{"page": "1"}, want: state{"page": "2"}, defers: []time.Duration{0},
			shell: `echo page=2 > "$WAYBILL_SYNC"; echo 0 > "$WAYBILL_DEFER"`},
		{name: "an empty file does not defer", shell: `: > "$WAYBILL_DEFER"`},
		{name: "no duration", shell: `echo soon > "$WAYBILL_DEFER"`, err: `WAYBILL_DEFER: "soon" is not a duration`},
		{name: "a negative one", shell: `echo -1s > "$WAYBILL_DEFER"`, err: `WAYBILL_DEFER: "-1s" is not a duration`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newRecorder()
			a.sync = tt.before
			err := newTestExecutor(t, Options{}).run(t.Context(), &wire.Job{Uuid: "u"}, Exec{Shell: tt.shell}, a)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("error %v, want one with %q", err, tt.err)
			}
			a.left(t, tt.want, tt.defers)
			if diff := cmp.Diff(tt.output, a.text()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}
