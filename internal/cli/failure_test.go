package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/applier"
	"github.com/waybill-dev/waybill/conveyor"
)

func TestAsDiagnostic(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		err             error
		summary, detail string
	}{
		{"failure", fail("What", "why %d.", 1), "What", "why 1."},
		{"wrapped failure", fmt.Errorf("x: %w", fail("What", "why.")), "What", "why."},
		{"one clause", errors.New("it broke"), "It broke", ""},
		{"several clauses", errors.New("read x: it broke"), "Read x", "Read x: it broke."},
		{"several lines", errors.New("read x\nwhich broke: badly."), "Read x", "Read x\nwhich broke: badly."},
		{"lock", fmt.Errorf("apply: %w", applier.ErrLockLost), "State lock lost", sentence("apply: " + applier.ErrLockLost.Error())},
		{"corrupt", fmt.Errorf("read: %w", conveyor.ErrCorrupt), "Unreadable data in the store",
			"Read: corrupt data. \"waybill doctor\" tells what else is wrong there."},
		{"full disk", errors.New("write job.a: MISCONF the embedded store changed nothing: write journal: no space left on device"),
			"The store cannot be written", "Write job.a: the embedded store changed nothing: write journal: no space left on device. " +
				"Make room on its disk and apply again: what was written stands, the rest follows."},
		{"Redis that cannot save", errors.New("take the lock: MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."),
			"The store cannot be written", "Take the lock: the store refuses to write, since it cannot save to its disk. " +
				"Make room on its disk and apply again: what was written stands, the rest follows."},
		{"full memory", errors.New("take the lock: OOM command not allowed when used memory > 'maxmemory'. script: 0123, on @user_script:1."),
			"Redis is out of memory", "Take the lock: redis is out of memory: its maxmemory is reached. " +
				"Raise its maxmemory and apply again: what was written stands, the rest follows. Workers go on meanwhile."},
		{"replica", fmt.Errorf("add: %w", conveyor.ErrReadOnly), "Redis is read-only",
			"Add: redis is a read-only replica, and writes go to its primary. Name the primary."},
		{"unfit", fmt.Errorf("start worker w: %w: it is version 6.0", conveyor.ErrStore), "Redis cannot keep jobs safely",
			"Start worker w: this Redis cannot keep jobs safely: it is version 6.0."},
		{"gone", fmt.Errorf("write: %w", conveyor.ErrUnavailable), "The store does not answer",
			"Write: redis unavailable. Once it does, apply again goes on where this stopped."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := asDiagnostic(tt.err)
			if got.Severity != hcl.DiagError || got.Summary != tt.summary || got.Detail != tt.detail {
				t.Errorf("got %q, %q; want %q, %q", got.Summary, got.Detail, tt.summary, tt.detail)
			}
		})
	}
}
