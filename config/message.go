package config

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/waybill-dev/waybill/config/protofile"
)

// protoMessage is a message that a .proto file declares.
type protoMessage = protoreflect.MessageDescriptor

// maxMessageDepth is how many messages may be inside of each other: what most readers of protobuf take.
const maxMessageDepth = 100

// messageReader makes a message of a payload. It goes through the value once, reports every mistake at its place, and gives what
// people see of it: fields by their names in the .proto file, enums by name, bytes in base64.
type messageReader struct {
	s      *scope
	set    *protofile.Set
	root   protoMessage
	failed bool

	noted  string            // that was noted last
	fields map[string]string // that are given, with type and number: what decides on the bytes beside the values
	late   hcl.Range         // of the first result in it
	seed   [32]byte          // of tokens: made from the whole payload, so that no text in it is one
	tokens []string          // and what each stands for
}

// uuidLength is that of every uuid that a placeholder stands for, in bytes.
const uuidLength = 36

// messagePayload checks the payload of a job against its message. What the worker gets is the message's bytes, or its JSON form where
// results have to be put into it.
func (s *scope) messagePayload(m protoMessage, a *attribute, d *document, job *Job) {
	val, expr := cty.EmptyObjectVal, hcl.Expression(nil)
	at := spot{path: "payload", at: job.Range, key: job.Range}
	if a != nil {
		got, ok := s.present(a)
		if !ok {
			return
		}
		val, expr = got, a.expr
		at = spotOf("payload", expr)
	}
	p := &messageReader{s: s, set: s.l.protos.set, root: m, fields: map[string]string{}}
	p.sow(val)
	msg := dynamicpb.NewMessage(m)
	shown := p.message(msg, val, at)
	if p.failed || shown == cty.NilVal {
		d.raw("{}")
		return
	}
	err := d.value(shown)
	data, wrong := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(msg)
	if err = errors.Join(err, wrong); err != nil {
		s.r.error(sumWrongType, at.at, "Payload cannot be written as a %s: %v. Please report this, it is a defect of Waybill.", m.FullName(), err)
		return
	}
	if p.late != (hcl.Range{}) {
		s.r.warn(sumSentAsJSON, p.late, "Results and secrets of the worker are put into the payload when the job starts, which is not possible in the bytes of a protobuf message yet. So this job's payload is sent as the JSON form of %s, "+
			"which handlers of conveyor.Handle read as well. A worker that reads the bytes only needs the value in another way, such as from a job between the two.", m.FullName())
		return
	}
	if len(p.tokens) > 0 {
		data = []byte(strings.NewReplacer(p.tokens...).Replace(string(data)))
	}
	d.encode(append([]byte{}, data...)) // an empty message is empty, and not nil
	job.Message = &Message{Fields: p.fields}
}

func (p *messageReader) error(sum summary, at spot, format string, args ...any) {
	p.failed = true
	p.s.r.errorIn(sum, at.at, here(at.path), fmt.Sprintf(format, args...))
}

// unmarked takes the mark of a sensitive value off, which then holds for all that is in it.
func (p *messageReader) unmarked(val cty.Value, at *spot) cty.Value {
	plain, marks := val.Unmark()
	at.secret = at.secret || len(marks) > 0
	return plain
}

// message fills a message from an object, and gives what people see of it; NilVal for what is not to be seen, since it is wrong.
func (p *messageReader) message(m protoreflect.Message, val cty.Value, at spot) cty.Value {
	marked := val.IsMarked()
	val = p.unmarked(val, &at)
	at.depth++
	shown := p.unmarkedMessage(m, val, at)
	if marked && shown != cty.NilVal {
		return shown.Mark(sensitive)
	}
	return shown
}

func (p *messageReader) unmarkedMessage(m protoreflect.Message, val cty.Value, at spot) cty.Value {
	d := m.Descriptor()
	if at.depth > maxMessageDepth {
		p.error(sumBadField, at, "%s nests more than %d messages inside of each other, which most readers of protobuf refuse.", clip(at.path), maxMessageDepth)
		return cty.NilVal
	}
	if known := wellKnown[d.FullName()]; known != nil {
		return known(p, m, val, at)
	}
	if ty := val.Type(); !val.IsKnown() || !ty.IsObjectType() && !ty.IsMapType() {
		if val.IsKnown() {
			p.error(sumBadField, at, "%s is a message %s, which is written as an object, and this is %s.", upperFirst(at.path), d.FullName(), given(val, at.secret))
		}
		return cty.NilVal
	}
	return p.object(m, val.AsValueMap(), at)
}

// object fills a message from members by their names.
func (p *messageReader) object(m protoreflect.Message, members map[string]cty.Value, at spot) cty.Value {
	shown := map[string]cty.Value{}
	by := map[protoreflect.FullName]string{} // the name that a field or a oneof was given by
	for _, name := range slices.Sorted(maps.Keys(members)) {
		in := at.member(name)
		f := p.field(m.Descriptor(), name)
		if f == nil {
			in.at = in.key
			p.error(sumUnknownField, in, "The message %s has no field %q.%s", m.Descriptor().FullName(), clip(name), p.nearField(m.Descriptor(), name))
			continue
		}
		val := p.unmarkedNull(members[name])
		if val.IsNull() && !keepsNull(f) {
			continue // as if it were not there
		}
		if p.twice(by, f, name, in) {
			continue
		}
		p.note(f, at.secret)
		if got := p.value(m, f, members[name], in); got != cty.NilVal {
			shown[string(f.TextName())] = got
		}
	}
	p.required(m.Descriptor(), by, at)
	return cty.ObjectVal(shown)
}

func (p *messageReader) unmarkedNull(val cty.Value) cty.Value {
	plain, _ := val.Unmark()
	return plain
}

// field finds a field by its name in the .proto file or in JSON, or an extension by its full name in brackets.
func (p *messageReader) field(d protoMessage, name string) protoreflect.FieldDescriptor {
	if f := d.Fields().ByTextName(name); f != nil {
		return f
	}
	if f := d.Fields().ByName(protoreflect.Name(name)); f != nil {
		return f
	}
	if f := d.Fields().ByJSONName(name); f != nil {
		return f
	}
	if full, ok := strings.CutPrefix(name, "["); ok && strings.HasSuffix(full, "]") {
		return p.set.Extension(d, strings.TrimSuffix(full, "]"))
	}
	return nil
}

// nearField is the end of a sentence about a name that no field has.
func (p *messageReader) nearField(d protoMessage, name string) string {
	var names []string
	for i := range d.Fields().Len() {
		names = append(names, d.Fields().Get(i).TextName())
	}
	if hint := didYouMeanOf(name, names...); hint != "" {
		return hint
	}
	const listed = 12
	switch {
	case len(names) == 0:
		return " It has none."
	case len(names) > listed:
		return fmt.Sprintf(" It has %s and %d more.", strings.Join(names[:listed], ", "), len(names)-listed)
	}
	return fmt.Sprintf(" It has %s.", strings.Join(names, ", "))
}

// twice reports a field that is given by both of its names, and a second field of a oneof.
func (p *messageReader) twice(by map[protoreflect.FullName]string, f protoreflect.FieldDescriptor, name string, at spot) bool {
	at.at = at.key
	if other := by[f.FullName()]; other != "" {
		p.error(sumBadField, at, "%q and %q are two names of the same field. Remove one of them.", clip(other), clip(name))
		return true
	}
	by[f.FullName()] = name
	o := f.ContainingOneof()
	if o == nil || o.IsSynthetic() {
		return false
	}
	if other := by[o.FullName()]; other != "" {
		p.error(sumBadField, at, "%q and %q are of the oneof %q, of which a message has one field at most. Remove one of them.", clip(other), clip(name), o.Name())
		return true
	}
	by[o.FullName()] = name
	return false
}

// note takes a field down by its place in the .proto files, unless that would tell something about a sensitive value.
func (p *messageReader) note(f protoreflect.FieldDescriptor, secret bool) {
	if secret {
		return
	}
	name := f.TextName()
	if of := f.ContainingMessage(); of != p.root && !f.IsExtension() {
		name = strings.TrimPrefix(string(of.FullName()), string(p.root.ParentFile().Package())+".") + "." + name
	}
	p.noted = name
	p.fields[name] = fmt.Sprintf("%s = %d", protofile.TypeName(f), f.Number())
}

// required reports the fields that are missing and must not be.
func (p *messageReader) required(d protoMessage, given map[protoreflect.FullName]string, at spot) {
	for i := range d.RequiredNumbers().Len() {
		f := d.Fields().ByNumber(d.RequiredNumbers().Get(i))
		if given[f.FullName()] == "" {
			p.error(sumBadField, at.named(f.TextName()), "%s needs the field %q, of type %s: the message %s requires it.", upperFirst(at.path), f.TextName(), protofile.TypeName(f), d.FullName())
		}
	}
}

// named is the spot for a mistake about something that is not there.
func (p spot) named(what string) spot {
	p.path += "." + what
	return p
}

// value sets a field.
func (p *messageReader) value(m protoreflect.Message, f protoreflect.FieldDescriptor, val cty.Value, at spot) cty.Value {
	marked := val.IsMarked()
	val = p.unmarked(val, &at)
	shown := cty.NilVal
	switch {
	case !val.IsKnown():
		p.failed = true // reported where it comes from
	case f.IsMap():
		shown = p.mapField(m, f, val, at)
	case f.IsList():
		shown = p.listField(m, f, val, at)
	default:
		var v protoreflect.Value
		if v, shown = p.single(f, func() protoreflect.Value { return m.NewField(f) }, val, at); v.IsValid() {
			m.Set(f, v)
		}
	}
	if marked && shown != cty.NilVal {
		return shown.Mark(sensitive)
	}
	return shown
}

func (p *messageReader) listField(m protoreflect.Message, f protoreflect.FieldDescriptor, val cty.Value, at spot) cty.Value {
	if ty := val.Type(); !ty.IsListType() && !ty.IsTupleType() && !ty.IsSetType() {
		p.error(sumBadField, at, "%s is a field of type %s, which is written as a list, and this is %s.", upperFirst(at.path), protofile.TypeName(f), given(val, at.secret))
		return cty.NilVal
	}
	list := m.Mutable(f).List()
	shown := make([]cty.Value, 0, val.LengthInt())
	i := 0
	for it := val.ElementIterator(); it.Next(); i++ {
		_, elem := it.Element()
		v, s := p.element(f, list.NewElement, elem, at.element(i))
		if v.IsValid() {
			list.Append(v)
			shown = append(shown, s)
		}
	}
	return cty.TupleVal(shown)
}

// element makes an element of a list or map, which cannot be null unless null is a value of its type.
func (p *messageReader) element(f protoreflect.FieldDescriptor, fresh func() protoreflect.Value, val cty.Value, at spot) (protoreflect.Value, cty.Value) {
	marked := val.IsMarked()
	val = p.unmarked(val, &at)
	if !val.IsKnown() {
		p.failed = true
		return protoreflect.Value{}, cty.NilVal
	}
	if val.IsNull() && !keepsNull(f) {
		p.error(sumBadField, at, "%s is null, and an element is a %s. Remove it.", upperFirst(at.path), protofile.ElementName(f))
		return protoreflect.Value{}, cty.NilVal
	}
	v, shown := p.single(f, fresh, val, at)
	if marked && shown != cty.NilVal {
		shown = shown.Mark(sensitive)
	}
	return v, shown
}

func (p *messageReader) mapField(m protoreflect.Message, f protoreflect.FieldDescriptor, val cty.Value, at spot) cty.Value {
	if ty := val.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		p.error(sumBadField, at, "%s is a field of type %s, which is written as an object, and this is %s.", upperFirst(at.path), protofile.TypeName(f), given(val, at.secret))
		return cty.NilVal
	}
	entries, members := m.Mutable(f).Map(), val.AsValueMap()
	at.depth++ // an entry is a message too
	shown := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		in := at.member(name)
		key, ok := mapKey(f.MapKey(), name)
		if !ok {
			in.at = in.key
			p.error(sumBadField, in, "The keys of %s are of type %s, and %q is none.", at.path, protofile.ElementName(f.MapKey()), clip(name))
			continue
		}
		v, s := p.element(f.MapValue(), entries.NewValue, members[name], in)
		if v.IsValid() {
			entries.Set(key, v)
			shown[key.String()] = s
		}
	}
	return cty.ObjectVal(shown)
}

// single makes a value that is not repeated.
func (p *messageReader) single(f protoreflect.FieldDescriptor, fresh func() protoreflect.Value, val cty.Value, at spot) (protoreflect.Value, cty.Value) {
	if f.Message() == nil {
		return p.scalar(f, val, at)
	}
	v := fresh()
	shown := p.message(v.Message(), val, at)
	if shown == cty.NilVal {
		return protoreflect.Value{}, shown
	}
	return v, shown
}

// sow makes the seed of tokens, where any will be needed.
func (p *messageReader) sow(val cty.Value) {
	var whole document
	if err := whole.value(val); err == nil && bytes.Contains(whole.real, []byte(placeholderHead)) {
		p.seed = sha256.Sum256(whole.real)
	}
}

// token is what stands for a placeholder until the message is written: a text of the same length as the uuid that is put in its place,
// since the lengths of all that it is in are part of the bytes.
func (p *messageReader) token(placeholder string) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(p.seed[:], uint64(len(p.tokens))))
	token := hex.EncodeToString(sum[:uuidLength/2])
	p.tokens = append(p.tokens, token, placeholder)
	return token
}

// holdPlaceholders puts tokens in the place of references to uuids.
func (p *messageReader) holdPlaceholders(text string) string {
	if !hasPlaceholder(text) {
		return text
	}
	return string(FillPlaceholders([]byte(text), func(address string) string {
		if _, err := ParseAddr(address); err != nil {
			return ""
		}
		return p.token(Placeholder(address))
	}))
}

// given says what a value is, without showing a sensitive one.
func given(val cty.Value, secret bool) string {
	if secret || val.IsNull() || !val.IsKnown() {
		return valueName(val)
	}
	switch val.Type() {
	case cty.String:
		if r, ok := wholeReading(val.AsString()); ok {
			return "the result " + clip(r.String())
		}
		return fmt.Sprintf("the string %q", clip(ShowPlaceholders(val.AsString())))
	case cty.Number:
		text, err := numberText(val.AsBigFloat())
		return cmp.Or(clip(text), fmt.Sprint(err))
	case cty.Bool:
		return fmt.Sprint(val.True())
	}
	return typeName(val.Type())
}
