package config

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// The bounds of sync: it stands in a hash of the store and is read and written with each execution. In bytes.
const (
	maxSync      = 64
	maxSyncName  = 128
	maxSyncValue = 1 << 10
	maxSyncTotal = 16 << 10 // of names and values
)

// sync reads the first values of what a job carries from one execution to the next. A null leaves its key out.
func (s *scope) sync(a *attribute) map[string]string {
	val, ok := s.plain(a, cty.DynamicPseudoType)
	if !ok {
		return nil
	}
	if ty := val.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		s.r.error(sumWrongType, a.expr.Range(), "Sync needs an object of strings, such as { cursor = \"0\" }, and this is %s.", typeName(ty))
		return nil
	}
	values := make(map[string]string, val.LengthInt())
	for it := val.ElementIterator(); it.Next(); {
		key, elem := it.Element()
		if elem.IsNull() || !elem.IsKnown() { // unknown: what it comes from is reported
			continue
		}
		name := key.AsString()
		nameRange, valueRange := s.itemRanges(a.expr, name)
		if wrong := wrongSyncName(name); wrong != "" {
			s.r.error(sumBadKey, nameRange, "%s", wrong)
			continue
		}
		got, err := convertAny(elem, cty.String)
		switch {
		case err != nil:
			s.r.error(sumWrongType, valueRange, "The sync value %q needs a string, and this is %s. Other values can be carried as text: jsonencode(VALUE).", name, typeName(elem.Type()))
		case len(got.AsString()) > maxSyncValue:
			s.r.error(sumValueTooLarge, valueRange, "The sync value %q has %d bytes; at most %d are possible. Carry a name or a cursor, and keep what it leads to elsewhere.", name, len(got.AsString()), maxSyncValue)
		case strings.ContainsRune(got.AsString(), 0):
			s.r.error(sumBadText, valueRange, "The sync value %q holds a NUL byte.", name)
		case hasPlaceholder(got.AsString()):
			s.r.error(sumBadText, valueRange, "The sync value %q holds the uuid of a job, which is not known before apply. Use the job's address: job.NAME.address.", name)
		default:
			values[name] = got.AsString()
		}
	}
	total := 0
	for name, value := range values {
		total += len(name) + len(value)
	}
	if len(values) > maxSync {
		s.r.error(sumValueTooLarge, a.expr.Range(), "Sync has %d values; at most %d are possible. Several can be carried as one: jsonencode(VALUE).", len(values), maxSync)
	} else if total > maxSyncTotal {
		s.r.error(sumValueTooLarge, a.expr.Range(), "Sync has %d bytes of names and values; at most %d are possible. Carry a name or a cursor, and keep what it leads to elsewhere.", total, maxSyncTotal)
	}
	if len(values) == 0 {
		return nil
	}
	return values
}

func wrongSyncName(name string) string {
	switch {
	case name == "":
		return "A name in sync is empty."
	case len(name) > maxSyncName:
		return fmt.Sprintf("The name %q in sync has %d bytes; at most %d are possible.", clip(name), len(name), maxSyncName)
	case strings.ContainsRune(name, 0):
		return fmt.Sprintf("The name %q in sync holds a NUL byte.", clip(name))
	}
	return ""
}
