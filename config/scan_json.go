package config

import (
	"bytes"
	"encoding/json"
)

// scanJSON looks for what must not reach the parsers in a file of JSON: brackets nested too deeply, in JSON itself or
// in the templates that its strings are.
func scanJSON(src []byte) *flaw {
	depth := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '[', '{':
			if depth++; depth > maxNesting {
				return &flaw{summary: sumTooDeep, at: i, length: 1, detail: "This JSON nests more than 1000 deep."}
			}
		case ']', '}':
			depth--
		case '"':
			end := stringEnd(src, i)
			if f := scanString(src[i:end]); f != nil {
				f.at, f.length = i, 1
				return f
			}
			i = end - 1
		}
	}
	return nil
}

// stringEnd is the offset behind the string that begins at i.
func stringEnd(src []byte, i int) int {
	for i++; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(src)
}

// scanString scans a JSON string as the template it is when it is evaluated.
func scanString(quoted []byte) *flaw {
	if len(quoted) > maxItem {
		return &flaw{summary: sumBlockTooLarge, detail: "A string has at most 1 MiB of text. Put the data into a file and read it with file()."}
	}
	if !bytes.ContainsAny(quoted, `$%\`) {
		return nil
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return nil // the parser words it
	}
	return scanTemplate([]byte(text))
}
