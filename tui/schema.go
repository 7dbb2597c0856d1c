package tui

import _ "embed" // the schemas

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
