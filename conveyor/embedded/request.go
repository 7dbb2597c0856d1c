package embedded

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Bounds of one request. They keep a broken or hostile client from taking the host's memory; payloads of jobs are
// at most 1 MiB.
const (
	maxArgs    = 1 << 20
	maxArg     = 64 << 20
	maxRequest = 256 << 20
)

// errProtocol is input that is no request. The client is told and disconnected.
var errProtocol = errors.New("ERR Protocol error")

// readRequest reads one request. A request of no arguments is legal and answered by nothing.
func readRequest(in *bufio.Reader) ([]string, error) {
	n, err := readCount(in, '*', maxArgs)
	if err != nil {
		return nil, err
	}
	var args []string
	left := maxRequest
	for range n {
		size, err := readCount(in, '$', min(maxArg, left))
		if err != nil {
			return nil, unexpected(err)
		}
		left -= size
		arg, err := readArg(in, size)
		if err != nil {
			return nil, unexpected(err)
		}
		args = append(args, arg)
	}
	return args, nil
}

// unexpected tells an end within a request from the end between two.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readCount reads a line of a type byte and a number. Negative numbers count as 0, as in Redis.
func readCount(in *bufio.Reader, kind byte, most int) (int, error) {
	line, err := in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return 0, fmt.Errorf("%w: too long a line", errProtocol)
	case err != nil:
		return 0, err
	}
	line = bytes.TrimRight(line, "\r\n")
	if len(line) == 0 && kind == '*' {
		return 0, nil
	}
	if len(line) < 2 || line[0] != kind {
		return 0, fmt.Errorf("%w: expected '%c', got '%.20q'", errProtocol, kind, line)
	}
	n, err := strconv.Atoi(string(line[1:]))
	if err != nil || n > most || n < 0 && kind == '$' {
		return 0, fmt.Errorf("%w: invalid length %.20q", errProtocol, line[1:])
	}
	return max(n, 0), nil
}

// readArg reads size bytes and the line end behind them. Memory grows with what arrives, not with what is announced.
func readArg(in *bufio.Reader, size int) (string, error) {
	const trusted = 64 << 10
	var arg string
	if size <= trusted {
		b := make([]byte, size)
		if _, err := io.ReadFull(in, b); err != nil {
			return "", err
		}
		arg = string(b)
	} else {
		var b bytes.Buffer
		if _, err := io.CopyN(&b, in, int64(size)); err != nil {
			return "", err
		}
		arg = b.String()
	}
	var end [2]byte
	if _, err := io.ReadFull(in, end[:]); err != nil {
		return "", err
	}
	if end != [2]byte{'\r', '\n'} {
		return "", fmt.Errorf("%w: an argument does not end where its length says", errProtocol)
	}
	return arg, nil
}
