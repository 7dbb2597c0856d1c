package planner

import (
	"strings"

	"github.com/waybill-dev/waybill/config"
)

// appendReadable appends JSON with placeholders, which stand inside its strings, as the references they come from.
func appendReadable(b, raw []byte) []byte {
	inside := func(text string) string {
		quoted := appendJSONString(nil, text)
		return string(quoted[1 : len(quoted)-1])
	}
	filled := config.FillPlaceholders(raw, func(addr string) string { return inside(reference(addr)) })
	return append(b, config.FillReadings(filled, func(r config.Reading) string { return inside("${" + r.String() + "}") })...)
}

// reference is how people write what a placeholder stands for, inside a string.
func reference(addr string) string { return "${" + addr + ".uuid}" }

// isResult tells whether a text is a value out of a job's result and nothing else, as appendReadable writes it.
func isResult(text string) bool {
	inner, ok := strings.CutPrefix(text, "${")
	if !ok || !strings.HasSuffix(inner, "}") {
		return false
	}
	inner = inner[:len(inner)-1]
	if strings.Contains(inner, "${") {
		return false
	}
	for at := 0; ; {
		i := strings.Index(inner[at:], ".result")
		if i < 0 {
			return false
		}
		at += i
		rest := inner[at+len(".result"):]
		if rest == "" || rest[0] == '.' || rest[0] == '[' {
			if _, err := config.ParseAddr(inner[:at]); err == nil {
				return true
			}
		}
		at++
	}
}

// placeholders tells whether text holds placeholders, which are known after apply, and whether it is one and nothing else.
func placeholders(text string) (some, alone bool) {
	rest := config.FillPlaceholders([]byte(text), func(string) string { some = true; return " " })
	return some, some && string(rest) == " "
}
