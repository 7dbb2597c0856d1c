package outbox

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// payloadOf makes a payload of a job's arguments; nil of none.
func payloadOf(args []any) ([]byte, error) {
	switch len(args) {
	case 0:
		return nil, nil
	case 1:
		return payloadOfOne(args[0])
	}
	list := make([]json.RawMessage, len(args))
	for i, arg := range args {
		var err error
		if list[i], err = jsonOf(arg); err != nil {
			return nil, fmt.Errorf("%w: argument %d: %w", ErrPayload, i+1, err)
		}
	}
	payload, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	return payload, nil
}

func payloadOfOne(arg any) (payload []byte, err error) {
	switch arg := arg.(type) {
	case []byte:
		return append([]byte(nil), arg...), nil
	case json.RawMessage:
		return append([]byte(nil), arg...), nil
	case proto.Message:
		payload, err = proto.MarshalOptions{Deterministic: true}.Marshal(arg)
	default:
		payload, err = json.Marshal(arg)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	return payload, nil
}

// jsonOf is an argument as an element of an array.
func jsonOf(arg any) (json.RawMessage, error) {
	if m, ok := arg.(proto.Message); ok {
		return protojson.Marshal(m)
	}
	return json.Marshal(arg)
}
