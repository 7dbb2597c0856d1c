package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Covers tells whether an address, as people name what they mean, includes another one: itself, an instance of its block, or a job of
// its module. A module without a key stands for all of its instances, and every module for those in it.
func (a Addr) Covers(b Addr) bool {
	switch {
	case a == b:
		return true
	case a.Name == "":
		return a.Module != "" && below(b.Module, a.Module)
	}
	return a.Key.Kind == NoKey && a == b.Block()
}

// IsModule tells whether the address names a module and no job: see ParseTarget.
func (a Addr) IsModule() bool { return a.Name == "" && a.Module != "" }

// below tells whether a module is another one, an instance of it, or in it.
func below(module, above string) bool {
	rest, ok := strings.CutPrefix(module, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// ParseTarget reads what people name: the address of a job, or of a module, module.m or module.m["eu"], which has no Name.
func ParseTarget(s string) (Addr, error) {
	module, rest, err := parseModule(s)
	if err != nil {
		return Addr{}, err
	}
	if module != "" && rest == "" && !strings.HasSuffix(s, ".") {
		return Addr{Module: module}, nil
	}
	return ParseAddr(s)
}

// parseModule reads the modules at the head of an address, and gives them as String writes them.
func parseModule(s string) (module, rest string, err error) {
	rest = s
	for strings.HasPrefix(rest, modulePrefix) {
		name, key, behind := cutModule(rest)
		if !isIdentifier(name) {
			return "", "", fmt.Errorf("address %q has no valid module name; write module.NAME.job.NAME", clip(s))
		}
		module = inModule(module, name)
		if key != "" {
			k, ok := parseKey(key)
			if !ok {
				return "", "", fmt.Errorf("address %q has a key that is neither a number nor a quoted string; in a shell, quote the whole: 'module.%s[\"key\"].job.NAME'", clip(s), name)
			}
			module += k.String()
		}
		switch {
		case behind == "":
			return module, "", nil
		case behind[0] != '.':
			return "", "", fmt.Errorf("address %q has %q behind a module; write module.NAME.job.NAME or module.NAME[\"key\"].job.NAME", clip(s), clip(behind))
		}
		rest = behind[1:]
	}
	return module, rest, nil
}

const modulePrefix = "module."

// inModule is the address of a module that is called in another one, or at the root.
func inModule(outer, name string) string {
	if outer == "" {
		return modulePrefix + name
	}
	return outer + "." + modulePrefix + name
}

// cutModule takes the first module of an address apart. The key has its brackets; rest begins behind it.
func cutModule(s string) (name, key, rest string) {
	s = s[len(modulePrefix):]
	end := strings.IndexAny(s, ".[")
	if end < 0 {
		return s, "", ""
	}
	name, s = s[:end], s[end:]
	if s[0] == '.' {
		return name, "", s
	}
	end = keyEnd(s)
	return name, s[:end], s[end:]
}

// splitModule takes the last module of an address apart: the modules around it, its name, and its key with brackets.
func splitModule(path string) (outer, name, key string) {
	for {
		var rest string
		if name, key, rest = cutModule(path[len(outer):]); rest == "" {
			return strings.TrimSuffix(outer, "."), name, key
		}
		outer = path[:len(path)-len(rest)+1]
	}
}

// splitKey takes the key of the last module off.
func splitKey(path string) (call, key string) {
	_, _, key = splitModule(path)
	return path[:len(path)-len(key)], key
}

// keyEnd finds the end of the key at the head of s, behind its closing bracket. It is the end of s if there is none.
func keyEnd(s string) int {
	quoted := false
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ']' && !quoted:
			return i + 1
		}
	}
	return len(s)
}

// parseKey reads a key with its brackets.
func parseKey(s string) (InstanceKey, bool) {
	body, ok := strings.CutSuffix(strings.TrimPrefix(s, "["), "]")
	if !ok {
		return InstanceKey{}, false
	}
	if n, err := strconv.Atoi(body); err == nil && n >= 0 {
		return InstanceKey{Kind: KeyInt, Int: n}, true
	}
	str, err := strconv.Unquote(body)
	if err != nil || !strings.HasPrefix(body, `"`) {
		return InstanceKey{}, false
	}
	return InstanceKey{Kind: KeyString, Str: str}, true
}

// compareModules orders modules step by step: by name, then key, numbers by value. A module follows the one it is in.
func compareModules(a, b string) int {
	for a != "" && b != "" {
		nameA, keyA, restA := cutModule(a)
		nameB, keyB, restB := cutModule(b)
		if c := cmp.Or(strings.Compare(nameA, nameB), compareWrittenKeys(keyA, keyB)); c != 0 {
			return c
		}
		a, b = strings.TrimPrefix(restA, "."), strings.TrimPrefix(restB, ".")
	}
	return cmp.Compare(len(a), len(b))
}

// compareWrittenKeys orders keys as Addr.Less does, but strings as they are quoted.
func compareWrittenKeys(a, b string) int {
	if a == b {
		return 0
	}
	numberA, numberB := len(a) > 1 && a[1] != '"', len(b) > 1 && b[1] != '"'
	switch {
	case numberA && numberB:
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case numberA || numberB:
		if a == "" || b == "" {
			return cmp.Compare(len(a), len(b))
		}
		return map[bool]int{true: 1, false: -1}[numberA]
	}
	return strings.Compare(a, b)
}

// Modules are the modules that an address lies in, outermost first: each of them as it is called and, where it has a key, without it
// before that.
func (a Addr) Modules() []string {
	var all []string
	path := ""
	for rest := a.Module; rest != ""; rest = strings.TrimPrefix(rest, ".") {
		name, key, behind := cutModule(rest)
		path = inModule(path, name)
		all = append(all, path)
		if key != "" {
			path += key
			all = append(all, path)
		}
		rest = behind
	}
	return all
}
