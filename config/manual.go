package config

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
)

// guides are what the reference says in more than sentences.
//
//go:embed guide/*.md
var guides embed.FS

func guide(name string) string {
	text, err := guides.ReadFile("guide/" + name + ".md")
	if err != nil {
		return "" // a test looks for each
	}
	return strings.TrimSpace(string(text))
}

// Manual is the reference of the language in Markdown, made from the grammar: REFERENCE.md.
func Manual() string {
	var b strings.Builder
	b.WriteString("# The language, block by block\n\n" + made + "\n\n" +
		"Everything that may stand in the files of a workflow. What is not here is a mistake, and `waybill validate` says where and what was probably meant.\n\n")
	b.WriteString(guide("expressions") + "\n\n")
	for _, k := range schema().blocks {
		fmt.Fprintf(&b, "- [%s](#%s)\n", k.name, k.name)
	}
	for _, k := range schema().blocks {
		k.manual(&b, nil)
	}
	return b.String()
}

const made = "<!-- Made by `waybill docs` from the grammar in config/schema*.go; see there. -->"

// manual writes the section of a block and those of the blocks in it.
func (k *kind) manual(b *strings.Builder, outer []string) {
	path := append(slices.Clone(outer), k.name)
	fmt.Fprintf(b, "\n%s %s\n\n%s\n", strings.Repeat("#", min(len(path)+1, 6)), strings.Join(path, " "), k.text)
	for _, g := range k.groups() {
		if g != "" {
			fmt.Fprintf(b, "\n%s:\n", g)
		}
		k.table(b, g, path)
	}
	if len(outer) == 0 {
		defer k.guides(b)
	}
	for _, inner := range k.blocks {
		inner.manual(b, path)
	}
	if len(outer) > 0 {
		k.guides(b)
	}
}

func (k *kind) guides(b *strings.Builder) {
	for _, name := range k.guide {
		b.WriteString("\n" + guide(name) + "\n")
	}
}

// groups are the headings of a kind, in the order of the table.
func (k *kind) groups() []group {
	var list []group
	add := func(g group) {
		if !slices.Contains(list, g) {
			list = append(list, g)
		}
	}
	for i := range k.args {
		add(k.args[i].under)
	}
	for _, b := range k.blocks {
		add(b.under)
	}
	return list
}

func (k *kind) table(b *strings.Builder, g group, path []string) {
	b.WriteString("\n| | is | without it | |\n| :-- | :-- | :-- | :-- |\n")
	for i := range k.args {
		a := &k.args[i]
		if a.under != g {
			continue
		}
		row(b, "`"+a.name+"`", string(a.is), a.without(), a.text+a.others(k))
	}
	for _, inner := range k.blocks {
		if inner.under != g {
			continue
		}
		header := inner.name + " { }"
		if inner.label != "" {
			header = fmt.Sprintf("%s %q { }", inner.name, strings.ToUpper(inner.label))
		}
		what := "block"
		if inner.many {
			what = "blocks"
		}
		first, _, _ := strings.Cut(inner.text, ". ")
		row(b, fmt.Sprintf("[`%s`](#%s)", header, strings.Join(append(slices.Clone(path), inner.name), "-")), what, "", strings.TrimSuffix(first, ".")+".")
	}
}

// row writes a line of a table, in which a bar would end the cell.
func row(b *strings.Builder, cells ...string) {
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

// without says what an argument is where it is not given.
func (a *arg) without() string {
	switch {
	case a.required:
		return "**required**"
	case strings.HasPrefix(a.def, "("):
		return strings.TrimSuffix(strings.TrimPrefix(a.def, "("), ")")
	case a.def != "":
		return "`" + a.def + "`"
	}
	return ""
}

// others says what the value may be, and what cannot stand beside it.
func (a *arg) others(k *kind) string {
	s := ""
	if len(a.one) > 0 && !slices.ContainsFunc(a.one, func(w string) bool { return strings.Contains(a.text, w) }) {
		words := make([]string, len(a.one))
		for i, w := range a.one {
			words[i] = fmt.Sprintf("`%q`", w)
		}
		s += " One of " + strings.Join(words, ", ") + "."
	}
	var not []string
	for _, name := range a.not {
		not = append(not, "`"+name+"`")
	}
	if len(not) > 0 {
		s += " Not with " + strings.Join(not, ", ") + "."
	}
	return s
}

// PolicyManual is the reference of policies in Markdown, made from their grammar and the table of what a plan holds: POLICIES.md.
func PolicyManual() string {
	var b strings.Builder
	b.WriteString("# Policies\n\n<!-- Made by `waybill docs` from config/schema_policy.go and config/policy_plan.go. -->\n\n" + policySchema().text + "\n")
	policySchema().table(&b, "", nil)
	for _, k := range policySchema().blocks {
		k.manual(&b, nil)
	}
	b.WriteString("\n## What a plan holds\n\nBesides `local.NAME` and, in a rule with `for_each`, `each.key` and `each.value`, expressions may refer to\n\n| | is | |\n| :-- | :-- | :-- |\n")
	for _, f := range planFacts() {
		is := f.is
		switch {
		case f.each == nil:
			row(&b, "`plan."+f.name+"`", typeWords(is), f.text)
		case f.one:
			row(&b, "`plan."+f.name+"`", "object", f.text)
		default:
			row(&b, "[`plan."+f.name+"`](#plan"+f.name+")", "list of objects", f.text)
		}
	}
	for _, f := range planFacts() {
		if f.each == nil {
			continue
		}
		fmt.Fprintf(&b, "\n### plan.%s\n\n| | is | |\n| :-- | :-- | :-- |\n", f.name)
		for _, inner := range f.each {
			row(&b, "`"+inner.name+"`", typeWords(inner.is), inner.text)
		}
	}
	b.WriteString("\n## An example\n\n" + guide("policy") + "\n")
	return b.String()
}

// FunctionManual is the reference of the functions in Markdown: FUNCTIONS.md.
func FunctionManual() string {
	var b strings.Builder
	b.WriteString("# Functions\n\n<!-- Made by `waybill docs` from config/manual_functions.go and the functions themselves. -->\n\n" +
		"Under the names they have in Terraform, in every [expression](REFERENCE.md). None depends on the time or on chance: a plan that is made twice is the same.\n")
	table := describedFunctions()
	for _, g := range functionTexts {
		fmt.Fprintf(&b, "\n## %s\n\n| | gives | | example |\n| :-- | :-- | :-- | :-- |\n", g.title)
		for _, f := range g.list {
			d := f.describe(table[f.name])
			example := "`" + f.example + "`"
			if f.result != "" {
				example += " is `" + f.result + "`"
			}
			row(&b, "`"+f.name+"("+d.parameters()+")`", typeWords(d.Return), f.text, example)
		}
	}
	b.WriteString("\n## What is left out\n\n| | why |\n| :-- | :-- |\n")
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		row(&b, "`"+name+"`", refused[name])
	}
	return b.String()
}

func (d *FunctionDescription) parameters() string {
	var names []string
	for _, p := range d.Parameters {
		names = append(names, p.Name)
	}
	if d.Variadic != nil {
		names = append(names, d.Variadic.Name+"...")
	}
	return strings.Join(names, ", ")
}

func typeWords(ty cty.Type) string {
	if ty == cty.DynamicPseudoType {
		return "any"
	}
	return typeexpr.TypeString(ty)
}
