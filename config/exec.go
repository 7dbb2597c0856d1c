package config

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

func itoa(n int) string { return strconv.Itoa(n) }

// exec writes {"command","dir","env","shell","stdin"}; what is empty is left out.
func (s *scope) exec(b *block, d *document, job *Job) {
	c := b.inner
	dir := ""
	if a := c.attr("dir"); a != nil {
		dir, _, _ = s.optionalText(a)
	}
	shell := s.inShell(c)
	inputs := inputSet{}
	d.open("{")
	command := c.attr("command")
	if command != nil && !shell {
		s.command(command, dir, d, &inputs)
	}
	if a := c.attr("dir"); a != nil {
		s.textMember(a, d)
	}
	if a := c.attr("env"); a != nil {
		s.textMap(a, d, "variable", func(name string) bool { return name != "" && !strings.ContainsAny(name, "=\x00") }, s.checkVariable)
	}
	if command != nil && shell {
		s.shell(command, d)
	}
	if a := c.attr("stdin"); a != nil {
		s.textMember(a, d)
	}
	d.close("}")
	if a := c.attr("inputs"); a != nil {
		s.inputs(a, &inputs)
	}
	job.Inputs = inputs.sorted()
}

// optionalText reads a string that may be sensitive or null.
func (s *scope) optionalText(a *attribute) (text string, secret, ok bool) {
	val, ok := s.value(a)
	if !ok || val.IsNull() {
		return "", false, false
	}
	return s.asText(val, a.expr, a.name)
}

// inShell tells whether a shell runs the command. What was meant for the shell is told from that.
func (s *scope) inShell(c *content) bool {
	a := c.attr("shell")
	if a == nil {
		return false
	}
	text, literal := literalString(a.expr)
	_, template := a.expr.(*hclsyntax.TemplateExpr)
	switch {
	case literal && (text == "true" || text == "false") || !literal && !template:
		shell, _ := s.boolean(a)
		return shell
	case literal && c.attr("command") == nil:
		s.r.error(sumWrongType, a.expr.Range(), "Shell says whether a shell runs the command, true or false. Write command = %q and shell = true.", clip(text))
	default:
		s.r.error(sumWrongType, a.expr.Range(), "Shell says whether a shell runs the command, true or false. What the shell is to run stands in command, with shell = true.")
	}
	return false
}

func (s *scope) shell(a *attribute, d *document) {
	val, ok := s.present(a)
	if !ok {
		return
	}
	if ty := val.Type(); ty.IsTupleType() || ty.IsListType() {
		s.r.error(sumWrongType, a.expr.Range(), "With shell = true, command is one string for the shell, and this is a list. Without shell, a list is run as it is.")
		return
	}
	text, secret, ok := s.asText(val, a.expr, a.name)
	switch {
	case !ok:
	case text == "":
		s.r.error(sumEmptyCommand, a.expr.Range(), "The command for the shell is empty.")
	case hasReading(text):
		if secret, found := firstReading(text, true); found {
			s.r.error(sumBadSecret, originRange(secret.origin), "The command is code for the shell, and what a secret holds would be read as such. %s", secretInEnv)
			return
		}
		s.r.error(sumBadResult, placeOfReading(text, a.expr.Range()), "%sGive the result to the shell in env, and write the variable into the command: \"$NAME\", in quotes.", notToDecide)
	default:
		d.member("shell")
		d.text(text, secret)
	}
}

// command writes the program and its arguments. A program of the workflow's own is one of its inputs.
func (s *scope) command(a *attribute, dir string, d *document, inputs *inputSet) {
	begun, failed := false, false
	var before []string
	ok := s.list(a, func(val cty.Value, expr hcl.Expression) {
		text, secret, ok := s.asText(val, expr, a.name)
		if !ok {
			failed = true
			return
		}
		if strings.ContainsRune(text, 0) {
			s.r.error(sumBadText, expr.Range(), "A part of the command holds a NUL byte, which no program can be given.")
		}
		s.checkArgument(text, before, expr)
		before = append(before, text)
		if !begun {
			d.member(a.name)
			d.open("[")
			s.program(text, secret, dir, expr, inputs)
		}
		begun = true
		d.comma()
		d.text(text, secret)
	})
	if begun {
		d.close("]")
	} else if ok && !failed {
		s.r.error(sumEmptyCommand, a.expr.Range(), "The command is empty. Its first element is the program, the others are its arguments.")
	}
}

// program checks command[0].
func (s *scope) program(text string, secret bool, dir string, expr hcl.Expression, inputs *inputSet) {
	if text == "" {
		s.r.error(sumEmptyCommand, expr.Range(), "The first element of the command is the program, and it is empty.")
		return
	}
	if secret || path.IsAbs(text) || path.IsAbs(dir) || hasPlaceholder(text+dir) || hasReading(text) {
		return
	}
	name := path.Join(dir, text)
	if !strings.Contains(text, "/") && !s.l.disk.isFile(name) {
		return // looked up in PATH by the worker
	}
	sum, err := s.l.disk.sum(name)
	if err != nil {
		s.r.error(sumMissingInput, expr.Range(), "The program is a path in the workflow's directory, so it has to be there: %s. A program that an earlier job makes is run with shell = true.", s.l.disk.explain(err))
		return
	}
	inputs.add(Input{Path: name, SHA256: sum})
}

// inputs hashes the files that belong to the work.
func (s *scope) inputs(a *attribute, to *inputSet) {
	s.list(a, func(val cty.Value, expr hcl.Expression) {
		name, secret, ok := s.asText(val, expr, a.name)
		switch {
		case !ok:
		case secret:
			s.r.error(sumSensitive, expr.Range(), "The names of inputs are stored as they are, so they cannot be made from sensitive values.")
		case name == "" || hasPlaceholder(name):
			s.r.error(sumMissingInput, expr.Range(), "%q is no name of a file.", clip(name))
		default:
			sum, err := s.l.disk.sum(name)
			if err != nil {
				s.r.error(sumMissingInput, expr.Range(), "A file in inputs is read now, to run the job again when it changes: %s.", s.l.disk.explain(err))
				return
			}
			to.add(Input{Path: path.Clean(name), SHA256: sum})
		}
	})
}

// list calls visit for each element of a list. The elements of a list that is written out are evaluated one by one,
// which is faster and gives each its own range.
func (s *scope) list(a *attribute, visit func(cty.Value, hcl.Expression)) bool {
	if written, ok := a.expr.(*hclsyntax.TupleConsExpr); ok && a.state != exprConstant {
		if !s.check(a) {
			return false
		}
		good := true
		for _, elem := range written.Exprs {
			val, ok := s.evaluate(elem)
			if ok {
				visit(val, elem)
			}
			good = good && ok
		}
		return good
	}
	val, ok := s.present(a)
	if !ok {
		return false
	}
	val, marks := val.Unmark()
	ty := val.Type()
	if !ty.IsTupleType() && !ty.IsListType() && !ty.IsSetType() {
		hint := "Write it in brackets: [ ... ]."
		if a.name == "command" {
			hint = "Write [\"PROGRAM\", \"ARGUMENT\"], or set shell = true to give it to a shell."
		}
		s.r.error(sumWrongType, a.expr.Range(), "%s needs a list of strings, and this is %s. %s", upperFirst(a.name), typeName(ty), hint)
		return false
	}
	for it := val.ElementIterator(); it.Next(); {
		_, elem := it.Element()
		visit(elem.WithMarks(marks), a.expr)
	}
	return true
}

// inputSet collects the inputs of a job, each once.
type inputSet struct{ list []Input }

func (i *inputSet) add(in Input) { i.list = append(i.list, in) }

func (i *inputSet) sorted() []Input {
	slices.SortFunc(i.list, func(a, b Input) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(i.list, func(a, b Input) bool { return a.Path == b.Path })
}
