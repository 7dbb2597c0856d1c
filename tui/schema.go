package tui

import (
	_ "embed" // the schemas
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Schema describes each line that JSON writes, as a JSON Schema of draft 2020-12.
//
//go:embed ui.schema.json
var Schema string

// ExplainSchema describes each line that explain writes as JSON.
//
//go:embed explain.schema.json
var ExplainSchema string

// LogSchema describes each line of a log that is written as JSON.
//
//go:embed logs.schema.json
var LogSchema string

// BridgeSchema describes each line that bridge conveyor writes as JSON.
//
//go:embed bridge.schema.json
var BridgeSchema string

// JobSchema describes what the job commands write as JSON.
//
//go:embed job.schema.json
var JobSchema string

// StateSchema describes what state pull writes.
//
//go:embed state.schema.json
var StateSchema string

// HistorySchema describes what history writes as JSON.
//
//go:embed history.schema.json
var HistorySchema string

//go:embed plan.schema.json
var planSchema string

// PlanSchema describes a plan as one JSON object. Its parts are those of the lines, so it takes what Schema says of them.
var PlanSchema = sync.OnceValue(func() string { return withDefinitions(planSchema, Schema) })

var definitionRef = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"#/\$defs/([a-z_]+)`) })

// withDefinitions adds the definitions to a schema that it refers to, itself or through others, from another schema.
func withDefinitions(schema, other string) string {
	var source struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(other), &source); err != nil {
		panic("a schema of this program is no JSON, which is a bug in Waybill: " + err.Error())
	}
	var names []string
	for queue := []string{schema}; len(queue) > 0; queue = queue[1:] {
		for _, m := range definitionRef().FindAllStringSubmatch(queue[0], -1) {
			if !slices.Contains(names, m[1]) {
				names, queue = append(names, m[1]), append(queue, string(source.Defs[m[1]]))
			}
		}
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(schema, "\n}\n"))
	b.WriteString(",\n  \"$defs\": {")
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    \"" + name + "\": ")
		b.Write(source.Defs[name])
	}
	b.WriteString("\n  }\n}\n")
	return b.String()
}
