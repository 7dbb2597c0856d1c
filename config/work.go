package config

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// maxPayload bounds what is stored of one job's work, in bytes.
const maxPayload = 1 << 20

// work reads what the job runs: exactly one of exec, http, sleep and type.
func (s *scope) work(c *content, job *Job) {
	var first, second string
	var at hcl.Range
	found := func(name string, where hcl.Range) {
		if first == "" {
			first = name
		} else if second == "" {
			second, at = name, where
		}
	}
	for i := range c.blocks {
		if b := &c.blocks[i]; b.kind.name == "exec" || b.kind.name == "http" || b.kind.name == "sleep" {
			found(b.kind.name, b.header)
		}
	}
	typed := c.attr("type")
	if typed != nil {
		found("type", typed.nameRange)
	}
	switch {
	case first == "" && !c.refused:
		s.r.error(sumNothingToRun, job.Range, "Job %q says nothing about what it runs. Give it one of exec { command = [...] }, http { url = ... }, sleep { duration = ... }, or type = \"TYPE\" for a worker of your own; type = \"noop\" does nothing.",
			job.Addr.Name)
		return
	case second != "":
		s.r.error(sumSeveralWorks, at, "Job %q has %s and %s. A job runs one thing: remove one of them, or make two jobs of it.", job.Addr.Name, first, second)
	}
	if typed == nil {
		for _, name := range []string{"payload", "payload_base64"} {
			if a := c.attr(name); a != nil && first != "" {
				s.r.error(sumConflict, a.nameRange, "%s belongs to jobs with a type. What %s gets is written inside that block.", upperFirst(name), first)
			}
		}
	}
	var d document
	switch first {
	case "exec":
		b := c.block(first)
		s.in(b).exec(b, &d, job)
	case "http":
		b := c.block(first)
		s.in(b).http(b, &d)
	case "sleep":
		b := c.block(first)
		s.in(b).sleep(b, &d)
	case "type":
		s.typed(c, &d, job)
	}
	if first != "type" {
		job.Type = first
	}
	s.settleReadings(&d, job, first == "type")
	if len(d.real) > maxPayload {
		s.r.error(sumPayloadTooLarge, job.Range, "The work of %s has %d KiB when it is stored; at most %d KiB are possible. Put large data into files, and their names into the job.",
			clip(job.Addr.String()), len(d.real)>>10, maxPayload>>10)
	}
	job.Payload, job.Shown = d.finish()
	job.Sensitive = d.sensitive
	job.Masks = s.m.masks(d.hidden)
}

// builtin are the types that have a block of their own.
var builtin = []string{"exec", "http", "sleep"}

func (s *scope) typed(c *content, d *document, job *Job) {
	a := c.attr("type")
	name, ok := s.text(a)
	if ok && slices.Contains(builtin, name) {
		s.r.error(sumConflict, a.expr.Range(), "Type %q is built in. Write it as a block: %s { ... }.", name, name)
		ok = false
	}
	if !ok || !s.r.storeName("type", name, a.expr.Range()) {
		name = "noop"
	}
	job.Type = name
	var m protoMessage
	if ok && name != "noop" {
		m = s.messageOf(name, a.expr.Range())
	}
	payload, raw := c.attr("payload"), c.attr("payload_base64")
	switch {
	case payload != nil && raw != nil:
		s.r.error(sumConflict, raw.nameRange, "A job has one of payload and payload_base64. Remove one of them.")
	case name == "noop" && ok && (payload != nil || raw != nil):
		at := payload
		if at == nil {
			at = raw
		}
		s.r.error(sumConflict, at.nameRange, "A noop job does nothing, so it takes no payload. To run what follows it again when a value changes, put the value into triggers.")
	case raw != nil:
		s.rawPayload(raw, m, d)
	case m != nil:
		s.messagePayload(m, payload, d, job)
	case payload != nil:
		s.payload(payload, d)
	default:
		d.raw("{}")
	}
}

func (s *scope) payload(a *attribute, d *document) {
	val, ok := s.present(a)
	if !ok {
		return
	}
	if ty := val.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		s.r.error(sumWrongType, a.expr.Range(), "Payload needs an object, such as { day = var.day }, and this is %s. Bytes are given as payload_base64.", typeName(ty))
		return
	}
	if err := d.value(val); err != nil {
		s.r.error(sumWrongType, a.expr.Range(), "Payload cannot be used: %v.", err)
	}
}

// rawPayload takes bytes as they are. They are no JSON, so people see them encoded only when they are secret or not. Where the type is a message
// they have to be one.
func (s *scope) rawPayload(a *attribute, m protoMessage, d *document) {
	text, secret, ok := s.secretText(a)
	if !ok {
		return
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		s.r.error(sumBadBase64, a.expr.Range(), "Payload_base64 is not in standard base64 with padding. Encode it with base64encode() or filebase64().")
		return
	}
	if m != nil && proto.Unmarshal(data, dynamicpb.NewMessage(m)) != nil {
		s.r.error(sumBadField, a.expr.Range(), "The bytes of payload_base64 are no %s. Give its fields as payload, or bytes that a program has written for this message.", m.FullName())
	}
	d.hide(secret, func() { d.real = append(d.real, data...) })
	if secret {
		d.hidden = append(d.hidden, string(data))
	}
}

// secretText reads a string that may be sensitive.
func (s *scope) secretText(a *attribute) (text string, secret, ok bool) {
	val, ok := s.present(a)
	if !ok {
		return "", false, false
	}
	return s.asText(val, a.expr, a.name)
}

// asText converts a value to a string, and says whether it is sensitive.
func (s *scope) asText(val cty.Value, expr hcl.Expression, name string) (text string, secret, ok bool) {
	if val.Type() == cty.String && !val.IsMarked() {
		if val.IsNull() || !val.IsKnown() {
			return "", false, s.notNull(val, expr, name)
		}
		return val.AsString(), false, true
	}
	plain, marks := val.UnmarkDeep()
	if !plain.IsKnown() || plain.IsNull() {
		return "", false, s.notNull(plain, expr, name)
	}
	got, ok := s.convert(plain, cty.String, expr, name)
	if !ok {
		return "", false, false
	}
	return got.AsString(), len(marks) > 0, true
}

func (s *scope) notNull(val cty.Value, expr hcl.Expression, name string) bool {
	if val.IsKnown() {
		s.r.error(sumWrongType, expr.Range(), "%s has a null in a place that needs a string.", upperFirst(name))
	}
	return false
}

func (s *scope) sleep(b *block, d *document) {
	a := b.inner.attr("duration")
	if a == nil {
		return
	}
	if val, ok := s.present(a); !ok || val.IsNull() {
		return
	}
	span, ok := s.duration(a, 0)
	if !ok {
		return
	}
	d.open("{")
	d.member("duration")
	d.text(span.String(), false)
	d.close("}")
}

// http writes {"body","expect","headers","method","url"}; what is empty is left out.
func (s *scope) http(b *block, d *document) {
	c := b.inner
	d.open("{")
	if a := c.attr("body"); a != nil {
		s.textMember(a, d)
	}
	if a := c.attr("expect"); a != nil {
		s.expect(a, d)
	}
	if a := c.attr("headers"); a != nil {
		s.textMap(a, d, "header", headerName, s.checkHeader)
	}
	method := "GET"
	if a := c.attr("method"); a != nil {
		if text, ok := s.text(a); ok {
			method = text
			if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r < 'A' || r > 'Z' }) {
				s.r.error(sumBadChoice, a.expr.Range(), "Method is a word in capitals such as \"GET\" or \"POST\", and not %q.%s", clip(text), didYouMeanOf(text, "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"))
			}
		}
	}
	d.member("method")
	d.text(method, false)
	if a := c.attr("url"); a != nil {
		if text, secret, ok := s.secretText(a); ok {
			if text, ok = s.urlReadings(text, a); ok && !isSecret(text) { // of which the worker knows whether it is a URL
				s.checkURL(text, secret, a)
			}
			d.member("url")
			d.text(text, secret)
		}
	}
	d.close("}")
}

func (s *scope) checkURL(text string, secret bool, a *attribute) {
	text = withoutReadings(text)
	u, err := url.Parse(text)
	shown := clip(text)
	if secret {
		shown = "the sensitive value"
	}
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return
	}
	s.r.error(sumBadURL, a.expr.Range(), "Url needs a scheme and a host, such as https://example.com/path, and %s is no such URL.", shown)
}

// expect writes the status codes that count as success.
func (s *scope) expect(a *attribute, d *document) {
	val, ok := s.plain(a, cty.List(cty.Number))
	if !ok {
		return
	}
	codes := val.AsValueSlice()
	if len(codes) == 0 {
		return
	}
	d.member("expect")
	d.open("[")
	for _, code := range codes {
		if code.IsNull() || !code.IsKnown() {
			continue
		}
		n, err := wholeNumber(code.AsBigFloat(), 100, 599)
		if err != nil {
			s.r.error(sumOutOfRange, a.expr.Range(), "A status code in expect %v.", err)
			continue
		}
		d.comma()
		d.raw(itoa(n))
	}
	d.close("]")
}

// textMember writes a string that may be sensitive under its argument's name.
func (s *scope) textMember(a *attribute, d *document) {
	val, ok := s.value(a)
	if !ok || val.IsNull() {
		return
	}
	text, secret, ok := s.asText(val, a.expr, a.name)
	if ok && text != "" {
		d.member(a.name)
		d.text(text, secret)
	}
}

// textMap writes an object of strings. A null leaves its key out, so that keys can depend on conditions.
func (s *scope) textMap(a *attribute, d *document, what string, valid func(string) bool, check func(name, text string, at hcl.Range)) {
	val, ok := s.value(a)
	if !ok || val.IsNull() {
		return
	}
	secretAll := val.IsMarked()
	val, _ = val.Unmark()
	if ty := val.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		s.r.error(sumWrongType, a.expr.Range(), "%s needs an object of strings, such as { NAME = \"value\" }, and this is %s.", upperFirst(a.name), typeName(ty))
		return
	}
	begun := false
	for it := val.ElementIterator(); it.Next(); {
		key, elem := it.Element()
		if plain, _ := elem.Unmark(); plain.IsNull() {
			continue
		}
		name := key.AsString()
		if !valid(name) {
			s.r.error(sumBadKey, a.expr.Range(), "%q cannot be the name of a %s.", clip(name), what)
			continue
		}
		text, secret, ok := s.asText(elem, a.expr, a.name+"."+clip(name))
		if !ok {
			continue
		}
		if !begun {
			d.member(a.name)
			d.open("{")
			begun = true
		}
		if strings.ContainsRune(text, 0) {
			s.r.error(sumBadText, a.expr.Range(), "The value of %q in %s holds a NUL byte, which nobody can be given.", clip(name), a.name)
		}
		check(name, text, a.expr.Range())
		d.member(name)
		d.text(text, secret || secretAll)
	}
	if begun {
		d.close("}")
	}
}

func headerName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}
