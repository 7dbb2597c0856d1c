package embedded

import (
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// maxDepth bounds the nesting of what a script returns, which may contain itself.
const maxDepth = 64

// appendLua appends a Lua value as a reply: a number loses its fraction, true is 1, false and nil are null, a
// table with a field err or ok is that reply, any other one its elements up to the first nil.
func appendLua(out []byte, l *lua.LState, value lua.LValue, depth int) []byte {
	switch v := value.(type) {
	case lua.LString:
		return appendBulk(out, string(v))
	case lua.LNumber:
		return appendInt(out, int64(v))
	case lua.LBool:
		if v {
			return appendInt(out, 1)
		}
	case *lua.LTable:
		if depth == maxDepth {
			return appendError(out, "ERR reached lua stack limit")
		}
		if message, ok := v.RawGetString("err").(lua.LString); ok {
			return appendError(out, string(message))
		}
		if status, ok := v.RawGetString("ok").(lua.LString); ok {
			return appendStatus(out, string(status))
		}
		n := 0
		for v.RawGetInt(n+1) != lua.LNil {
			n++
		}
		out = appendArray(out, n)
		for i := range n {
			out = appendLua(out, l, v.RawGetInt(i+1), depth+1)
		}
		return out
	}
	return appendNull(out)
}

// luaReply reads a RESP2 reply as a Lua value and returns what follows it. Null is false.
func luaReply(l *lua.LState, b []byte) (lua.LValue, []byte, error) {
	kind, line, rest, err := token(b)
	if err != nil {
		return nil, nil, err
	}
	switch kind {
	case '+':
		return single(l, "ok", string(line)), rest, nil
	case '-':
		return single(l, "err", string(line)), rest, nil
	}
	n, err := strconv.Atoi(string(line))
	if err != nil {
		return nil, nil, errBadReply
	}
	switch {
	case kind == ':':
		return lua.LNumber(n), rest, nil
	case n < 0:
		return lua.LFalse, rest, nil
	case kind == '$':
		content, after, err := bulk(line, rest)
		return lua.LString(content), after, err
	case kind != '*':
		return nil, nil, errBadReply
	}
	t := l.CreateTable(n, 0)
	for i := range n {
		var v lua.LValue
		if v, rest, err = luaReply(l, rest); err != nil {
			return nil, nil, err
		}
		t.RawSetInt(i+1, v)
	}
	return t, rest, nil
}
