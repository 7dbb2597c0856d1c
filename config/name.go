package config

import "github.com/hashicorp/hcl/v2"

// isIdentifier tells whether s can be the name of a variable, local, job or output: what a reference can say, and
// what reads the same in an address, a shell and Redis.
func isIdentifier(s string) bool {
	if s == "" || s[0] == '-' || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return isStoreName(s) && !contains(s, '.')
}

// isStoreName tells whether s can be the name of a workflow, queue or type, or a uuid: a part of a key in Redis.
func isStoreName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 128
}

func contains(s string, c byte) bool {
	for i := range len(s) {
		if s[i] == c {
			return true
		}
	}
	return false
}

// identifier reports a name that no reference could say.
func (r *report) identifier(kind, name string, at hcl.Range) bool {
	if isIdentifier(name) {
		return true
	}
	r.error(sumBadName, at, "%q cannot be the name of %s %s. Names have 1 to 128 of the letters a to z and A to Z, digits, underscores and dashes, and begin with a letter or underscore.",
		clip(name), article(kind), kind)
	return false
}

// storeName reports a name that cannot be part of a key in Redis.
func (r *report) storeName(what, name string, at hcl.Range) bool {
	if isStoreName(name) {
		return true
	}
	r.error(sumBadName, at, "%q cannot be the name of a %s. Names have 1 to 128 of the letters a to z and A to Z, digits, dots, underscores and dashes.", clip(name), what)
	return false
}
