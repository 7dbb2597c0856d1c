package conveyor

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// A script defines some two hundred functions before it does anything, and Redis runs all of that at each EVALSHA: it takes longer
// than what most calls are about. A library of functions (Redis 7, Valkey) is run once and then called. Both are made from the same
// files. In a library the functions of the shared pieces are defined once, and what the pieces hold of one call begins anew at each
// call.
//
// A piece has to be written for that. At the beginning of a line stand only declarations: `local` names with or without a value,
// functions, statements, and `do` blocks whose content is not indented either, to keep some of these apart. A `do` block with indented
// content is a statement. A table that functions are put into (`function cycle.key`) keeps its functions and loses all else. What has
// a name in capitals (`BUDGET`, `KIN`) is never changed and gets its value once, as functions of Lua under shorter names do.

// library is the text of a library with one function, and the names of that function: the second goes on in a store that is full.
type library struct{ text, name, freely string }

func newLibrary(t *luaText) library {
	var pieces []string
	for _, file := range t.files() {
		pieces = append(pieces, withoutComments(readLua(file)))
	}
	pieces, main := pieces[:len(pieces)-1], pieces[len(pieces)-1]
	h := hoister{functions: map[string]bool{}, tables: map[string]bool{}}
	for _, p := range pieces {
		h.note(p)
	}
	h.line("local KEYS, ARGV")
	h.line("local begin = {}")
	h.text.WriteString(renewing)
	for _, p := range pieces {
		h.piece(p)
	}
	h.line("local function main()")
	h.text.WriteString(main)
	h.line("end")
	h.line("local function run(keys, args)")
	h.line("KEYS, ARGV = keys, args")
	h.line("for i = 1, #begin do begin[i]() end")
	h.line("return main()")
	h.line("end")
	sum := sha1.Sum([]byte(h.text.String()))
	name := "waybill_" + t.name + "_" + hex.EncodeToString(sum[:8])
	l := library{name: name, freely: name + "_freely"}
	l.text = "#!lua name=" + l.name + "\n" + h.text.String() +
		"redis.register_function('" + l.name + "', run)\n" +
		"redis.register_function{function_name = '" + l.freely + "', callback = run, flags = {'allow-oom'}}\n"
	return l
}

// load stores the library on the server that the key is on. One that is there already is as good.
func (l library) load(ctx context.Context, rdb redis.UniversalClient, key string) error {
	var node redis.Cmdable = rdb
	if cluster, ok := rdb.(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(ctx, key)
		if err != nil {
			return err
		}
		node = master
	}
	err := node.FunctionLoad(ctx, l.text).Err()
	if err != nil && strings.Contains(err.Error(), "already exists") {
		return nil
	}
	return err
}

// isMissingFunction tells whether a server does not have the function that was called.
func isMissingFunction(err error) bool { return redis.HasErrorPrefix(err, "Function not found") }

// isWithoutFunctions tells whether a server has no functions, as the embedded store, or does not let this user load or call any.
func isWithoutFunctions(err error) bool {
	return redis.HasErrorPrefix(err, "NOPERM") || redis.HasErrorPrefix(err, "unknown command") || redis.HasErrorPrefix(err, "Unknown command")
}

// hoister writes pieces so that their functions are defined once and the rest is done by the functions of the table `begin`.
type hoister struct {
	text      strings.Builder
	functions map[string]bool // names that a function is defined for
	tables    map[string]bool // names of tables that functions are put into
	pending   []string        // statements for the next function of begin
	lines     []string        // what is left of the piece
}

var functionName = regexp.MustCompile(`(?m)^(?:local )?function (\w+)([.(])`)

// renewing gives a table what it begins with and takes away all else but its functions. These stand in another table from the first
// call on: before, a library has no setmetatable.
const renewing = `local function renew(t, with)
if not getmetatable(t) then
local functions = {}
for k, v in pairs(t) do functions[k] = v end
setmetatable(t, {__index = functions})
end
for k in pairs(t) do t[k] = nil end
for k, v in pairs(with) do t[k] = v end
end
`

var (
	constantName   = regexp.MustCompile(`^[A-Z][A-Z_]+$`)
	ofOneCall      = regexp.MustCompile(`\b(KEYS|ARGV|PRE|call|try)\b`) // what a value is made from that is another at each call, or asks the store
	functionsOfLua = regexp.MustCompile(`^\s*(string|table|math)\.[a-z]+(,\s*(string|table|math)\.[a-z]+)*\s*$`)
)

// isConstant tells whether names have their value once and for all, from when the library is loaded.
func isConstant(names []string, value string) bool {
	return !ofOneCall.MatchString(value) && !slices.ContainsFunc(names, func(n string) bool { return !constantName.MatchString(n) })
}

// isFunction tells whether a line begins a function, and opens whether it begins a function or a statement that `end` ends.
func isFunction(line string) bool {
	return strings.HasPrefix(line, "local function ") || strings.HasPrefix(line, "function ")
}

func opens(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	return isFunction(line) || slices.Contains([]string{"if", "for", "while", "do"}, word)
}

func (h *hoister) line(text string) {
	h.text.WriteString(text)
	h.text.WriteByte('\n')
}

// note learns the names of a piece.
func (h *hoister) note(piece string) {
	for _, m := range functionName.FindAllStringSubmatch(piece, -1) {
		if m[2] == "(" {
			h.functions[m[1]] = true
		} else {
			h.tables[m[1]] = true
		}
	}
}

func (h *hoister) piece(text string) {
	h.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for len(h.lines) > 0 {
		first := h.lines[0]
		switch {
		case first == "do" && !strings.HasPrefix(h.lines[1], " "):
			h.flush()
			h.line("do")
			h.lines = h.lines[1:]
		case first == "end": // of such a block
			h.flush()
			h.line("end")
			h.lines = h.lines[1:]
		case isFunction(first):
			h.line(h.item())
		case strings.HasPrefix(first, "local "):
			h.declare(h.item())
		default:
			h.pending = append(h.pending, h.item())
		}
	}
	h.flush()
}

// item takes a function or a statement off the piece.
func (h *hoister) item() string {
	n := 1
	if first, _, _ := strings.Cut(h.lines[0], " --"); opens(first) && !strings.HasSuffix(first, " end") {
		for !strings.HasPrefix(h.lines[n], "end") {
			n++
		}
		n++
	} else {
		for n < len(h.lines) && strings.ContainsAny(h.lines[n][:1], " })") {
			n++
		}
	}
	text := strings.Join(h.lines[:n], "\n")
	h.lines = h.lines[n:]
	return text
}

// declare declares names where they stand and gives them their values at each call.
func (h *hoister) declare(text string) {
	head, value, given := strings.Cut(text, "=")
	head, _, _ = strings.Cut(strings.TrimPrefix(head, "local "), "--")
	names := strings.Split(strings.ReplaceAll(head, " ", ""), ",")
	if given && isConstant(names, value) {
		h.line("local " + strings.Join(names, ", ") + " =" + value)
		return
	}
	h.line("local " + strings.Join(names, ", "))
	if !given {
		for _, n := range names {
			if !h.functions[n] {
				h.pending = append(h.pending, n+" = nil")
			}
		}
		return
	}
	if functionsOfLua.MatchString(value) { // which a library has from its first call on
		h.pending = append(h.pending, "if not "+names[0]+" then", strings.Join(names, ", ")+" ="+value, "end")
		return
	}
	if !slices.ContainsFunc(names, func(n string) bool { return h.tables[n] }) {
		h.pending = append(h.pending, strings.Join(names, ", ")+" ="+value)
		return
	}
	h.pending = append(h.pending, "do", "local new_"+strings.Join(names, ", new_")+" ="+value)
	for _, n := range names {
		if h.tables[n] {
			h.line(n + " = {}")
			h.pending = append(h.pending, "renew("+n+", new_"+n+")")
		} else {
			h.pending = append(h.pending, n+" = new_"+n)
		}
	}
	h.pending = append(h.pending, "end")
}

// withoutComments leaves out empty lines and lines that are only a comment.
func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if rest := strings.TrimSpace(line); rest != "" && !strings.HasPrefix(rest, "--") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// flush makes the pending statements a function of begin.
func (h *hoister) flush() {
	if len(h.pending) == 0 {
		return
	}
	h.line("begin[#begin + 1] = function()")
	for _, s := range h.pending {
		h.line(s)
	}
	h.line("end")
	h.pending = nil
}
