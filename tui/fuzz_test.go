package tui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/tui/internal/script"
)

// FuzzLines writes every event as lines and as objects: none makes a writer panic or lets a control character through.
func FuzzLines(f *testing.F) {
	script.Seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		tape := script.Tape(data)
		now := func() time.Time { return script.Noon }
		var lines, objects bytes.Buffer
		plain := NewPlain(PlainOptions{Out: &lines, Err: &lines, Now: now})
		envelope := NewJSON(JSONOptions{Out: &objects, Now: now})
		for len(tape) > 0 {
			e := tape.Event()
			plain.Observe(e)
			envelope.Observe(e)
		}
		script.CheckHarmless(t, lines.String())
		if strings.TrimSpace(objects.String()) != "" {
			checkLines(t, objects.String())
		}
	})
}
