package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Addr is the address of one job instance in a workflow: job.load, job.load["eu"] or job.load[2].
// The zero Addr is no address, and one with a module and no name is that of the module. Addr is comparable; String is its only
// written form.
type Addr struct {
	Module string // "" at the root, else as in module.m, module.m["eu"] or module.m.module.n[0]
	Name   string
	Key    InstanceKey
}

// InstanceKey tells the instances of one job block apart. The zero value is a block without count and for_each.
type InstanceKey struct {
	Kind KeyKind
	Str  string // for KeyString
	Int  int    // for KeyInt
}

// KeyKind says what an InstanceKey holds.
type KeyKind uint8

// The kinds of instance keys.
const (
	NoKey     KeyKind = iota // neither count nor for_each
	KeyString                // for_each
	KeyInt                   // count
)

// String gives the address as users write it, quoting as HCL does.
func (a Addr) String() string {
	if a.IsModule() {
		return a.Module
	}
	var b strings.Builder
	if a.Module != "" {
		b.WriteString(a.Module)
		b.WriteByte('.')
	}
	b.WriteString("job.")
	b.WriteString(a.Name)
	b.WriteString(a.Key.String())
	return b.String()
}

// Block is the address of the block that declares the instance: the address without its key.
func (a Addr) Block() Addr { return Addr{Module: a.Module, Name: a.Name} }

// String gives the key with its brackets, or nothing for NoKey.
func (k InstanceKey) String() string {
	switch k.Kind {
	case KeyString:
		return "[" + strconv.Quote(k.Str) + "]"
	case KeyInt:
		return "[" + strconv.Itoa(k.Int) + "]"
	default:
		return ""
	}
}

// Less orders addresses: by module, then name, then key, numbers by value, so that load[10] follows load[9].
func (a Addr) Less(b Addr) bool {
	if a.Module != b.Module {
		return compareModules(a.Module, b.Module) < 0
	}
	if a.Name != b.Name {
		return a.Name < b.Name
	}
	if a.Key.Kind != b.Key.Kind {
		return a.Key.Kind < b.Key.Kind
	}
	if a.Key.Kind == KeyInt {
		return a.Key.Int < b.Key.Int
	}
	return a.Key.Str < b.Key.Str
}

// ParseAddr reads the written form of an address, as String gives it.
func ParseAddr(s string) (Addr, error) {
	module, rest, err := parseModule(s)
	switch {
	case err != nil:
		return Addr{}, err
	case module != "" && rest == "":
		return Addr{}, fmt.Errorf("address %q names a module but no job in it; write module.NAME.job.NAME", clip(s))
	}
	a := Addr{Module: module}
	if !strings.HasPrefix(rest, "job.") {
		return Addr{}, fmt.Errorf("address %q does not start with job.; write job.NAME, job.NAME[\"key\"] or job.NAME[0]", s)
	}
	rest = rest[len("job."):]
	name, key, hasKey := strings.Cut(rest, "[")
	if name == "" || strings.ContainsAny(name, ".\"] ") {
		return Addr{}, fmt.Errorf("address %q has no valid job name; write job.NAME, job.NAME[\"key\"] or job.NAME[0]", s)
	}
	a.Name = name
	if !hasKey {
		return a, nil
	}
	if !strings.HasSuffix(key, "]") {
		return Addr{}, fmt.Errorf("address %q misses its closing bracket; write job.NAME[\"key\"] or job.NAME[0]", s)
	}
	k, ok := parseKey("[" + key)
	if !ok {
		return Addr{}, fmt.Errorf("address %q has a key that is neither a number nor a quoted string; in a shell, quote the whole: 'job.%s[\"key\"]'", s, name)
	}
	a.Key = k
	return a, nil
}
