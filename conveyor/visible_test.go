package conveyor_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"github.com/waybill-dev/waybill/conveyor"
)

// watched is an engine whose commands can be read, those of scripts too. The embedded store's journal holds them in this
// order and may end between any two of them.
type watched struct {
	*engine
	mu       sync.Mutex
	commands []string // <command> <key>
}

func watch(t *testing.T) *watched {
	m := miniredis.RunT(t)
	rdb := redis.NewClient(&redis.Options{Addr: m.Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	w := &watched{engine: newEngine(t, rdb)}
	m.Server().SetPreHook(func(_ *server.Peer, command string, args ...string) bool {
		if len(args) > 0 {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.commands = append(w.commands, strings.ToUpper(command)+" "+strings.TrimPrefix(args[0], w.Prefix()))
		}
		return false
	})
	return w
}

// during returns the commands of a call.
func (w *watched) during(call func()) []string {
	w.mu.Lock()
	w.commands = nil
	w.mu.Unlock()
	call()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.commands
}

// inOrder wants the first command with each of these ends, in this order.
func (w *watched) inOrder(name string, commands []string, want ...string) {
	w.Helper()
	at := -1
	for _, end := range want {
		next := slices.IndexFunc(commands, func(c string) bool { return strings.HasSuffix(c, end) })
		if next <= at {
			w.Errorf("%s: want %q in this order, got %q", name, want, commands)
			return
		}
		at = next
	}
}

func TestOrderOfWrites(t *testing.T) {
	t.Parallel()
	t.Run("A3g with both a parent and a predecessor, the parent's list comes first", func(t *testing.T) {
		t.Parallel()
		w := watch(t)
		commands := w.during(func() { w.add(job("new", after(0, "p"), under("q"))) })
		w.inOrder("add", commands, "LPUSH jobs:q:children", "LPUSH jobs:p:onComplete")
		w.sound()
	})
	t.Run("A5b a child is in its parent's active set before it can be seen in a queue", func(t *testing.T) {
		t.Parallel()
		w := watch(t)
		w.add(job("p1"), job("c1", under("p1")), job("p2"), job("k2", under("p2")))
		rs := w.reserves("p1", "p2")
		w.end(rs[1], conveyor.VerdictDone)
		dead := conveyor.ParentDead()
		w.ok(w.Add(w.Context(), job("c4", under("p4"), runAt(w.now+1000)), dead))
		for _, row := range []struct {
			name, parent string
			call         func()
		}{
			{"its parent's work is done", "p1", func() { w.end(rs[0], conveyor.VerdictDone) }},
			{"added while its parent is closing", "p2", func() { w.add(job("c2", under("p2"))) }},
			{"added under a dead parent", "p3", func() { w.ok(w.Add(w.Context(), job("c3", under("p3")), dead)) }},
			{"due under a dead parent", "p4", func() { w.at(w.now + 1000); w.tick() }},
		} {
			w.inOrder(row.name, w.during(row.call), "SADD jobs:"+row.parent+":active", "LPUSH queue:q")
		}
		w.sound()
	})
}
