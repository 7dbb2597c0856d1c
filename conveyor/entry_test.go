package conveyor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeStatus(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, entry string
		want        Status
	}{
		{"plain", "q1|etl|12", Status{State: StateQueued, Queue: "etl", Priority: 1, Place: 12, Opening: 1}},
		{"held", "h2r|etl||d1500|i?p:a,+s:b|p3", Status{
			State: StateHeld, Queue: "etl", Priority: 2, Opening: 1, Recorded: true, DueAt: time.UnixMilli(1500), Pending: 4,
		}},
		{"running", "r0bc|etl|7|f3|a1|l2|g2|wme|s1000", Status{
			State: StateRunning, Queue: "etl", Place: 7, Fence: 3, Attempts: 1, Lost: 2, Opening: 2, Owner: "me", Started: time.UnixMilli(1000),
			CancelRequested: true,
		}},
		{"failed by a child", "f1w|etl|7|t2000|b2|hC", Status{
			State: StateFailed, Queue: "etl", Priority: 1, Place: 7, Opening: 1, ChildFailed: true, Reopened: true, Withdrawn: true, FailedChildren: 2, Ended: time.UnixMilli(2000),
		}},
		{"run again after its own work failed", "r1|etl|7|g3|s1000|hCF", Status{
			State: StateRunning, Queue: "etl", Priority: 1, Place: 7, Opening: 3, Started: time.UnixMilli(1000),
		}},
		{"complete after its children", "C1|etl|7|s1000|t9000|R500", Status{
			State: StateCompleted, Queue: "etl", Priority: 1, Place: 7, Opening: 1, Started: time.UnixMilli(1000), Ended: time.UnixMilli(9000), Worked: time.Second / 2,
		}},
		{"complete at once", "C1|etl|7|s1000|t9000", Status{
			State: StateCompleted, Queue: "etl", Priority: 1, Place: 7, Opening: 1, Started: time.UnixMilli(1000), Ended: time.UnixMilli(9000), Worked: 8 * time.Second,
		}},
		{"cancelled with its children", "X1|etl|7|s1000|t9000|R500", Status{
			State: StateCancelled, Queue: "etl", Priority: 1, Place: 7, Opening: 1, Started: time.UnixMilli(1000), Ended: time.UnixMilli(9000),
		}},
		{"closing", "c1|etl|7|s1000|R0", Status{State: StateClosing, Queue: "etl", Priority: 1, Place: 7, Opening: 1, Started: time.UnixMilli(1000)}},
		{"skipped by a success", "k1|etl||t1|za", Status{
			State: StateSkipped, Queue: "etl", Priority: 1, Opening: 1, Success: true, Cause: "a", Ended: time.UnixMilli(1),
		}},
		{"template", "t1|etl|", Status{State: StateTemplate, Queue: "etl", Priority: 1, Opening: 1}},
		{"occurrence of a root", "q1|etl|12|C60000:a", Status{
			State: StateQueued, Queue: "etl", Priority: 1, Place: 12, Opening: 1, Template: "a", Root: "a", Tick: time.UnixMilli(60000).UTC(),
		}},
		{"occurrence downstream of one", "q1|etl|12|C60000:a:b", Status{
			State: StateQueued, Queue: "etl", Priority: 1, Place: 12, Opening: 1, Template: "a", Root: "b", Tick: time.UnixMilli(60000).UTC(),
		}},
		{"limited executions", "q1|etl|12|N5:4", Status{State: StateQueued, Queue: "etl", Priority: 1, Place: 12, Opening: 1, MaxCycles: 5, Cycles: 4}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.want.UUID = "u"
			got, err := decodeStatus("u", row.entry)
			if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
	for _, bad := range []string{"", "q", "q1", "|", "q9|etl|1", "?1|etl|1", "q1|etl|x", "q1|etl|1|f", "q1|etl|1||f1", "q1|etl|1|%1", "q1|etl|1|C1",
		"q1|etl|1|Cx:a", "q1|etl|1|C1:", "q1|etl|1|N1", "q1|etl|1|Nx:1", "q1|etl|1|N1:x"} {
		if _, err := decodeStatus("u", bad); err == nil {
			t.Errorf("%q was decoded", bad)
		}
	}
}

// Every state has a name and a letter, and what is decoded can be told to a script again.
func TestStates(t *testing.T) {
	t.Parallel()
	for s := StateUnknown; s <= StateExpired; s++ {
		letters := stateLetters([]State{s})
		if letters == "" || s.String() == "" {
			t.Errorf("state %d: letters %q, name %q", s, letters, s)
		}
		for i := range letters {
			if letters[i] != '-' && stateOf[letters[i]] != s {
				t.Errorf("state %s: letter %c is %s", s, letters[i], stateOf[letters[i]])
			}
		}
	}
	if got := State(200).String(); got != "invalid" {
		t.Errorf("got %q", got)
	}
}

// Beyond 64 bytes a value doubles what a Redis hash takes.
func TestPlainEntryIsSmall(t *testing.T) {
	t.Parallel()
	plain := "q1r|a-queue-of-twenty-four|99999999999999|d1800000000000"
	if _, err := decodeStatus("u", plain); err != nil || len(plain) >= 64 {
		t.Errorf("%d bytes, %v", len(plain), err)
	}
}

// FuzzStored feeds what may stand in a damaged store to its readers: they refuse it and never panic.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{"q1|etl|12|f3", "h1|q||i?p:a::1:2,+s:b", "\n\x01a\x12\x01t", "\n\x01a\x92\x07\x0212", "0 0 1\n1,2\nkey\nu 1 2 3 4", "1:q:s,2:3:v"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := decodeStatus("u", text); err == nil && s.State == StateUnknown {
			t.Errorf("%q was decoded as unknown", text)
		}
		storedEdges(text, map[string]string{"a": text, "#": text})
		if ticket, ok := parseTicket(text); ok && !validName(ticket.uuid) {
			t.Errorf("%q has uuid %q", text, ticket.uuid)
		}
		if _, err := parseExchange([]any{text, text, text}); err == nil && text == "" {
			t.Error("an empty reply was read")
		}
		if parseConflicts(text) == nil || corruptError(text) == nil {
			t.Error("an error became none")
		}
		if _, err := parseQueueSettings(text); err == nil && len(text) < 5 {
			t.Errorf("settings %q", text)
		}
		if c, err := decodeHistory("k", text); err == nil && c.Outcome == CycleLive {
			t.Errorf("%q was decoded as a live cycle", text)
		}
		if c, err := decodeCycle("k", text, text); err == nil && c.Tick.IsZero() {
			t.Errorf("%q has no tick", text)
		}
		gateLabels(map[string]string{text: text})
		testClock(time.UnixMilli(0), text)
	})
}
