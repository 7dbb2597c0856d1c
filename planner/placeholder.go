package planner

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

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
		if rest == "" || (rest[0] == '.' || rest[0] == '[') && areSteps(rest) {
			if _, err := config.ParseAddr(inner[:at]); err == nil {
				return true
			}
		}
		at++
	}
}

// isSecret tells whether a text is a secret of the worker and nothing else, as appendReadable writes it.
func isSecret(text string) bool {
	inner, ok := strings.CutPrefix(text, "${")
	if ok {
		inner, ok = strings.CutSuffix(inner, "}")
	}
	if ok {
		_, ok = config.ParseSecret(inner)
	}
	return ok
}

// areSteps tells whether a text is keys and indexes to its end, and not up to a brace within the quotes of one.
func areSteps(text string) bool {
	if !strings.Contains(text, `"`) {
		return true
	}
	_, diags := hclsyntax.ParseTraversalAbs([]byte("x"+text), "", hcl.InitialPos)
	return !diags.HasErrors()
}

// IsReference tells whether a text of a definition is a reference to another job's uuid or result, or to a secret of the worker, and nothing
// else, with ${ and } around it. Definitions have no other templates; what a user has written as $${ stands there as ${ too, but names no such thing.
func IsReference(text string) bool {
	inner, ok := strings.CutPrefix(text, "${")
	if ok && strings.HasSuffix(inner, ".uuid}") {
		if _, err := config.ParseAddr(strings.TrimSuffix(inner, ".uuid}")); err == nil {
			return true
		}
	}
	return isResult(text) || isSecret(text)
}

// eachReference calls f for the parts of a text of a definition, in order: those that are a reference, as IsReference has it, and
// what stands between them.
func eachReference(text string, f func(part string, isReference bool)) {
	const closers = 8 // braces that may be part of a key, before one ends the reference
	start := 0
	for at := 0; ; {
		i := strings.Index(text[at:], "${")
		if i < 0 {
			break
		}
		at += i
		end := at
		for range closers {
			brace := strings.IndexByte(text[end:], '}')
			if brace < 0 {
				break
			}
			end += brace + 1
			if IsReference(text[at:end]) {
				if start < at {
					f(text[start:at], false)
				}
				f(text[at:end], true)
				start = end
				break
			}
		}
		at = max(at+2, start)
	}
	if start < len(text) {
		f(text[start:], false)
	}
}

// template writes a text as people write it: job.a.uuid where it is a reference, else quoted, with its references as they stand in
// files: "has ${job.a["eu"].result.rows} rows".
func template(text string) string {
	switch {
	case !strings.Contains(text, "${"):
		return quoted(text)
	case IsReference(text):
		return text[len("${") : len(text)-len("}")]
	}
	var b strings.Builder
	b.WriteByte('"')
	eachReference(text, func(part string, isReference bool) {
		if !isReference {
			part = quoted(part)
			part = part[1 : len(part)-1]
		}
		b.WriteString(part)
	})
	b.WriteByte('"')
	return b.String()
}

// unknownIn says, after a space, when all of a text that is to be will be known; "" if it is.
func unknownIn(text string) (when string) {
	if !strings.Contains(text, "${") {
		return ""
	}
	eachReference(text, func(part string, isReference bool) {
		switch {
		case !isReference:
		case isSecret(part): // never known but to the worker, and says so
		case isResult(part):
			when = " " + knownAfterRun
		case when == "":
			when = " " + knownAfterApply
		}
	})
	return when
}

// placeholders tells whether text holds placeholders, which are known after apply, and whether it is one and nothing else.
func placeholders(text string) (some, alone bool) {
	rest := config.FillPlaceholders([]byte(text), func(string) string { some = true; return " " })
	return some, some && string(rest) == " "
}
