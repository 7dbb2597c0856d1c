package embedded

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// Replies are built and read as bytes of RESP2: that is what miniredis gives and what clients get.

func appendError(out []byte, message string) []byte {
	out = append(out, '-')
	out = append(out, oneLine(message)...)
	return append(out, "\r\n"...)
}

func appendStatus(out []byte, status string) []byte {
	out = append(out, '+')
	out = append(out, oneLine(status)...)
	return append(out, "\r\n"...)
}

// oneLine keeps a text from ending the line that carries it.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}

func appendInt(out []byte, n int64) []byte {
	out = append(out, ':')
	out = strconv.AppendInt(out, n, 10)
	return append(out, "\r\n"...)
}

func appendBulk(out []byte, s string) []byte {
	out = append(out, '$')
	out = strconv.AppendInt(out, int64(len(s)), 10)
	out = append(out, "\r\n"...)
	out = append(out, s...)
	return append(out, "\r\n"...)
}

func appendArray(out []byte, n int) []byte {
	out = append(out, '*')
	out = strconv.AppendInt(out, int64(n), 10)
	return append(out, "\r\n"...)
}

func appendNull(out []byte) []byte { return append(out, "$-1\r\n"...) }

// appendNoArray is what a blocking command answers when its time is up.
func appendNoArray(out []byte) []byte { return append(out, "*-1\r\n"...) }

func isError(reply []byte) bool { return len(reply) > 0 && reply[0] == '-' }

func isZero(reply []byte) bool { return string(reply) == ":0\r\n" }

// isNothing reports a null or an empty array: what a pop from nothing answers.
func isNothing(reply []byte) bool {
	switch string(reply) {
	case "$-1\r\n", "*-1\r\n", "*0\r\n":
		return true
	}
	return false
}

var errBadReply = errors.New("malformed reply")

// token splits the first line off a reply: its type, what stands behind it, and the rest.
func token(b []byte) (kind byte, line, rest []byte, err error) {
	end := bytes.Index(b, []byte("\r\n"))
	if end < 1 {
		return 0, nil, nil, errBadReply
	}
	return b[0], b[1:end], b[end+2:], nil
}

// bulk takes the content of a bulk string whose length stands in line.
func bulk(line, rest []byte) (content, after []byte, err error) {
	n, err := strconv.Atoi(string(line))
	if err != nil || n < 0 || n+2 > len(rest) {
		return nil, nil, errBadReply
	}
	return rest[:n], rest[n+2:], nil
}

// replyStrings reads a reply that is one bulk string or a flat array of them.
func replyStrings(reply []byte) ([]string, error) {
	kind, line, rest, err := token(reply)
	if err != nil {
		return nil, err
	}
	if kind == '$' {
		if string(line) == "-1" {
			return nil, nil
		}
		s, _, err := bulk(line, rest)
		return []string{string(s)}, err
	}
	n, err := strconv.Atoi(string(line))
	if err != nil || kind != '*' {
		return nil, errBadReply
	}
	all := make([]string, 0, max(n, 0))
	for range n {
		var line, content []byte
		if kind, line, rest, err = token(rest); err != nil || kind != '$' {
			return nil, errBadReply
		}
		if content, rest, err = bulk(line, rest); err != nil {
			return nil, err
		}
		all = append(all, string(content))
	}
	return all, nil
}
