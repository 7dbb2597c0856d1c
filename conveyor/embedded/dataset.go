package embedded

import (
	"bufio"
	"bytes"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// dataset is the data in memory: a miniredis without a network, whose clock stands at the Unix epoch. All
// access goes through exec, one call at a time; the host's mutex sees to that.
//
// The standing clock makes a TTL inside miniredis the absolute deadline of its key, which RENAME and COPY carry
// along and nothing counts down. The dataset itself deletes keys at their deadlines (expiry.go), by ordinary DELs,
// so that the journal holds them and replaying it needs no clock.
type dataset struct {
	m   *miniredis.Miniredis
	srv *server.Server

	peer  *server.Peer // executes everything; its state is swapped in from the client
	reply bytes.Buffer // what peer wrote

	now       func() time.Time
	deadlines deadlines
	scripts   map[string]*script // by sha1
	lua       *interpreter       // made by the first script
	sorted    map[waitKey]*sortedSet
	scratch   []byte // the reply of the last redis.call

	// effects collects what the current top-level command changes; nil while the journal is replayed, when
	// nothing is to be recorded.
	effects *record
	// touched is told every key and argument that a change names, for blocked clients. It may be nil.
	touched func(db int, args []string)

	// broken is set when miniredis panicked, and stack says where: its lock may be held for ever, so nothing is
	// called any more.
	broken error
	stack  []byte
}

// client is what executing a command needs to know of who sent it.
type client struct {
	ctx      any // the connection's state inside miniredis
	db       int
	readOnly bool
}

func newDataset(now func() time.Time) (*dataset, error) {
	m := miniredis.NewMiniRedis()
	m.SetTime(time.Unix(0, 0))
	conn, err := m.Dial() // starts the server without a listener
	if err != nil {
		return nil, fmt.Errorf("start miniredis: %w", err)
	}
	_ = conn.Close()
	ds := &dataset{m: m, srv: m.Server(), now: now, scripts: map[string]*script{}}
	ds.peer = server.NewPeer(bufio.NewWriter(&ds.reply))
	return ds, nil
}

// close frees what miniredis holds. One that panicked cannot be closed, since its lock may be held.
func (ds *dataset) close() {
	if ds.lua != nil {
		ds.lua.close()
	}
	if ds.broken == nil {
		ds.m.Close()
	}
}

// call runs one command in miniredis as it stands and returns its reply, valid until the next call.
func (ds *dataset) call(c *client, args []string) []byte {
	ds.reply.Reset()
	if err := ds.callOn(ds.peer, c, args); err != nil {
		return appendError(nil, "ERR "+err.Error())
	}
	return ds.reply.Bytes()
}

// callOn runs one command with the given peer, which writes the reply wherever it writes.
func (ds *dataset) callOn(peer *server.Peer, c *client, args []string) (err error) {
	if ds.broken != nil {
		return ds.broken
	}
	defer func() {
		if p := recover(); p != nil {
			ds.broken = fmt.Errorf("the embedded store failed in %s: %v", upper(args[0]), p)
			ds.stack = debug.Stack()
			err = ds.broken
		}
	}()
	peer.Ctx = c.ctx
	ds.srv.Dispatch(peer, args)
	peer.Flush()
	c.ctx = peer.Ctx
	return nil
}

// begin starts a top-level command: keys whose time has come are gone before it looks.
func (ds *dataset) begin(effects *record) {
	effects.reset(kindEffects)
	ds.effects = effects
	ds.expire(ds.now())
}

// record keeps one change for the journal.
func (ds *dataset) record(db int, args ...string) {
	if ds.effects != nil {
		ds.effects.add(db, args...)
	}
	ds.follow(db, args)
	if ds.touched != nil {
		ds.touched(db, args)
	}
}

// exec runs a command and appends its reply to out. It knows every command that may change data; one that it
// does not know is refused, so that nothing changes beside the journal.
func (ds *dataset) exec(c *client, out []byte, args []string) []byte {
	v, ok := verbs[upper(args[0])]
	switch {
	case !ok:
		return appendError(out, fmt.Sprintf("ERR unknown command '%s', or one that the embedded store does not support", args[0]))
	case v.session:
		return appendError(out, fmt.Sprintf("ERR '%s' is not allowed here", args[0]))
	case v.writes && c.readOnly:
		return appendError(out, "READONLY You can't write against a read only replica.")
	case len(args)-1 < v.arity:
		return appendError(out, fmt.Sprintf("ERR wrong number of arguments for '%s' command", args[0]))
	case v.run != nil:
		return v.run(ds, c, out, args)
	case v.writes:
		return ds.write(c, out, v, args, args)
	}
	return append(out, ds.call(c, args)...)
}

// write runs a command that changes data and records recorded, which does the same again whenever it is replayed.
func (ds *dataset) write(c *client, out []byte, v verb, args, recorded []string) []byte {
	reply := ds.call(c, args)
	out = append(out, reply...)
	if isError(reply) || v.zero && isZero(reply) || v.nothing && isNothing(reply) {
		return out
	}
	ds.record(c.db, recorded...)
	if v.deadline != nil {
		ds.noteDeadline(c.db, v.deadline(args))
	}
	return out
}

// inScript is exec for one redis.call of a script; the reply is valid until the next one.
func (ds *dataset) inScript(c *client, args []string) []byte {
	ds.scratch = ds.exec(c, ds.scratch[:0], args)
	return ds.scratch
}

// apply runs one command of a journal.
func (ds *dataset) apply(cmd command) error {
	c := &client{}
	if cmd.db != 0 {
		if reply := ds.call(c, []string{"SELECT", fmt.Sprint(cmd.db)}); isError(reply) {
			return fmt.Errorf("select database %d: %s", cmd.db, reply)
		}
		c.db = cmd.db
	}
	name := upper(cmd.args[0])
	v := verbs[name]
	if !v.writes && name != "SCRIPT" {
		return fmt.Errorf("%s is no command of a journal", name)
	}
	var reply []byte
	if name == "SCRIPT" {
		reply = ds.exec(c, nil, cmd.args)
	} else {
		reply = ds.call(c, cmd.args)
	}
	if isError(reply) {
		return fmt.Errorf("replay %s: %s", name, bytes.TrimSpace(reply))
	}
	if v.deadline != nil {
		ds.noteDeadline(c.db, v.deadline(cmd.args))
	}
	return nil
}

// upper is strings.ToUpper for command names, which mostly are upper case already.
func upper(s string) string {
	for i := range len(s) {
		if 'a' <= s[i] && s[i] <= 'z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'a' <= b[i] && b[i] <= 'z' {
					b[i] -= 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
