package conveyor_test

// behavioursC are those of part C that concern schedules and templates, and what is no definition of a job.
var behavioursC = []behaviour{
	{"C1k", "What is no interval, cron line or time zone is refused with the job's uuid, the mistake, and what to write.",
		"definition.go", "schedule.Parse(s.Every, s.Cron, s.Timezone)", "schedule.Parse(s.Every, s.Cron, \"\")", "", ""},
	{"C10a", "A schedule together with a time or a gate is refused.",
		"definition.go", "job.RunAt != nil || job.After.AsDuration() > 0", "job.RunAt != nil", "", ""},
	{"C10b", "A schedule or a waiting gate with a root is refused.",
		"definition.go", "if isRoot(job) {", "if job.Schedule != nil {", "", ""},
	{"C10c", "Waiting and trigger mixed are refused, whatever the labels.",
		"definition.go", "len(job.Gate) > 0 && len(job.TriggersGate) > 0", "len(job.Gate) > 0 && slices.Equal(job.Gate, job.TriggersGate)", "", ""},
	{"C10d", "Delivery to one worker without its name, and to any or all with a name, are refused.",
		"definition.go", "case d.To == wire.Delivery_WORKER && d.Worker == \"\":", "case false:", "", ""},
	{"C10e", "Empty and reserved labels are refused wherever labels stand, and one that stands twice.",
		"definition.go", "within(\"triggers_gate\", checkGateLabels(job.TriggersGate))", "nil", "", ""},
	{"C10f", "A job for all workers that waits for something or triggers a gate is refused.",
		"definition.go", "{\"run_at\", job.RunAt != nil}", "{\"run_at\", false}", "", ""},
	{"C10g", "State to carry from one execution to the next is bounded.",
		"sync.go", "len(value) > MaxSyncValue", "len(value) > 2*MaxSyncValue", "", ""},
	{"C10h", "No job can be added that says it was emitted by a template.",
		"add.go", "job.TemplateUuid != \"\" || job.Tick != \"\"", "job.TemplateUuid != \"\"", "", ""},
	{"C10i", "Templates without a root or below two of them are refused, and other jobs below one, or below a job for all workers.",
		"family.go", "case isRoot(job) && templates > 0:", "case job.Schedule != nil && templates > 0:", "", ""},
}
