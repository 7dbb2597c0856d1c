package conveyor

import (
	"context"
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua lua/lib/*.lua
var luaFiles embed.FS

// script is one Lua script.
type script struct {
	name  string
	frees bool // it goes on in a store that is full
	alone bool // it is called by its sum: as a library one of its functions would have more than the 60 upvalues that Lua allows
	*luaText
}

// luaText is a file after the shared pieces it needs, as a script, without comments and indentation, and as a library. Each is made on
// first use: most processes call few scripts, and every process starts.
type luaText struct {
	name    string
	pieces  []string
	script  sync.Once
	text    string // of content only, and so is sha
	sha     string
	library sync.Once
	lib     library // of asLibrary only
}

// files are all that the text is made from, in their order.
func (t *luaText) files() []string {
	var list []string
	for _, p := range t.pieces {
		list = append(list, "lua/lib/"+p+".lua")
	}
	return append(list, "lua/"+t.name+".lua")
}

// freeing are the scripts that make room, or keep running jobs alive. Redis may exceed its maxmemory by what they write.
var freeing = map[string]bool{"exchange": true, "beat": true, "tick": true, "leave": true, "purge": true}

// freely is the script as one that goes on in a store that is full.
func (s *script) freely() *script {
	c := *s
	c.frees = true
	return &c
}

// core is what every script needs that changes jobs.
var core = []string{"base", "tell", "entry", "ticket", "edge", "labels", "carry", "place", "meet", "settle", "unique", "retention", "commit"}

// settling is what a script needs that takes jobs to their end: an occurrence of a template makes others then.
var settling = append(core[:len(core):len(core)], "wire", "change", "cycle", "gate", "inbox")

// scriptList is all that newScript made.
var scriptList []*script

var (
	applyScript    = newScript("apply", append(settling[:len(settling):len(settling)], "template")...)
	exchangeScript = newScript("exchange", append(settling[:len(settling):len(settling)], "worker", "fair")...)
	tickScript     = newScript("tick", append(settling[:len(settling):len(settling)], "worker", "sweep")...)
	leaveScript    = newScript("leave", append(settling[:len(settling):len(settling)], "worker")...)
	progressScript = newScript("progress", core...)
	beatScript     = newScript("beat", "base", "tell", "entry")
	emitScript     = newScript("emit", "base", "tell", "entry")
	repairScript   = newScript("repair", append(settling[:len(settling):len(settling)], "mend")...)
	damagedScript  = newScript("damaged", "base", "tell", "entry", "ticket", "edge")
	templateScript = newScript("template", settling...)
	logScript      = newScript("log", "base", "entry")
	queueScript    = newScript("queue", "base")
	purgeScript    = newScript("purge", settling...)
	scheduleScript = newScript("schedule", settling...)
)

func newScript(name string, pieces ...string) *script {
	s := &script{name: name, frees: freeing[name], alone: name == "repair", luaText: &luaText{name: name, pieces: pieces}}
	scriptList = append(scriptList, s)
	return s
}

// content is the text as a script, made.
func (t *luaText) content() *luaText {
	t.script.Do(func() {
		var b strings.Builder
		for _, file := range t.files() {
			b.WriteString(compactLua(readLua(file)))
		}
		sum := sha1.Sum([]byte(b.String()))
		t.text, t.sha = b.String(), hex.EncodeToString(sum[:])
	})
	return t
}

// asLibrary is the text as a library of functions, made.
func (t *luaText) asLibrary() library {
	t.library.Do(func() { t.lib = newLibrary(t) })
	return t.lib
}

// readLua reads an embedded file.
var readLua = func(file string) string {
	text, err := luaFiles.ReadFile(file)
	if err != nil {
		panic(err) // the file is embedded: this is a mistake in this package, found by any test
	}
	return string(text)
}

// compactLua leaves out indentation, empty lines and lines that are only a comment: the text is sent and kept whole.
func compactLua(text string) string {
	var b strings.Builder
	for line := range strings.Lines(withoutComments(text)) {
		b.WriteString(strings.TrimSpace(line))
		b.WriteByte('\n')
	}
	return b.String()
}

// callTries is how often a call is made whose connection breaks. Every script is idempotent by uuid, by fence or by caller
// and number, so doing it twice is doing it once.
const callTries = 4

// run calls a script and repeats it while the way to Redis fails. The scripts make every other key from KEYS[1].
func (c *Client) run(ctx context.Context, s *script, args ...any) (any, error) {
	if c.observer == nil {
		return c.send(ctx, s, args)
	}
	began := time.Now()
	reply, err := c.send(ctx, s, args)
	operation := s.name
	if s.name == applyScript.name {
		operation, _ = args[0].(string)
	}
	c.observer.Called(operation, time.Since(began), err)
	return reply, err
}

func (c *Client) send(ctx context.Context, s *script, args []any) (any, error) {
	pause, full := newPause(), false
	for try := 1; ; try++ {
		reply, err := c.call(ctx, s, full, args)
		if err == nil || errors.Is(err, redis.Nil) {
			return reply, nil
		}
		if redis.HasErrorPrefix(err, "OOM") && s.frees && !full {
			full = true
			continue
		}
		err = c.scriptError(ctx, s, err)
		if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrFull) || try == callTries { // room does not come in a moment
			return nil, err
		}
		c.happened(CallRepeated, 1)
		c.logger.Warn("call repeated", "script", s.name, "try", try, "error", err)
		if !pause.wait(ctx) {
			return nil, context.Cause(ctx)
		}
	}
}

// call calls a script once: as a function where the store has functions and lets us load them, or else by its sum. A store that is full
// gets it so that it goes on.
func (c *Client) call(ctx context.Context, s *script, full bool, args []any) (any, error) {
	keys := []string{c.keys.status(), c.keys.whole()}
	if !s.alone && !c.noFunctions.Load() {
		lib := s.asLibrary()
		name := lib.name
		if full {
			name = lib.freely
		}
		reply, err := c.rdb.FCall(ctx, name, keys, args...).Result()
		if isMissingFunction(err) { // of a new version, after FUNCTION FLUSH, or on the server that the slot moved to
			if loaded := lib.load(ctx, c.rdb, keys[0]); loaded == nil {
				reply, err = c.rdb.FCall(ctx, name, keys, args...).Result()
			} else if !redis.HasErrorPrefix(loaded, "OOM") { // a full store takes no library, but scripts
				err = loaded
			}
		}
		switch {
		case isWithoutFunctions(err):
			c.noFunctions.Store(true)
		case !isMissingFunction(err):
			return reply, err
		}
	}
	if full {
		// Redis looks at the first write of a script only, and refuses one that may need memory. Given this key last the script
		// begins with another one, see lua/lib/base.lua.
		keys = append(keys, c.keys.room())
	}
	lua := s.content()
	reply, err := c.rdb.EvalSha(ctx, lua.sha, keys, args...).Result()
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		reply, err = c.rdb.Eval(ctx, lua.text, keys, args...).Result()
	}
	return reply, err
}

// scriptError turns the first word of a script's error reply into a sentinel. Callers of apply say themselves what they wanted of
// it.
func (c *Client) scriptError(ctx context.Context, s *script, err error) error {
	prefix := s.name + ": "
	if s.name == applyScript.name {
		prefix = ""
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s%w", prefix, context.Cause(ctx))
	}
	if err = unavailable(err); errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("%s%w", prefix, err)
	}
	code, text, _ := strings.Cut(err.Error(), " ")
	switch code {
	case "GUARD":
		return ErrGuard
	case "PAUSED":
		return fmt.Errorf("%w %s: only who declares it can resume it", ErrQueueDeclaredPaused, text)
	case "OUTDATED":
		return fmt.Errorf("%w: %s", ErrOutdated, text)
	case "UNKNOWN":
		return fmt.Errorf("%w: %s", ErrUnknownUpstream, text)
	case "NOTFOUND":
		return ErrNotFound // whoever called names the job
	case "STATE":
		return fmt.Errorf("%s: %w", text, ErrState)
	case "TEMPLATE":
		return fmt.Errorf("%w: %s", ErrTemplate, text)
	case "UNIQUE":
		return parseUnique(text)
	case "CONFLICT":
		return parseConflicts(text)
	case "CORRUPT":
		return corruptError(text)
	case "WRONGTYPE":
		return fmt.Errorf("%s%w: %w", prefix, ErrCorrupt, err)
	}
	return fmt.Errorf("%s%w", prefix, err)
}

// read wraps the error of a plain reading command.
func read(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	if redis.HasErrorPrefix(err, "WRONGTYPE") || errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%s: %w: %w", what, ErrCorrupt, err)
	}
	return fmt.Errorf("%s: %w", what, unavailable(err))
}
