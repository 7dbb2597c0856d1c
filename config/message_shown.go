package config

import (
	"fmt"

	ctyjson "github.com/zclconf/go-cty/cty/json"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/waybill-dev/waybill/config/protofile"
)

// ShowMessage gives for bytes of a message, whoever wrote them, what people see of a payload with the same fields: Job.Shown and
// Job.Message. It fails on what is no such message, and on one that a payload could not give, such as one with fields that the .proto
// files do not have.
func ShowMessage(set *protofile.Set, name string, payload []byte) (shown []byte, fields *Message, err error) {
	stored, err := set.Read(name, payload)
	if err != nil {
		return nil, nil, err
	}
	asJSON, err := protojson.MarshalOptions{UseProtoNames: true, Resolver: set.Types()}.Marshal(stored)
	if err != nil {
		return nil, nil, err
	}
	ty, err := ctyjson.ImpliedType(asJSON)
	if err != nil {
		return nil, nil, err
	}
	val, err := ctyjson.Unmarshal(asJSON, ty)
	if err != nil {
		return nil, nil, err
	}
	p := &messageReader{s: &scope{r: &report{}}, set: set, root: stored.Descriptor(), fields: map[string]string{}}
	again := dynamicpb.NewMessage(p.root)
	value := p.message(again, val, spot{path: "payload"})
	if p.failed || len(p.tokens) > 0 || !proto.Equal(stored, again) {
		return nil, nil, fmt.Errorf("no payload makes these bytes of a %s", name)
	}
	var d document
	if err := d.value(value); err != nil {
		return nil, nil, err
	}
	return d.real, &Message{Fields: p.fields}, nil
}
