package config

import (
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// TestMessageRoundTrip reads what people see of payloads as the JSON form of their messages: that is the same message as the bytes.
func TestMessageRoundTrip(t *testing.T) {
	t.Parallel()
	w, diags := Load(Options{Paths: []string{"testdata/valid/proto"}, Vars: []VarSource{{Assign: "key=x"}}, NeedVariables: true})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	tried := 0
	for _, j := range w.Jobs {
		if j.Message == nil || j.Sensitive {
			continue
		}
		tried++
		m := w.Messages.Message(j.Type)
		sent, shown := dynamicpb.NewMessage(m), dynamicpb.NewMessage(m)
		types := w.Messages.Types()
		if err := (proto.UnmarshalOptions{Resolver: types}).Unmarshal(j.Payload, sent); err != nil {
			t.Fatalf("%s: %v", j.Addr, err)
		}
		if err := (protojson.UnmarshalOptions{Resolver: types}).Unmarshal(j.Shown, shown); err != nil {
			t.Fatalf("%s: %s: %v", j.Addr, j.Shown, err)
		}
		if !proto.Equal(sent, shown) {
			t.Errorf("%s: sent %v, shown %v", j.Addr, sent, shown)
		}
	}
	if tried < 4 {
		t.Errorf("%d payloads are messages", tried)
	}
}

// TestMessagePlaceholders puts uuids into the bytes of a message as apply does: it stays a message.
func TestMessagePlaceholders(t *testing.T) {
	t.Parallel()
	w, diags := Load(Options{Paths: []string{"testdata/valid/proto"}, Vars: []VarSource{{Assign: "key=x"}}, NeedVariables: true})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	const uuid = "3f1c0a9e-5d0a-5d3c-9a51-1f2e3d4c5b6a"
	for _, j := range w.Jobs {
		if j.Addr.Name != "secret" {
			continue
		}
		m := dynamicpb.NewMessage(w.Messages.Message(j.Type))
		if err := proto.Unmarshal(FillPlaceholders(j.Payload, func(string) string { return uuid }), m); err != nil {
			t.Fatal(err)
		}
		items := m.Get(m.Descriptor().Fields().ByName("items")).List()
		sku := items.Get(0).Message()
		if got, want := sku.Get(sku.Descriptor().Fields().ByName("sku")).String(), "after "+uuid+" and "+uuid; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
