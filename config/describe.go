package config

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Description is the language as data, for editors and other programs: every block, argument and function that this version
// knows. Members have the names that Terraform's descriptions of providers and functions give them; form, default, values,
// conflicts_with and label are ours.
type Description struct {
	Block     BlockDescription               `json:"block"` // the top level of a file
	Functions map[string]FunctionDescription `json:"function_signatures"`
	Policy    BlockDescription               `json:"policy"`    // the top level of a policy
	Plan      map[string]PlanDescription     `json:"plan_data"` // the members of plan, in policies
}

// PlanDescription is something that the rules of policies may refer to. A list has Elements, an object Members.
type PlanDescription struct {
	Type        cty.Type                   `json:"type"`
	Description string                     `json:"description"`
	Members     map[string]PlanDescription `json:"members,omitempty"`
	Elements    map[string]PlanDescription `json:"elements,omitempty"`
}

func describeFacts(facts []fact) map[string]PlanDescription {
	all := make(map[string]PlanDescription, len(facts))
	for _, f := range facts {
		d := PlanDescription{Type: f.is, Description: f.text}
		switch {
		case f.each == nil:
		case f.one:
			d.Type, d.Members = cty.DynamicPseudoType, describeFacts(f.each)
		default:
			d.Type, d.Elements = cty.List(cty.DynamicPseudoType), describeFacts(f.each)
		}
		all[f.name] = d
	}
	return all
}

// BlockDescription is what may stand in a block.
type BlockDescription struct {
	Description     string                          `json:"description,omitempty"`
	DescriptionKind string                          `json:"description_kind"`        // "markdown"
	AnyAttribute    bool                            `json:"any_attribute,omitempty"` // arguments of any name
	Attributes      map[string]AttributeDescription `json:"attributes,omitempty"`
	BlockTypes      map[string]BlockTypeDescription `json:"block_types,omitempty"`
}

// BlockTypeDescription is a block inside another. NestingMode is "map" for one with a label, "list" for one that may repeat,
// "single" for one that stands at most once.
type BlockTypeDescription struct {
	NestingMode string           `json:"nesting_mode"`
	Label       string           `json:"label,omitempty"` // what the label means
	Block       BlockDescription `json:"block"`
}

// AttributeDescription is one argument. Either Required or Optional is set.
type AttributeDescription struct {
	Type            cty.Type `json:"type"`
	Form            string   `json:"form"` // the type in words that say more: "duration", "job"
	Description     string   `json:"description"`
	DescriptionKind string   `json:"description_kind"` // "markdown"
	Required        bool     `json:"required,omitempty"`
	Optional        bool     `json:"optional,omitempty"`
	Default         string   `json:"default,omitempty"` // as HCL, or words in parentheses
	Values          []string `json:"values,omitempty"`  // all that are possible, where that is a list
	Conflicts       []string `json:"conflicts_with,omitempty"`
}

// FunctionDescription is how a function is called.
type FunctionDescription struct {
	Description string                 `json:"description"`
	Return      cty.Type               `json:"return_type"`
	Parameters  []ParameterDescription `json:"parameters,omitempty"`
	Variadic    *ParameterDescription  `json:"variadic_parameter,omitempty"`
	Example     string                 `json:"example"`
	Result      string                 `json:"result"` // of the example
}

// ParameterDescription is one parameter of a function.
type ParameterDescription struct {
	Name string   `json:"name"`
	Type cty.Type `json:"type"`
}

// Describe gives the description of this version's language.
func Describe() *Description {
	d := &Description{Block: schema().describe(), Functions: map[string]FunctionDescription{}, Policy: policySchema().describe(), Plan: describeFacts(planFacts())}
	table := describedFunctions()
	for _, g := range functionTexts {
		for _, f := range g.list {
			d.Functions[f.name] = f.describe(table[f.name])
		}
	}
	return d
}

// describedFunctions are all functions, those of files for no directory.
func describedFunctions() map[string]function.Function {
	table := (&loader{disk: newDisk(".", newLibrary(nil))}).functionTable()
	maps.Copy(table, declaredFunctions())
	return table
}

// formTypes are the forms as types.
var formTypes = map[form]cty.Type{
	formAny: cty.DynamicPseudoType, formText: cty.String, formNumber: cty.Number, formBool: cty.Bool, formDuration: cty.String, formTime: cty.String,
	formTexts: cty.List(cty.String), formNumbers: cty.List(cty.Number), formTextMap: cty.Map(cty.String), formObject: cty.DynamicPseudoType,
	formJob: cty.DynamicPseudoType, formJobs: cty.DynamicPseudoType, formAddress: cty.DynamicPseudoType, formType: cty.DynamicPseudoType, formName: cty.DynamicPseudoType,
	formInstances: cty.DynamicPseudoType, formChoice: cty.DynamicPseudoType, formCommand: cty.DynamicPseudoType,
}

const markdown = "markdown"

func (k *kind) describe() BlockDescription {
	d := BlockDescription{Description: k.text, DescriptionKind: markdown, AnyAttribute: k.any}
	for i := range k.args {
		a := &k.args[i]
		if d.Attributes == nil {
			d.Attributes = map[string]AttributeDescription{}
		}
		d.Attributes[a.name] = AttributeDescription{
			Type: formTypes[a.is], Form: string(a.is), Description: a.text, DescriptionKind: markdown,
			Required: a.required, Optional: !a.required, Default: a.def, Values: a.one, Conflicts: a.not,
		}
	}
	for _, b := range k.blocks {
		if d.BlockTypes == nil {
			d.BlockTypes = map[string]BlockTypeDescription{}
		}
		d.BlockTypes[b.name] = BlockTypeDescription{NestingMode: b.nesting(), Label: b.label, Block: b.describe()}
	}
	return d
}

func (k *kind) nesting() string {
	switch {
	case k.label != "":
		return "map"
	case k.many:
		return "list"
	}
	return "single"
}

func (f *functionText) describe(fn function.Function) FunctionDescription {
	d := FunctionDescription{Description: f.text, Return: cty.DynamicPseudoType, Example: f.example, Result: f.result}
	var types []cty.Type
	for _, p := range fn.Params() {
		d.Parameters = append(d.Parameters, describeParameter(p))
		types = append(types, p.Type)
	}
	if v := fn.VarParam(); v != nil {
		p := describeParameter(*v)
		d.Variadic = &p
		types = append(types, v.Type)
	}
	if ty, err := fn.ReturnType(types); err == nil {
		d.Return = ty
	}
	return d
}

// describeParameter leaves out what types mean only inside of cty.
func describeParameter(p function.Parameter) ParameterDescription {
	ty := p.Type
	if ty.IsCapsuleType() {
		ty = cty.DynamicPseudoType
	}
	return ParameterDescription{Name: p.Name, Type: ty}
}

// functionNames are the names of all functions that can be called, sorted.
func functionNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(describedFunctions())), func(name string) bool { return refused[name] != "" })
}
