package conveyor

import "strings"

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
