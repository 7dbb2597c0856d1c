package config

// The blocks of the grammar that stand at the top level, but for job; see schema.go.

func workflowKind() *kind {
	return &kind{name: "workflow", label: "name", many: true,
		text: "Names the workflow and says where it lives. There is one at most. On Redis the name is required, alone the name of the directory serves. " +
			"It may refer to variables and locals, not to jobs.",
		args: []arg{
			{name: "required_version", is: formText, text: "The versions of Waybill that may read these files, such as `\">= 0.1\"`."},
			{name: "namespace", is: formText, def: `"waybill"`, text: "Prefix of all keys in Redis. Workflows of one namespace see each other's queues, labels and gates."},
			{name: "moved_from", is: formText, text: "The name that the workflow had until now, in the same store and namespace. The next apply carries its state over: jobs go on, nothing runs again, and the old name is free. Once applied it has nothing left to do and may stay."},
		},
		blocks: []*kind{
			{name: "redis", text: "Where jobs and state live. `-redis` and the variable `WAYBILL_REDIS` are stronger; without any of them it is the embedded store.",
				args: []arg{
					{name: "url", is: formText, required: true, text: "Begins with `redis://`, `rediss://` or `unix://`."},
				}},
			{name: "proto", text: "The messages of protobuf that jobs are about. A job whose `type` is the full name of one has its `payload` checked against it, and sent as its bytes.", guide: []string{"payloads"},
				args: []arg{
					{name: "files", is: formTexts, not: []string{"descriptor_set"}, text: "The `.proto` files, as paths from the workflow's directory; `fileset(\".\", \"protos/*.proto\")` lists those of a directory. What they import needs no mention."},
					{name: "import_paths", is: formTexts, not: []string{"descriptor_set"}, text: "The directories that imports start from, likewise. The workflow's directory is always the last of them. The files of protobuf itself, `google/protobuf/*.proto`, are built in."},
					{name: "descriptor_set", is: formText, not: []string{"files", "import_paths"}, text: "In place of them, a compiled set of descriptors with all that it imports, as `protoc --include_imports --descriptor_set_out=FILE` or `buf build -o FILE.binpb` writes it."},
				}},
		},
	}
}

func variableKind() *kind {
	return &kind{name: "variable", label: "name", many: true, guide: []string{"variables"},
		text: "A value that is given from outside, as `var.NAME`.",
		args: []arg{
			{name: "type", is: formType, def: "(any)", text: "What the value is converted to: `string`, `number`, `bool`, `list(string)`, `map(number)`, `object({ name = string, age = optional(number, 7) })`, and so on."},
			{name: "default", is: formAny, def: "(none: a value has to be given)", text: "The value when no source gives one. It cannot refer to anything."},
			{name: "description", is: formText, text: "For people."},
			{name: "sensitive", is: formBool, def: "false", text: "Whether plans, logs, views and state show `(sensitive value)` instead, also for what is made from it."},
			{name: "nullable", is: formBool, def: "true", text: "Whether `null` may be given."},
		},
		blocks: []*kind{
			{name: "validation", many: true, text: "A rule that the value has to keep.",
				args: []arg{
					{name: "condition", is: formBool, required: true, text: "Refers to the variable itself."},
					{name: "error_message", is: formText, required: true, text: "What is said where it is false."},
				}},
		},
	}
}

func localsKind() *kind {
	return &kind{name: "locals", many: true, any: true,
		text: "Values with names: each argument `NAME = VALUE` is `local.NAME` elsewhere. They may refer to each other, in any order and file."}
}

func queueKind() *kind {
	return &kind{name: "queue", label: "name", many: true,
		text: "A queue needs no block; one gives it settings. They belong to the queue, not to the workflow: where two workflows of a namespace " +
			"declare one queue differently, the last apply wins, and plan warns.",
		args: []arg{
			{name: "concurrency", is: formNumber, def: "(no limit)", text: "How many of its jobs run at once, over all workers."},
			{name: "weight", is: formNumber, def: "1", text: "1 to 1000: how many turns it gets among the queues of a worker."},
			{name: "paused", is: formBool, def: "false", text: "It gives out no jobs; those that run go on. `waybill queue pause` is a pause by hand: no apply ends that one, and it is no difference in a plan."},
			{name: "fair", is: formBool, def: "false", text: "Each worker gets its part of what waits and runs, instead of as much as it has slots for: of 10 jobs three idle workers get 4, 3 and 3."},
			{name: "retention", is: formDuration, def: `"168h"`, text: "How long ended jobs are kept that no workflow declares."},
			{name: "retention_count", is: formNumber, def: "100000", text: "How many of them at most, the latest."},
		},
	}
}

func outputKind() *kind {
	return &kind{name: "output", label: "name", many: true,
		text: "A value that apply shows at its end and keeps in the state, for `waybill output`.",
		args: []arg{
			{name: "value", is: formAny, required: true, text: "May refer to jobs: `job.NAME.uuid` and `job.NAME.address`."},
			{name: "description", is: formText, text: "For people."},
			{name: "sensitive", is: formBool, def: "false", text: "Required when the value is made from a sensitive one. The state holds no more than a hash of it."},
		},
		blocks: []*kind{
			preconditionKind(),
		},
	}
}

func checkKind() *kind {
	return &kind{name: "check", label: "name", many: true, guide: []string{"check"},
		text: "Facts that should hold, and are no reason to stop where they do not: `validate`, `plan` and `apply` warn, and go on.",
		blocks: []*kind{
			{name: "assert", many: true, text: "One of the facts.",
				args: []arg{
					{name: "condition", is: formBool, required: true, text: "May refer to everything that an output may."},
					{name: "error_message", is: formText, required: true, text: "What the warning says where it is false. One that is made from a sensitive value is not shown."},
				}},
		},
	}
}

func movedKind() *kind {
	return &kind{name: "moved", many: true, guide: []string{"moved"},
		text: "Says that a job, or a module with all its jobs, has another name now, so that it is not taken for one that is gone and one that is new.",
		args: []arg{
			{name: "from", is: formAddress, required: true, text: "The old address, which is declared no more: `job.NAME`, `module.NAME`, or one instance such as `job.NAME[\"KEY\"]` or `module.NAME[0]`."},
			{name: "to", is: formAddress, required: true, text: "The new address, which is declared. Where neither has a key, all instances of the block keep theirs."},
		},
	}
}

func removedKind() *kind {
	return &kind{name: "removed", many: true,
		text: "Says what becomes of a job, or of all jobs of a module, that is declared no more. Once applied it has nothing left to do and may stay, for others whose state is older, or go.",
		args: []arg{
			{name: "from", is: formAddress, required: true, text: "What is declared no more: `job.NAME`, `module.NAME`, or one instance such as `job.NAME[\"KEY\"]`."},
		},
		blocks: []*kind{
			{name: "lifecycle", text: "How it goes.",
				args: []arg{
					{name: "destroy", is: formBool, def: "true", text: "`false` forgets the record and leaves the job alone: what waits or runs goes on. `true` cancels it, as without the block."},
				}},
		},
	}
}

func importKind() *kind {
	return &kind{name: "import", many: true,
		text: "Takes a job that the store holds already, whoever made it, for one that is declared: it gets a record, and is not submitted again. Once applied the block has nothing left to do and may go. Not in modules.",
		args: []arg{
			{name: "to", is: formAddress, required: true, text: "One declared job: `job.NAME`, `job.NAME[\"KEY\"]`, or one of a module. Where it has a record already, nothing is imported."},
			{name: "id", is: formText, required: true, text: "The job's uuid, of which there is no record anywhere: no template, no occurrence of one, and none that went to all workers. A job that waits is updated to what is declared, and one that runs too, or is replaced where its work differs. What has completed is taken to have done what is declared."},
		},
	}
}

func moduleKind() *kind {
	return &kind{name: "module", label: "name", many: true, any: true, guide: []string{"modules"},
		text: "Puts what the files of another directory declare into this workflow, as `module.NAME`. Every further argument is the value of one of its variables.",
		args: []arg{
			{name: "source", is: formText, required: true, text: "The directory, relative to that of this file. Written out, and begins with `./` or `../`."},
			{name: "count", is: formNumber, not: []string{"for_each"}, text: "How many modules the block makes, `module.NAME[0]` and so on; `count.index` tells them apart."},
			{name: "for_each", is: formInstances, not: []string{"count"}, text: "One module for each element, `module.NAME[\"KEY\"]`; `each.key` and `each.value` tell them apart."},
		},
	}
}
