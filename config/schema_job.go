package config

// The job block of the grammar, see schema.go; what stands inside of it is in schema_inner.go.

func jobKind() *kind {
	return &kind{name: "job", label: "name", many: true, guide: []string{"results", "secrets", "schedules", "sync", "kept"},
		text: "A piece of work, or one for each element of a collection. Where nothing else is said a value may depend on variables, locals and `each`, and `null` is " +
			"the same as leaving the argument out.\n\n" +
			"**Work** is what a job runs: changing it runs the job again, and everything downstream. **Handling** is how it runs: changing it changes a job that " +
			"waits or runs in place (`~`) and never runs finished work again. What stands under *What it runs* is work, and so is a fixed time in `run_at`; the rest is handling.",
		args: []arg{
			{name: "type", is: formText, under: groupWhat, not: []string{"exec", "http", "sleep"}, text: "`\"noop\"` does nothing; any other name is a worker's of your own, with `payload` or `payload_base64`."},
			{name: "payload", is: formObject, under: groupWhat, not: []string{"payload_base64", "exec", "http", "sleep"}, text: "What a job with a `type` is about; its worker gets it as JSON."},
			{name: "payload_base64", is: formText, under: groupWhat, not: []string{"payload", "exec", "http", "sleep"}, text: "The same as bytes, in base64."},
			{name: "triggers", is: formObject, under: groupWhat, text: "Values whose change runs the job again."},

			{name: "queue", is: formText, def: "(the workflow's name, and `.WORKSPACE` in a workspace other than default; with `type`, the type's)", under: groupHow, text: "Where it lines up; letters, digits, `. _ -`, up to 128."},
			{name: "priority", is: formChoice, def: `"normal"`, under: groupHow, text: "`\"low\"`, `\"normal\"`, `\"high\"`, or 0 to 2: higher ones of a queue start first."},
			{name: "timeout", is: formDuration, def: "(none)", under: groupHow, text: "Hard limit of one attempt."},
			{name: "reserve_for", is: formDuration, def: "(the reserver's)", under: groupHow, text: "How long a reservation holds that is made without a worker (`MessageQueue` of the Go SDK); a worker's job is held by its beat."},
			{name: "unique", is: formText, under: groupHow, text: "A key of up to 256 bytes. Of all live jobs of a type in the namespace one has it: from its submission to its end, also while it waits, is tried again, or is on hold. " +
				"A further one fails at once and names the holder; what replaces a job takes its key over."},
			{name: "meta", is: formTextMap, under: groupHow, text: "Labels to find jobs by. Up to 64; names up to 128 bytes, values up to 1 KiB; neither may be `*`. Reserved: `object worker cycles expiry cancel tick-1 tick+1 method`."},
			{name: "retention", is: formDuration, def: "(no limit)", under: groupHow, text: "How long the job may wait for its first start, from its submission on. Later it *expires* (workers look every two seconds), which counts as a failure downstream."},
			{name: "remove_after", is: formDuration, def: "(as its queue says)", under: groupHow, text: "How long payload and logs are kept after the job's end."},
			{name: "sync", is: formTextMap, under: groupHow, text: "State that goes from one execution to the next; these are its first values. Up to 64; names up to 128 bytes, values up to 1 KiB, 16 KiB together. See [State](#state-from-one-execution-to-the-next)."},
			{name: "max_cycles", is: formNumber, def: "0", under: groupHow, text: "After so many executions, failed and repeated ones included, the job is on hold instead of running again; of a job with schedule or gate, after so many cycles. 0 is no limit."},
			{name: "triggers_gate", is: formTexts, under: groupWhen, text: "Labels of gates that this job flips when it succeeds. Up to 64."},

			{name: "count", is: formNumber, not: []string{"for_each"}, under: groupNumber, text: "So many instances `job.NAME[0]`, `job.NAME[1]` and on; `count.index` inside."},
			{name: "for_each", is: formInstances, not: []string{"count"}, under: groupNumber, text: "One instance `job.NAME[\"KEY\"]` for each element of a map, an object or a set of strings; `each.key` and `each.value` inside."},
		},
		blocks: []*kind{
			execKind(), httpKind(), sleepKind(),
			parentKind(), predecessorKind(), runAtKind(), gateKind(),
			deliveryKind(), obsoleteKind(), retryKind(), lifecycleKind(),
			preconditionKind(), dynamicKind(),
		},
	}
}
