package conveyor_test

// corruption is one way to damage a namespace that everyPlace has filled, and how Verify has to name it.
type corruption struct {
	name, invariant, uuid string
	changed               string // jobs that cannot be as before after the repair
	corrupt               func(e *engine) error
}

var corruptions = []corruption{
	{"a queued job's ticket is gone", "I1", "queued", "queued heir both", func(e *engine) error {
		return e.rdb.RPopCount(e.Context(), e.key("queue:q"), 1).Err()
	}},
	{"a ticket stands twice", "I1", "queued2", "", func(e *engine) error {
		return e.rdb.RPush(e.Context(), e.key("queue:q"), e.rdb.LIndex(e.Context(), e.key("queue:q"), 0).Val()).Err()
	}},
	{"a scheduled job's ticket is gone", "I1", "scheduled", "scheduled child closing", func(e *engine) error {
		return e.rdb.Del(e.Context(), e.key("scheduled")).Err()
	}},
	{"a held job's ticket is gone", "I1", "heir", "heir", func(e *engine) error {
		return e.rdb.Del(e.Context(), e.key("jobs:queued:onComplete")).Err()
	}},
	{"a running job's bytes are gone", "I1", "running", "running", func(e *engine) error {
		return e.rdb.Del(e.Context(), e.key("jobs:running")).Err()
	}},
	{"the status is unreadable", "I1", "queued", "queued heir both", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "queued", "q|x").Err()
	}},
	{"a depth is wrong", "I1", "", "", func(e *engine) error { return e.rdb.HIncrBy(e.Context(), e.key("depth"), "q:1", 1).Err() }},
	{"slots are wrong", "I1", "", "", func(e *engine) error { return e.rdb.HSet(e.Context(), e.key("slots"), "nobody", 1).Err() }},
	{"a key has a wrong type", "I1", "", "", func(e *engine) error { return e.rdb.LPush(e.Context(), e.key("todo"), "x").Err() }},
	{"a set names an unknown child", "I2", "never", "", func(e *engine) error {
		return e.rdb.SAdd(e.Context(), e.key("jobs:closing:active"), "never").Err()
	}},
	{"a set names a job that is no child", "I2", "queued", "", func(e *engine) error {
		return e.rdb.SAdd(e.Context(), e.key("jobs:closing:active"), "queued").Err()
	}},
	{"a set lost a child", "I2", "child", "", func(e *engine) error {
		return e.rdb.SRem(e.Context(), e.key("jobs:closing:active"), "child").Err()
	}},
	{"to do names a job that has nothing to do", "I2", "queued", "", func(e *engine) error {
		return e.rdb.ZAdd(e.Context(), e.key("todo"), redisZ(1, "queued")).Err()
	}},
	{"a running job has no owner", "I3", "running", "", func(e *engine) error {
		return e.rdb.Del(e.Context(), e.key("worker:w:jobs")).Err()
	}},
	{"a running job without worker has no lease", "I3", "leased", "", func(e *engine) error {
		return e.rdb.Del(e.Context(), e.key("leases")).Err()
	}},
	{"a worker's list names a job it does not run", "I3", "queued", "", func(e *engine) error {
		return e.rdb.ZAdd(e.Context(), e.key("worker:w:jobs"), redisZ(1, "queued")).Err()
	}},
	{"a job waits for one that is over", "I11", "heir", "heir queued both", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "queued", "C1|q|1|t1").Err()
	}},
	{"a held job has nothing to wait for", "I11", "heir", "heir", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "heir", "h1|q|").Err()
	}},
	{"a closing job has no unfinished child", "I11", "closing", "", func(e *engine) error {
		return e.rdb.Del(e.Context(), e.key("jobs:closing:active")).Err()
	}},
	{"an ending job is not listed", "I11", "closing", "closing", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "closing", "c1ab|q|1|f1|xC|s1").Err()
	}},
	{"bytes of nobody", "I13", "never", "", func(e *engine) error { return e.rdb.Set(e.Context(), e.key("jobs:never"), "x", 0).Err() }},
	{"bytes of a job that is over", "I13", "done", "", func(e *engine) error {
		return e.rdb.Set(e.Context(), e.key("jobs:done"), "x", 0).Err()
	}},
	{"an ended job is not in retention", "I13", "done", "", func(e *engine) error {
		return e.rdb.Del(e.Context(), e.key("ended:q")).Err()
	}},
	{"a log of nobody", "I13", "never", "", func(e *engine) error {
		return e.rdb.XAdd(e.Context(), xadd(e.key("jobs:never:log"))).Err()
	}},
	{"a list for nobody, of nobody", "I13", "never", "", func(e *engine) error {
		return e.rdb.LPush(e.Context(), e.key("jobs:never:children"), "\n\x05ghost").Err()
	}},
	{"a worker that is gone owns a job", "I14", "", "", func(e *engine) error { return e.rdb.ZRem(e.Context(), e.key("workers"), "w").Err() }},
}
