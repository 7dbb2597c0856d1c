package mutant

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		want       []string // <id without file> => <the mutant>
	}{
		{"call", `f(1) g{2}`, []string{"main:drop:1 =>  g{2}", "main:drop:2 => f(1) "}},
		{"assignment", `r.st = 'x'`, []string{"main:drop:1 => "}},
		{"assignment to several", `r.a, r.b = nil, f(1, 2)`, []string{"main:drop r.a:1 => r.b = f(1, 2)", "main:drop r.b:1 => r.a = nil"}},
		{"assignment of one call to several", `a, b = f()`, []string{"main:drop:1 => "}},
		{"locals and functions stay", `local x, y = 1, {a = 2, [3] = 4; 5} local function f(a, ...) return a, ... end`, nil},
		{"condition", `if a == 1 then return end`, []string{"main:true:1 => if KEYS ~= nil then return end", "main:false:1 => if KEYS == nil then return end"}},
		{"constant condition", `while true do break end`, []string{"main:false:1 => while KEYS == nil do break end"}},
		{"operands", `if a and (b or not c) then elseif -d < #e then else end`, []string{
			"main:true:1 => if KEYS ~= nil then elseif -d < #e then else end",
			"main:false:1 => if KEYS == nil then elseif -d < #e then else end",
			"main:without a:1 => if (b or not c) then elseif -d < #e then else end",
			"main:without (b or not c):1 => if a then elseif -d < #e then else end",
			"main:without b:1 => if a and (not c) then elseif -d < #e then else end",
			"main:without not c:1 => if a and (b) then elseif -d < #e then else end",
			"main:true:2 => if a and (b or not c) then elseif KEYS ~= nil then else end",
			"main:false:2 => if a and (b or not c) then elseif KEYS == nil then else end",
		}},
		{"negated chain", `if not (a and b) then end`, []string{
			"main:true:1 => if KEYS ~= nil then end", "main:false:1 => if KEYS == nil then end",
			"main:without a:1 => if not (b) then end", "main:without b:1 => if not (a) then end",
		}},
		{"an argument's chain is no condition", `if f(a and b) .. (c or d) then end`, []string{
			"main:true:1 => if KEYS ~= nil then end", "main:false:1 => if KEYS == nil then end",
		}},
		{"functions", "local function f() g(function() h() end) end\nfunction a.b() c() end", []string{
			"f:drop:1 => local function f() g(function() end) end\nfunction a.b() c() end",
			"f:drop:2 => local function f() end\nfunction a.b() c() end",
			"a.b:drop:1 => local function f() g(function() h() end) end\nfunction a.b()  end",
		}},
		{"loops", "for i = 1, #t do f(t[i]) end for k, v in pairs(t) do t[k] = nil end repeat local x = 1 until x > 1", []string{
			"main:drop:1 => for i = 1, #t do end for k, v in pairs(t) do t[k] = nil end repeat local x = 1 until x > 1",
			"main:drop:2 => for i = 1, #t do f(t[i]) end for k, v in pairs(t) do end repeat local x = 1 until x > 1",
			"main:true:1 => for i = 1, #t do f(t[i]) end for k, v in pairs(t) do t[k] = nil end repeat local x = 1 until KEYS ~= nil",
			"main:false:1 => for i = 1, #t do f(t[i]) end for k, v in pairs(t) do t[k] = nil end repeat local x = 1 until KEYS == nil",
		}},
		{"comments and strings", "-- f()\nf('--', \"it\\\"s\") -- g()", []string{"main:drop:1 => -- f()\n -- g()"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			found, err := Find("x", row.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range found {
				got = append(got, squeeze(strings.TrimPrefix(m.ID, "x:")+" => "+m.Apply(row.text)))
			}
			var want []string
			for _, w := range row.want {
				want = append(want, squeeze(w))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func squeeze(s string) string { return strings.ReplaceAll(s, "  ", " ") }

// An edit in another place renames no mutant.
func TestIDsStay(t *testing.T) {
	t.Parallel()
	before, err := Find("x", "a()\nif b then\n  c()\nend\na()")
	if err != nil {
		t.Fatal(err)
	}
	after, err := Find("x", "a()\nnew()\nif b then\n  other()\n  c()\nend\na()")
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for _, m := range after {
		kept[m.ID+m.Text] = true
	}
	for _, m := range before {
		if !kept[m.ID+m.Text] {
			t.Errorf("%s %q is gone", m.ID, m.Text)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"if a do end":     `x: line 1: "do" where "then" should be`,
		"f(\n'a":          `x: line 2: a string without end`,
		"f() end":         `x: line 1: "end" where a statement should be`,
		"--[[ a ]]":       `x: line 1: long brackets are not read`,
		"a = = 1":         `x: line 1: "=" where an expression should be`,
		"while a do f()":  `x: line 1: "end of file" where "end" should be`,
		"local t = {a = ": `x: line 1: "end of file" where an expression should be`,
	} {
		_, err := Find("x", text)
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
