package embedded

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// interpreter runs scripts in one Lua state that lives as long as the dataset, as Redis does. The one inside
// miniredis makes a new state, libraries and all, for every script, and a reader and writer for every
// redis.call, which costs several times what the engine's scripts themselves do.
//
// Scripts have the base, table, string and math libraries and redis.*; no cjson, cmsgpack, struct or bit, and
// nothing that reaches the host.
type interpreter struct {
	ds      *dataset
	state   *lua.LState
	globals *lua.LTable
	env     *lua.LTable // of scripts: the globals, read only

	// of the running script
	caller *client
	sha    string
	time   []byte // TIME answers the same within one script, as in Redis
}

func compile(text string) (*lua.FunctionProto, error) {
	chunk, err := parse.Parse(strings.NewReader(text), "user_script")
	if err != nil {
		return nil, err
	}
	return lua.Compile(chunk, "user_script")
}

func newInterpreter(ds *dataset) *interpreter {
	in := &interpreter{ds: ds, state: lua.NewState(lua.Options{SkipOpenLibs: true})}
	l := in.state
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
		lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
	} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	globals := l.G.Global
	in.globals = globals
	for _, name := range []string{"dofile", "loadfile", "require", "module", "print", "newproxy", "collectgarbage", "_printregs"} {
		globals.RawSetString(name, lua.LNil)
	}
	redis := l.NewTable()
	for name, f := range map[string]lua.LGFunction{
		"call": in.call, "pcall": in.pcall, "sha1hex": sha1Hex, "log": ignore, "set_repl": ignore, "setresp": ignore,
		"replicate_commands": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
		"error_reply":        errorReply,
		"status_reply":       func(l *lua.LState) int { l.Push(single(l, "ok", l.CheckString(1))); return 1 },
	} {
		redis.RawSetString(name, l.NewFunction(f))
	}
	for level, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		redis.RawSetString(name, lua.LNumber(level))
	}
	globals.RawSetString("redis", redis)
	globals.RawSetString("server", redis)
	globals.RawSetString("pcall", l.NewFunction(plainPcall(globals.RawGetString("pcall"))))
	in.env = protect(l, globals)
	return in
}

func (in *interpreter) close() { in.state.Close() }

// protect makes the environment of scripts: it reads the globals, and refuses to read by mistake, add or change
// any, which the next script would see.
func protect(l *lua.LState, globals *lua.LTable) *lua.LTable {
	missing := l.NewTable()
	missing.RawSetString("__index", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2).String())
		return 0
	}))
	globals.Metatable = missing

	env, rules := l.NewTable(), l.NewTable()
	rules.RawSetString("__index", globals)
	rules.RawSetString("__newindex", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to create or change global variable '%s'", l.Get(2).String())
		return 0
	}))
	rules.RawSetString("__metatable", lua.LFalse)
	env.Metatable = rules
	globals.RawSetString("_G", env)
	globals.RawSetString("rawset", l.NewFunction(func(l *lua.LState) int {
		t := l.CheckTable(1)
		if t == env {
			l.RaiseError("Attempt to modify a readonly table")
		}
		t.RawSet(l.CheckAny(2), l.CheckAny(3))
		l.SetTop(1)
		return 1
	}))
	for _, name := range []string{"getfenv", "setfenv"} {
		globals.RawSetString(name, lua.LNil)
	}
	return env
}

// plainPcall makes pcall give the text of a command's error, as in Redis, where redis.pcall gives the table.
func plainPcall(pcall lua.LValue) lua.LGFunction {
	return func(l *lua.LState) int {
		l.Insert(pcall, 1)
		l.Call(l.GetTop()-1, lua.MultRet)
		if t, ok := l.Get(2).(*lua.LTable); ok && l.Get(1) == lua.LFalse {
			if text, ok := t.RawGetString("err").(lua.LString); ok {
				l.Replace(2, text)
			}
		}
		return l.GetTop()
	}
}

// run executes a script and appends what it returns to out.
func (in *interpreter) run(caller *client, out []byte, s *script, keys, argv []string) []byte {
	in.caller, in.sha, in.time = caller, s.sha, nil
	l := in.state
	in.globals.RawSetString("KEYS", stringTable(l, keys))
	in.globals.RawSetString("ARGV", stringTable(l, argv))
	defer func() {
		in.globals.RawSetString("KEYS", lua.LNil)
		in.globals.RawSetString("ARGV", lua.LNil)
		l.SetTop(0)
	}()
	f := l.NewFunctionFromProto(s.proto)
	f.Env = in.env
	l.Push(f)
	if err := l.PCall(0, 1, nil); err != nil {
		return appendError(out, in.message(err))
	}
	return appendLua(out, l, l.Get(-1), 0)
}

func stringTable(l *lua.LState, all []string) *lua.LTable {
	t := l.CreateTable(len(all), 0)
	for i, s := range all {
		t.RawSetInt(i+1, lua.LString(s))
	}
	return t
}

// message is the error reply for a script that failed. An error of a command keeps its code.
func (in *interpreter) message(err error) string {
	var failed *lua.ApiError
	if !errors.As(err, &failed) {
		return "ERR " + err.Error()
	}
	if t, ok := failed.Object.(*lua.LTable); ok {
		if message, ok := t.RawGetString("err").(lua.LString); ok {
			return fmt.Sprintf("%s script: %s, on @user_script", message, in.sha)
		}
	}
	text := err.Error()
	if failed.Object != nil && failed.Object != lua.LNil {
		text = failed.Object.String()
	}
	return fmt.Sprintf("ERR %s script: %s, on @user_script", text, in.sha)
}

// call is redis.call: an error of the command ends the script, unless it catches it.
func (in *interpreter) call(l *lua.LState) int {
	value := in.command(l)
	if t, ok := value.(*lua.LTable); ok && t.RawGetString("err") != lua.LNil {
		l.Error(t, 1)
	}
	l.Push(value)
	return 1
}

// pcall is redis.pcall: an error of the command is a value.
func (in *interpreter) pcall(l *lua.LState) int {
	l.Push(in.command(l))
	return 1
}

func (in *interpreter) command(l *lua.LState) lua.LValue {
	n := l.GetTop()
	if n == 0 {
		return single(l, "err", "ERR Please specify at least one argument for this redis.call() call")
	}
	args := make([]string, n)
	for i := range args {
		switch v := l.Get(i + 1).(type) {
		case lua.LString:
			args[i] = string(v)
		case lua.LNumber:
			args[i] = formatNumber(float64(v))
		default:
			return single(l, "err", "ERR Lua redis lib command arguments must be strings or integers")
		}
	}
	reply, err := in.reply(args)
	if err != nil {
		return single(l, "err", "ERR "+err.Error())
	}
	value, _, err := luaReply(l, reply)
	if err != nil {
		return single(l, "err", "ERR "+err.Error())
	}
	return value
}

func (in *interpreter) reply(args []string) ([]byte, error) {
	switch name := upper(args[0]); name {
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "SCRIPT":
		return nil, errors.New("command not allowed from script")
	case "TIME":
		if in.time == nil {
			in.time = in.ds.exec(in.caller, nil, args)
		}
		return in.time, nil
	default:
		return in.ds.inScript(in.caller, args), nil
	}
}

// formatNumber writes a number as Redis writes one that a script passes: integers plainly, others with 17 digits.
func formatNumber(n float64) string {
	if n == float64(int64(n)) && n > -1e17 && n < 1e17 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatFloat(n, 'g', 17, 64)
}

func single(l *lua.LState, field, text string) *lua.LTable {
	t := l.CreateTable(0, 1)
	t.RawSetString(field, lua.LString(text))
	return t
}

func ignore(*lua.LState) int { return 0 }

func sha1Hex(l *lua.LState) int {
	sum := sha1.Sum([]byte(l.CheckString(1)))
	l.Push(lua.LString(hex.EncodeToString(sum[:])))
	return 1
}

// errorReply is redis.error_reply: a text without a code gets ERR, as Redis does.
func errorReply(l *lua.LState) int {
	text := strings.TrimPrefix(l.CheckString(1), "-")
	if !strings.Contains(text, " ") {
		text = "ERR " + text
	}
	l.Push(single(l, "err", text))
	return 1
}
