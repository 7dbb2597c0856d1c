package planner

import "github.com/waybill-dev/waybill/config"

// appendReadable appends JSON with placeholders, which stand inside its strings, as the references they come from.
func appendReadable(b, raw []byte) []byte {
	return append(b, config.FillPlaceholders(raw, func(addr string) string {
		quoted := appendJSONString(nil, reference(addr))
		return string(quoted[1 : len(quoted)-1])
	})...)
}

// reference is how people write what a placeholder stands for, inside a string.
func reference(addr string) string { return "${" + addr + ".uuid}" }

// placeholders tells whether text holds placeholders, which are known after apply, and whether it is one and nothing else.
func placeholders(text string) (some, alone bool) {
	rest := config.FillPlaceholders([]byte(text), func(string) string { some = true; return " " })
	return some, some && string(rest) == " "
}
