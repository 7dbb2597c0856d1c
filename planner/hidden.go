package planner

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/config"
)

// maxHidden bounds the sensitive values of one job that a record can tell apart.
const maxHidden = 256

// hiddenMembers are the members of a definition that may hide values.
var hiddenMembers = [...]string{"exec", "http", "payload", "sleep"}

// hidden are keyed digests of the values that a definition does not show, in the order in which they stand there: so that a later
// plan can tell which of them changed. keyID is the key that they are made under. It is nil where they cannot be told apart, as in a payload that is no JSON.
func (m *maker) hidden(j *config.Job, definition []byte, keyID string) []Digest {
	digest := m.under(keyID)
	if !j.Sensitive || digest == nil {
		return nil
	}
	var actual any
	if err := decodeJSON(j.Payload, &actual); err != nil {
		return nil
	}
	var list []Digest
	shown := decodeDefinition(definition)
	for _, name := range hiddenMembers {
		mapHidden(shown[name], actual, name, func(path string, _, actual any) any {
			raw, err := encodeJSON(actual)
			if err != nil || len(list) > maxHidden {
				return nil
			}
			d, _ := digest(true, slices.Concat([]byte("v1"), []byte(path), []byte{0}, raw))
			list = append(list, d)
			return nil
		})
	}
	if len(list) > maxHidden {
		return nil
	}
	return list
}

// mapHidden is a value with what f gives in the place of each part that is not shown: part is what stands there instead. actual is what it
// stands for, nil for nothing known.
func mapHidden(shown, actual any, path string, f func(path string, part, actual any) any) any {
	switch v := shown.(type) {
	case string:
		if strings.Contains(v, shownSensitive) {
			return f(path, v, actual)
		}
	case []any:
		list, _ := actual.([]any)
		out := make([]any, len(v))
		for i := range v {
			var part any
			if i < len(list) {
				part = list[i]
			}
			out[i] = mapHidden(v[i], part, path+"["+strconv.Itoa(i)+"]", f)
		}
		return out
	case map[string]any:
		if isLong(v) {
			return f(path, v, actual)
		}
		object, _ := actual.(map[string]any)
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out[key] = mapHidden(v[key], object[key], path+"."+key, f)
		}
		return out
	}
	return shown
}
