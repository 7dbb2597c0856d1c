package watch

import (
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"
)

// TestHelpNamesBoundKeys checks that every key that a label shows is bound to that label's action, and that no key is bound
// twice.
func TestHelpNamesBoundKeys(t *testing.T) {
	t.Parallel()
	bound := map[string]string{}
	for _, column := range newKeyMap().helpColumns() {
		for _, b := range column.keys {
			for _, k := range b.Keys() {
				if bound[k] != "" {
					t.Errorf("%q is bound to %q and to %q", k, bound[k], b.Help().Desc)
				}
				bound[k] = b.Help().Desc
			}
			shown := strings.Split(b.Help().Key, "/")
			if b.Help().Key == "/" {
				shown = []string{"/"}
			}
			for _, s := range shown {
				if !key.Matches(keyMsg(s), b) {
					t.Errorf("the help for %q shows %q, which is not bound to it (%v)", b.Help().Desc, s, b.Keys())
				}
			}
		}
	}
}

// TestPanesFit lays out every size: the panes cover the screen and nothing twice.
func TestPanesFit(t *testing.T) {
	t.Parallel()
	for width := 1; width < 260; width += 3 {
		for height := 1; height < 70; height++ {
			for focus := range panes {
				for _, hasLog := range []bool{true, false} {
					if focus == paneLog && !hasLog {
						continue
					}
					l := lay(width, height, min(2, height), focus, false, false, hasLog)
					if !l.panes[focus].shown() && l.foot > 2 {
						t.Fatalf("%dx%d: pane %d has the keys and is not shown", width, height, focus)
					}
					for p, r := range l.panes {
						if r.shown() && (r.x+r.w > width || r.y+r.h > l.foot || r.x < 0) {
							t.Fatalf("%dx%d: pane %d stands at %+v", width, height, p, r)
						}
						for q, s := range l.panes[:p] {
							if r.shown() && s.shown() && r.x < s.x+s.w && s.x < r.x+r.w && r.y < s.y+s.h && s.y < r.y+r.h {
								t.Fatalf("%dx%d: panes %d and %d overlap: %+v, %+v", width, height, q, p, s, r)
							}
						}
					}
				}
			}
		}
	}
}
