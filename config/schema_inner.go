package config

// The blocks of the grammar that stand in a job; see schema.go.

func execKind() *kind {
	return &kind{name: "exec", under: groupWhat, text: "Runs a program.",
		args: []arg{
			{name: "command", is: formCommand, required: true, text: "The program and its arguments; with `shell = true`, one text for the shell. A program with a slash in its name is in the workflow's directory and its content is part of the work."},
			{name: "shell", is: formBool, def: "false", text: "Whether a shell runs `command`."},
			{name: "env", is: formTextMap, text: "Variables besides PATH, HOME, LANG and TMPDIR; a null leaves one out."},
			{name: "stdin", is: formText, text: "Text for the standard input."},
			{name: "dir", is: formText, def: `"."`, text: "Where it runs, below the worker's directory."},
			{name: "inputs", is: formTexts, text: "Files whose content is part of the work."},
		},
	}
}

func httpKind() *kind {
	return &kind{name: "http", under: groupWhat, text: "Makes a request.",
		args: []arg{
			{name: "url", is: formText, required: true, text: "With scheme and host."},
			{name: "method", is: formText, def: `"GET"`, text: "A word in capitals."},
			{name: "headers", is: formTextMap, text: "A null leaves one out."},
			{name: "body", is: formText, text: "Text of the request."},
			{name: "expect", is: formNumbers, def: "(200 to 299)", text: "The status codes that are a success."},
		},
	}
}

func sleepKind() *kind {
	return &kind{name: "sleep", under: groupWhat, text: "Does nothing, for a while; a worker is busy with it. To start later without keeping one busy: `run_at`.",
		args: []arg{
			{name: "duration", is: formDuration, required: true, text: "How long."},
		},
	}
}

func parentKind() *kind {
	return &kind{name: "parent", many: true, under: groupWhen,
		text: "Starts when that job's *own work* is done; that job is complete only after this one. Several `parent` and `predecessor` blocks combine with *and*.",
		args: []arg{
			{name: "job", is: formJob, not: []string{"uuid"}, text: "The parent."},
			{name: "uuid", is: formText, not: []string{"job"}, text: "A job outside of the files instead."},
			{name: "on_child_failure", is: formText, def: `"fail"`, one: []string{"fail", "ignore"}, text: "`\"fail\"` makes a failure of this job one of the parent, `\"ignore\"` does not."},
		},
	}
}

func predecessorKind() *kind {
	return &kind{name: "predecessor", many: true, under: groupWhen,
		text: "Starts when those jobs are complete, all their children included.",
		args: []arg{
			{name: "job", is: formJob, not: []string{"jobs", "uuid"}, text: "The one it waits for."},
			{name: "jobs", is: formJobs, not: []string{"job", "uuid"}, text: "Those it waits for: `[job.a, job.b]`, `values(job.a)`, or a job with several instances, or a module. Where there are none, as with `count = 0`, there is nothing to wait for."},
			{name: "uuid", is: formText, not: []string{"job", "jobs"}, text: "A job outside of the files instead."},
			{name: "run_if", is: formText, def: `"success"`, one: []string{"success", "failure", "always"}, text: "`\"success\"`: all succeeded; `\"failure\"`: at least one failed; `\"always\"`. Judged once all of the block have ended."},
		},
	}
}

func runAtKind() *kind {
	return &kind{name: "run_at", under: groupWhen,
		text: "When it starts, or again and again: has exactly one of `time`, `after`, `every` and `cron`. With the last two the job is a template, see [Schedules and gates](#schedules-and-gates).",
		args: []arg{
			{name: "time", is: formTime, not: []string{"after", "every", "cron", "timezone", "catchup", "overlap", "enabled"}, text: "Not before a time of RFC 3339. This one belongs to the work."},
			{name: "after", is: formDuration, not: []string{"time", "every", "cron", "timezone", "catchup", "overlap", "enabled"}, text: "So long after everything it waits for is satisfied. This one belongs to the work."},
			{name: "every", is: formText, not: []string{"time", "after", "cron", "timezone"}, text: "`\"minute\"`, `\"hour\"`, `\"day\"`, `\"week\"`, `\"month\"`, or a number of them: `\"15 minutes\"`. Counted in UTC from 1970 on (weeks from a Monday), so that ticks are evenly spaced."},
			{name: "cron", is: formText, not: []string{"time", "after", "every"}, text: "The five fields of a crontab, minute, hour, day of month, month, day of week (`\"30 6 * * mon-fri\"`), or `@hourly @daily @weekly @monthly @yearly`."},
			{name: "timezone", is: formText, def: `"UTC"`, not: []string{"time", "after", "every"}, text: "With `cron`: an IANA name such as `\"Europe/Berlin\"`. A time that the clock skips in spring fires at the end of the gap, one that it shows twice in autumn fires once."},
			{name: "catchup", is: formText, def: `"last"`, one: catchups, not: []string{"time", "after"}, text: "What becomes of ticks that passed while no worker was there: `\"last\"` makes up for the latest, `\"all\"` for the latest hundred, oldest first, `\"none\"` for none but one that is less than a minute late."},
			{name: "overlap", is: formText, def: `"allow"`, one: overlaps, not: []string{"time", "after"}, text: "What becomes of a tick while an earlier cycle is not over: `\"allow\"` starts it all the same, `\"skip\"` drops it, `\"replace\"` cancels the earlier cycle."},
			{name: "enabled", is: formBool, def: "true", not: []string{"time", "after"}, text: "Whether ticks start anything."},
		},
	}
}

func gateKind() *kind {
	return &kind{name: "gate", under: groupWhen,
		text: "Runs the job, and everything downstream of it, whenever jobs have succeeded that trigger its labels. See [Schedules and gates](#schedules-and-gates).",
		args: []arg{
			{name: "waiting", is: formTexts, required: true, text: "Up to 64 labels. The gate opens when for each of them a job with that label in its `triggers_gate` has succeeded, in whichever order, and then waits for all of them anew. A failure leaves it as it is."},
		},
	}
}

func deliveryKind() *kind {
	return &kind{name: "delivery", under: groupHow, text: "Which worker gets the job.",
		args: []arg{
			{name: "to", is: formText, def: `"any"`, one: []string{"any", "all"}, not: []string{"worker"}, text: "`\"any\"`: one of the workers that serve the queue. `\"all\"`: each one that is alive when the job is submitted; the job itself is done at once and can wait for nothing."},
			{name: "worker", is: formText, not: []string{"to"}, text: "The id of the one worker that gets it."},
			{name: "retention", is: formDuration, def: "(`\"168h\"` with `to = \"all\"` and `worker`)", text: "The same as the job's `retention`: what is not delivered by then expires."},
		},
	}
}

func obsoleteKind() *kind {
	return &kind{name: "obsolete_if", under: groupHow, text: "Drops the job instead of starting it while other work makes it pointless: it is *obsolete*, which counts as a success downstream. A job that runs already is left alone.",
		args: []arg{
			{name: "labels", is: formTextMap, required: true, text: "It is dropped while another job that has not ended carries all of these in its `meta`."},
		},
	}
}

func retryKind() *kind {
	return &kind{name: "retry", under: groupWrong, text: "How often it is tried, and when again.",
		args: []arg{
			{name: "max_attempts", is: formNumber, def: "3", text: "How many attempts may end in an error, a timeout or a panic; 0 is no limit."},
			{name: "max_lost", is: formNumber, def: "5", text: "How many attempts may be lost with their worker; these cost none of the others."},
			{name: "backoff", is: formText, def: `"exponential"`, one: []string{"exponential", "linear", "constant"}, text: "How the delay grows from attempt to attempt."},
			{name: "min", is: formDuration, def: `"1s"`, text: "The first delay."},
			{name: "max", is: formDuration, def: `"1h"`, text: "The longest delay."},
			{name: "jitter", is: formNumber, def: "0.2", text: "0 to 1: the part of the delay that is drawn."},
			{name: "on_exhausted", is: formText, def: `"fail"`, one: []string{"fail", "hold"}, text: "What becomes of the job after its last attempt: `\"fail\"`, or `\"hold\"`, to wait for a hand."},
		},
	}
}

func preconditionKind() *kind {
	return &kind{name: "precondition", many: true, under: groupWrong,
		text: "What has to hold before it may be planned. Each instance is checked for itself, by `validate`, `plan` and `apply`.",
		args: []arg{
			{name: "condition", is: formBool, required: true, text: "Where it is false there is no plan. May be made from sensitive values."},
			{name: "error_message", is: formText, required: true, text: "What is said then, beside the values in the condition. One that is made from a sensitive value is not shown."},
		},
	}
}

func dynamicKind() *kind {
	return &kind{name: "dynamic", label: "block type", many: true, under: groupNumber, guide: []string{"dynamic"},
		text: "Makes a block of the kind in its label for each element of a collection. Every block of a job but `lifecycle` can be made so.",
		args: []arg{
			{name: "for_each", is: formAny, required: true, text: "A list, a set, a map or an object, of up to 10,000 elements. May depend on `each` and `count.index`."},
			{name: "iterator", is: formName, def: "(the label)", text: "What the element is called inside of `content`."},
		},
		blocks: []*kind{{name: "content", text: "What stands in each of the blocks, with the element as `KIND.key` and `KIND.value`. The key is the index in a list, the element itself in a set."}},
	}
}

func lifecycleKind() *kind {
	return &kind{name: "lifecycle", under: groupWrong, text: "What a change may do.",
		args: []arg{
			{name: "on_change", is: formText, def: `"finish"`, one: []string{"finish", "cancel", "ignore"}, text: "What becomes of a running job whose work changes: `\"finish\"` starts the new one after it, `\"cancel\"` stops it first, `\"ignore\"` leaves it alone until it has ended."},
			{name: "prevent_destroy", is: formBool, def: "false", text: "A plan that would end the job, cancel it or forget it is an error; running it again once it has ended is not. Written out: `true` or `false`. As long as the block is there it protects instances that are gone too; a block that is taken out of the files protects nothing."},
			{name: "ignore_changes", is: formName, text: "A list of arguments and blocks of the job, such as `[exec.env, priority]`, or `all`: a difference in these alone is no reason to run again or to update. What is submitted for another reason takes them along."},
			{name: "replace_triggered_by", is: formJobs, text: "A list of jobs, such as `[job.schema, job.extract[each.key]]`: when one of them gets another submission, this job runs again too. It does not wait for them."},
		},
	}
}
