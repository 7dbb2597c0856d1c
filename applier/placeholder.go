package applier

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"github.com/waybill-dev/waybill/config"
)

// placeholderStart begins a reference to another job's uuid: "@{uuid:", the address in unpadded base64url, "}". Digests
// are made over the placeholder, so that a job which only names another one's uuid is not changed by its running again.
const placeholderStart = "@{uuid:"

// fillPlaceholders puts uuids in place of placeholders. Data without any is returned as it is; what only looks like a
// placeholder stays.
func fillPlaceholders(data []byte, uuids func(config.Addr) (string, bool)) ([]byte, error) {
	at := bytes.Index(data, []byte(placeholderStart))
	if at < 0 {
		return data, nil
	}
	filled := make([]byte, 0, len(data))
	for ; at >= 0; at = bytes.Index(data, []byte(placeholderStart)) {
		filled = append(filled, data[:at]...)
		data = data[at:]
		addr, length := readPlaceholder(data)
		if length == 0 {
			filled = append(filled, placeholderStart...)
			data = data[len(placeholderStart):]
			continue
		}
		id, ok := uuids(addr)
		if !ok {
			return nil, fmt.Errorf("it names the uuid of %s, which has no submission; include it in the apply", addr)
		}
		filled = append(filled, id...)
		data = data[length:]
	}
	return append(filled, data...), nil
}

// readPlaceholder reads the placeholder that data begins with; length 0 when it begins with none.
func readPlaceholder(data []byte) (addr config.Addr, length int) {
	end := bytes.IndexByte(data, '}')
	if end < 0 {
		return addr, 0
	}
	text, err := base64.RawURLEncoding.DecodeString(string(bytes.TrimRight(data[len(placeholderStart):end], "=")))
	if err != nil {
		return addr, 0
	}
	if addr, err = config.ParseAddr(string(text)); err != nil {
		return addr, 0
	}
	return addr, end + 1
}
