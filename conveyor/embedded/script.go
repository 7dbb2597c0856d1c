package embedded

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// script is a Lua script in the cache.
type script struct {
	sha, text string
	proto     *lua.FunctionProto // nil of one from the journal that nobody has called yet
	order     int                // of loading, so that snapshots are deterministic
	journaled bool               // the journal or the snapshot at its head has it
}

// load brings a script into the cache. One from the journal was compiled when it got there, and is again when it is called:
// that takes longer than to read the whole journal of a hundred jobs, and who only reads calls none.
func (ds *dataset) load(text string) (*script, error) {
	sum := sha1.Sum([]byte(text))
	sha := hex.EncodeToString(sum[:])
	if s, ok := ds.scripts[sha]; ok {
		return s, nil
	}
	s := &script{sha: sha, text: text, order: len(ds.scripts), journaled: ds.effects == nil}
	if !s.journaled {
		if err := s.compile(); err != nil {
			return nil, err
		}
	}
	ds.scripts[sha] = s
	return s, nil
}

// compile makes a script ready to run, once.
func (s *script) compile() (err error) {
	if s.proto == nil {
		s.proto, err = compile(s.text)
	}
	return err
}

// keep journals a script, so that whoever hosts the store next knows it by its sha. What a reader loads is not
// written anywhere.
func (ds *dataset) keep(c *client, s *script) {
	if !s.journaled && !c.readOnly {
		s.journaled = true
		ds.record(0, "SCRIPT", "LOAD", s.text)
	}
}

// cached gives the scripts in the order they were loaded.
func (ds *dataset) cached() []*script {
	var all []*script
	for _, s := range ds.scripts {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *script) int { return a.order - b.order })
	return all
}

// evalText answers EVAL script numkeys key ... arg ... and EVAL_RO.
func evalText(ds *dataset, c *client, out []byte, args []string) []byte {
	s, err := ds.load(args[1])
	if err != nil {
		return appendError(out, "ERR Error compiling script: "+err.Error())
	}
	ds.keep(c, s)
	return ds.eval(c, out, s, args)
}

// evalSha answers EVALSHA and EVALSHA_RO.
func evalSha(ds *dataset, c *client, out []byte, args []string) []byte {
	s, ok := ds.scripts[args[1]]
	if !ok {
		return appendError(out, "NOSCRIPT No matching script. Please use EVAL.")
	}
	return ds.eval(c, out, s, args)
}

func (ds *dataset) eval(c *client, out []byte, s *script, args []string) []byte {
	n, err := strconv.Atoi(args[2])
	switch {
	case err != nil:
		return appendError(out, "ERR value is not an integer or out of range")
	case n < 0:
		return appendError(out, "ERR Number of keys can't be negative")
	case n > len(args)-3:
		return appendError(out, "ERR Number of keys can't be greater than number of args")
	}
	if err := s.compile(); err != nil {
		return appendError(out, "ERR Error compiling script: "+err.Error())
	}
	if ds.lua == nil {
		ds.lua = newInterpreter(ds)
	}
	caller := *c
	name := upper(args[0])
	caller.readOnly = c.readOnly || name == "EVAL_RO" || name == "EVALSHA_RO"
	out = ds.lua.run(&caller, out, s, args[3:3+n], args[3+n:])
	c.ctx = caller.ctx
	return out
}

// scriptCache answers SCRIPT LOAD, EXISTS and FLUSH.
func scriptCache(ds *dataset, c *client, out []byte, args []string) []byte {
	switch sub := upper(args[1]); {
	case sub == "LOAD" && len(args) == 3:
		s, err := ds.load(args[2])
		if err != nil {
			return appendError(out, "ERR Error compiling script: "+err.Error())
		}
		ds.keep(c, s)
		return appendBulk(out, s.sha)
	case sub == "EXISTS" && len(args) > 2:
		out = appendArray(out, len(args)-2)
		for _, sha := range args[2:] {
			var n int64
			if _, ok := ds.scripts[sha]; ok {
				n = 1
			}
			out = appendInt(out, n)
		}
		return out
	case sub == "FLUSH" && len(args) <= 3:
		if c.readOnly {
			return appendError(out, "READONLY You can't write against a read only replica.")
		}
		clear(ds.scripts)
		ds.record(0, "SCRIPT", "FLUSH")
		return appendStatus(out, "OK")
	}
	return appendError(out, fmt.Sprintf("ERR unknown subcommand or wrong number of arguments for 'SCRIPT %s'", args[1]))
}
