package redistest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readRequest reads one request as a client sends it, an array of bulk strings, and returns its bytes and its first two
// words: the command, in capitals, and its first argument.
func readRequest(r *bufio.Reader) (raw []byte, command, first string, err error) {
	line, n, err := readHeader(r)
	if err != nil {
		return nil, "", "", err
	}
	if line[0] != '*' {
		return nil, "", "", fmt.Errorf("a request begins with %q", line)
	}
	raw = append(raw, line...)
	for i := range n {
		line, size, err := readHeader(r)
		if err != nil {
			return nil, "", "", err
		}
		if line[0] != '$' || size < 0 {
			return nil, "", "", fmt.Errorf("an argument begins with %q", line)
		}
		raw = append(raw, line...)
		start := len(raw)
		raw = append(raw, make([]byte, size+2)...)
		if _, err := io.ReadFull(r, raw[start:]); err != nil {
			return nil, "", "", err
		}
		switch i {
		case 0:
			command = strings.ToUpper(string(raw[start : start+size]))
		case 1:
			first = string(raw[start : start+size])
		}
	}
	return raw, command, first, nil
}

// readReply reads one reply of either protocol version, whole. A push is a message that answers no request.
func readReply(r *bufio.Reader) (raw []byte, push bool, err error) {
	line, n, err := readHeader(r)
	if err != nil {
		return nil, false, err
	}
	raw = append(raw, line...)
	inside := 0
	switch line[0] {
	case '$', '=', '!': // bulk string, verbatim text, bulk error
		if n < 0 {
			return raw, false, nil
		}
		start := len(raw)
		raw = append(raw, make([]byte, n+2)...)
		_, err := io.ReadFull(r, raw[start:])
		return raw, false, err
	case '*', '~', '>': // array, set, push
		inside = n
	case '%': // map
		inside = 2 * n
	case '|': // attributes, which a reply follows
		inside = 2*n + 1
	}
	for range max(inside, 0) {
		part, _, err := readReply(r)
		if err != nil {
			return nil, false, err
		}
		raw = append(raw, part...)
	}
	return raw, line[0] == '>', nil
}

// readHeader reads a line and the number that it ends with, if it is one that a length or a count stands in.
func readHeader(r *bufio.Reader) (line []byte, n int, err error) {
	line, err = r.ReadBytes('\n')
	if err != nil {
		return nil, 0, err
	}
	if len(line) < 3 {
		return nil, 0, fmt.Errorf("a line is %q", line)
	}
	if strings.IndexByte("*$=!~>%|", line[0]) >= 0 {
		if n, err = strconv.Atoi(string(line[1 : len(line)-2])); err != nil {
			return nil, 0, fmt.Errorf("a line is %q: %w", line, err)
		}
	}
	return line, n, nil
}
