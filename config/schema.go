package config

import (
	"strings"
	"sync"
)

// This file says what the table of the grammar consists of; schema_top.go and schema_job.go are the table. Decoding, "Did you
// mean", `waybill schema -json` and REFERENCE.md all come from it.
//
// To add an argument, write one line where it belongs:
//
//	{name: "grace", is: formDuration, def: "10s", under: groupHow, text: "How long the program may go on after it was told to stop."},
//
// and to add a block a kind with a text, its arguments and its blocks. Then
//
//	go test ./config -run TestReference -update
//
// writes REFERENCE.md anew; the same test fails on what has no form or no text. What needs more than sentences, such as an
// example, is a file in guide/ that a kind names.

// kind describes one kind of block: what may stand in it.
type kind struct {
	name   string
	label  string // what its one label means; "" for a block without
	text   string // Markdown, sentences
	args   []arg
	blocks []*kind
	guide  []string // files in guide/ that the reference shows behind the tables, without .md
	under  group    // of the block that it stands in

	place string // what a kind without a name is in sentences; default the top level of a workflow

	many bool // may repeat where it stands
	any  bool // takes arguments of any name, as locals does
}

// arg is one argument of a kind of block.
type arg struct {
	name string
	is   form
	def  string   // the value without it, as HCL; or words in parentheses; "" where nothing is the same as nothing given
	one  []string // the words that it may be; none when others may be too
	not  []string // arguments and blocks of the same block that it cannot stand beside
	text string   // Markdown, sentences

	under    group
	required bool
}

// form is what the value of an argument is, in the words of the reference. formTypes has each as a type.
type form string

const (
	formAny       form = "any"
	formText      form = "string"
	formNumber    form = "number"
	formBool      form = "bool"
	formDuration  form = "duration" // as time.ParseDuration reads it
	formTime      form = "time"     // of RFC 3339
	formTexts     form = "list(string)"
	formNumbers   form = "list(number)"
	formTextMap   form = "map(string)"
	formObject    form = "object"
	formJob       form = "job"        // a reference to one job
	formJobs      form = "jobs"       // to several
	formAddress   form = "address"    // written, not evaluated
	formType      form = "type"       // a type constraint, likewise
	formName      form = "name"       // likewise
	formInstances form = "collection" // a map, an object or a set of strings
	formChoice    form = "string or number"
	formCommand   form = "list(string) or string"
)

// group is a heading under which the reference shows a part of a kind. A kind without groups is one table.
type group string

const (
	groupWhat   group = "What it runs"
	groupHow    group = "How it is handled"
	groupWhen   group = "When, and after what"
	groupWrong  group = "When things go wrong, or change"
	groupNumber group = "How many there are"
)

// schema is the grammar, made on first use: a process that only prints its version does not pay for it.
var schema = sync.OnceValue(func() *kind {
	return &kind{name: "", blocks: []*kind{
		workflowKind(), variableKind(), localsKind(), jobKind(), queueKind(), outputKind(), checkKind(), movedKind(), moduleKind(),
		removedKind(), importKind(),
	}}
})

func (k *kind) arg(name string) *arg {
	for i := range k.args {
		if k.args[i].name == name {
			return &k.args[i]
		}
	}
	return nil
}

func (k *kind) block(name string) *kind {
	for _, b := range k.blocks {
		if b.name == name {
			return b
		}
	}
	return nil
}

// names lists what may stand in a block of this kind, for suggestions.
func (k *kind) names() []string {
	var names []string
	for i := range k.args {
		names = append(names, k.args[i].name)
	}
	for _, b := range k.blocks {
		names = append(names, b.name)
	}
	return names
}

// where names the kind in sentences: "a job block", "the top level".
func (k *kind) where() string {
	switch {
	case k.place != "":
		return k.place
	case k.name == "":
		return "the top level of a workflow"
	}
	return article(k.name) + " " + k.name + " block"
}

func article(word string) string {
	if strings.ContainsAny(word[:1], "aeiou") {
		return "an"
	}
	return "a"
}
