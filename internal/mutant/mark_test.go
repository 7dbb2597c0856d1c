package mutant

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	lua "github.com/yuin/gopher-lua"
)

// run runs a text and returns what it says with say, and the mutants that its marks tell of.
func run(t *testing.T, text string, found []Mutant) (said, told []string) {
	t.Helper()
	l := lua.NewState()
	defer l.Close()
	l.SetGlobal("say", l.NewFunction(func(l *lua.LState) int {
		said = append(said, fmt.Sprint(l.Get(1)))
		return 0
	}))
	redis := l.NewTable()
	redis.RawSetString("call", l.NewFunction(func(l *lua.LState) int {
		n := 0
		if _, err := fmt.Sscanf(l.CheckString(2), "mark %d", &n); err != nil || l.CheckString(1) != "ECHO" {
			t.Errorf("%s %s: %v", l.CheckString(1), l.CheckString(2), err)
		}
		told = append(told, strings.TrimPrefix(found[n].ID, "x:main:"))
		l.Push(lua.LString(l.CheckString(2)))
		return 1
	}))
	l.SetGlobal("redis", redis)
	l.SetGlobal("KEYS", l.NewTable())
	if err := l.DoString(text); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return said, told
}

func TestMark(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		said, told []string
	}{
		{"statement", "say(1)", []string{"1"}, []string{"drop:1"}},
		{"statement not reached", "local f = function() say(1) end", nil, nil},
		{"assignment to several", "local a = {} a.x, a.y = 1, 2", nil, []string{"drop a.x:1", "drop a.y:1"}},
		{"condition that holds", "local a = 1 if a == 1 then say(a) end", []string{"1"}, []string{"false:1", "drop:1"}},
		{"condition that does not", "local a = 1 if a == 2 then say(a) end", nil, []string{"true:1"}},
		{"loop", "local i = 0 while i < 2 do i = i + 1 end", nil, []string{"false:1", "drop:1"}},
		{"repeat", "local i repeat local x = 1 until x == 1 and not i", nil, []string{"false:1"}},
		{"elseif", "local a if a then elseif not a then say(1) end", []string{"1"}, []string{"true:1", "false:2", "drop:1"}},
		{"and: the operand that decides", "local a, b = 1, false if a and b then say(1) end", nil, []string{"without b:1", "true:1"}},
		{"and: none decides", "local a, b = 1, 2 if a and b then say(1) end", []string{"1"}, []string{"false:1", "drop:1"}},
		{"or: the operand that decides", "local a, b = 1, false if a or b then say(1) end", []string{"1"}, []string{"without a:1", "false:1", "drop:1"}},
		{"or: none decides", "local a, b = nil, false if a or b then say(1) end", nil, []string{"true:1"}},
		{"within not", "local a, b = 1, false if not (a and b) then say(1) end", []string{"1"}, []string{"without b:1", "false:1", "drop:1"}},
		{"mixed", "local a, b, c = nil, 1, 1 if a or b and (c or a) then say(1) end", []string{"1"},
			[]string{"without c:1", "without b and (c or a):1", "false:1", "drop:1"}},
		{"a call may do more than answer", "local function f() return true end if f() then say(1) end", []string{"1"},
			[]string{"true:1", "false:1", "drop:1"}},
		{"a known function only answers", "local find = string.find if find('a', 'a') then say(1) end", []string{"1"}, []string{"false:1", "drop:1"}},
		{"within an argument", "say((function() if true then say(1) end return 2 end)())", []string{"1", "2"}, []string{"drop:2", "false:1", "drop:1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			found, err := Find("x", row.text)
			if err != nil {
				t.Fatal(err)
			}
			plain, _ := run(t, row.text, found)
			said, told := run(t, Mark(row.text, "mark ", found), found)
			if diff := cmp.Diff([][]string{row.said, row.said, row.told}, [][]string{plain, said, told}); diff != "" {
				t.Errorf("said without marks, with marks, and marks: %s\n%s", diff, Mark(row.text, "mark ", found))
			}
		})
	}
}
