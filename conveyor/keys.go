package conveyor

import (
	"strconv"
	"strings"
)

// keyspace is the prefix of a namespace; its methods are the only place in Go where a key's name is made. The Lua
// side has the same names in lua/lib/keys.lua.
type keyspace string

func newKeyspace(namespace string) keyspace {
	if namespace == "" {
		return ""
	}
	return keyspace("{" + namespace + "}:")
}

func (k keyspace) namespace() string {
	return strings.TrimSuffix(strings.TrimPrefix(string(k), "{"), "}:")
}

func (k keyspace) key(name string) string { return string(k) + name }

func (k keyspace) status() string            { return k.key("status") }
func (k keyspace) failed() string            { return k.key("failed") }
func (k keyspace) results() string           { return k.key("results") }
func (k keyspace) failures() string          { return k.key("failures") }
func (k keyspace) progress() string          { return k.key("progress") }
func (k keyspace) workers() string           { return k.key("workers") }
func (k keyspace) queues() string            { return k.key("queues") }
func (k keyspace) depth() string             { return k.key("depth") }
func (k keyspace) slots() string             { return k.key("slots") }
func (k keyspace) events() string            { return k.key("events") }
func (k keyspace) lastEvent() string         { return k.key("events:seq") }
func (k keyspace) life() string              { return k.key("events:life") }
func (k keyspace) clock() string             { return k.key("clock") }
func (k keyspace) scheduled() string         { return k.key("scheduled") }
func (k keyspace) todo() string              { return k.key("todo") }
func (k keyspace) ended(queue string) string { return k.key("ended:" + queue) }
func (k keyspace) labels() string            { return k.key("labels") }
func (k keyspace) removals() string          { return k.key("removals") }
func (k keyspace) expiry() string            { return k.key("expiry") }
func (k keyspace) unique() string            { return k.key("unique") }
func (k keyspace) sweeps() string            { return k.key("sweeps") }
func (k keyspace) callers() string           { return k.key("callers") }
func (k keyspace) setAside() string          { return k.key("setaside") }
func (k keyspace) leases() string            { return k.key("leases") }
func (k keyspace) room() string              { return k.key("room") }  // never exists, see script.go
func (k keyspace) whole() string             { return k.key("whole") } // never exists either, see moment.go
func (k keyspace) job(uuid string) string    { return k.key("jobs:" + uuid) }
func (k keyspace) active(uuid string) string { return k.job(uuid) + ":active" }
func (k keyspace) edges(uuid string) string  { return k.job(uuid) + ":edges" }
func (k keyspace) log(uuid string) string    { return k.job(uuid) + ":log" }
func (k keyspace) worker(id string) string   { return k.key("worker:" + id) }
func (k keyspace) wake(id string) string     { return k.key("wake:" + id) }
func (k keyspace) sync() string              { return k.key("sync") }
func (k keyspace) template(u string) string  { return k.key("template:" + u) }
func (k keyspace) gateOf(u string) string    { return k.template(u) + ":gate" }
func (k keyspace) cycles(root string) string { return k.key("cycles:" + root) }
func (k keyspace) history(r string) string   { return k.key("history:" + r) }
func (k keyspace) backlog(r string) string   { return k.key("backlog:" + r) }

// cycle is the set of the live occurrences of one cycle.
func (k keyspace) cycle(root string, tick int64) string {
	return k.key("cycle:" + root + ":" + strconv.FormatInt(tick, 10))
}

// queue is the list of one lane.
func (k keyspace) queue(name string, lane int) string {
	if lane == 1 {
		return k.key("queue:" + name)
	}
	return k.key("queue:" + name + ":" + string(rune('0'+lane)))
}

// waiting is the list of an upstream's children or onComplete heirs that wait for one opening.
func (k keyspace) waiting(uuid, class string, opening int64) string {
	if opening > 1 {
		return k.job(uuid) + ":" + class + ":" + strconv.FormatInt(opening, 10)
	}
	return k.job(uuid) + ":" + class
}

const maxName = 128

// validName tells whether s can be a uuid, a queue, a worker or a namespace: no character in it means anything in a key.
func validName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
