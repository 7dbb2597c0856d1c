package conveyor

import (
	"fmt"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// spareLocals is how many more locals every script must have room for: Lua 5.1 allows 200 in a function, and the embedded
// store's allows 200 registers, which the longest expression shares with them. Marks and mutants need some.
const spareLocals = 12

// A script that is filled to the brim breaks with the next line that anyone adds to one of its pieces.
func TestScriptsHaveRoom(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range spareLocals {
		fmt.Fprintf(&b, "local spare%d ", i)
	}
	for _, s := range scriptList {
		if err := compile(s.name, b.String()+s.content().text); err != nil {
			t.Errorf("%s has no room for %d more locals; put what only one piece needs into a block of its own (do ... end): %v", s.name, spareLocals, err)
		}
	}
}

// compile does what the embedded store does with a script when it is first called.
func compile(name, text string) error {
	chunk, err := parse.Parse(strings.NewReader(text), name)
	if err == nil {
		_, err = lua.Compile(chunk, name)
	}
	if err != nil {
		return fmt.Errorf("%s does not compile: %w", name, err)
	}
	return nil
}
