package conveyor_test

import "strings"

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
	{"a scheduled job's ticket is gone", "I1", "scheduled", "scheduled child closing limited", func(e *engine) error {
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

	{"a queued job's slim ticket is gone", "I1", "back", "", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("queue:q:2")).Err() }},
	{"a queued job's bytes are gone", "I1", "back", "back", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("jobs:back")).Err() }},
	{"a held job's bytes are gone", "I1", "both", "both", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("jobs:both")).Err() }},
	{"a job on hold has no bytes", "I1", "onhold", "onhold", func(e *engine) error {
		return e.rdb.Del(e.Context(), e.key("jobs:onhold")).Err()
	}},
	{"a closing job's bytes are gone", "I1", "closing", "", func(e *engine) error {
		return e.rdb.Del(e.Context(), e.key("jobs:closing")).Err()
	}},
	{"a ticket is scheduled for another time", "I1", "scheduled", "", func(e *engine) error {
		return e.rdb.ZAdd(e.Context(), e.key("scheduled"), redisZ(float64(e.now+1)/1000, e.ticket("scheduled", "scheduled"))).Err()
	}},
	{"a held job's slim ticket is gone", "I1", "both", "", func(e *engine) error {
		return e.rdb.Del(e.Context(), e.key("jobs:queued2:onComplete")).Err()
	}},
	{"a name is no uuid", "I1", "a:{b}", "", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "a:{b}", "q1|q|5").Err()
	}},
	{"a depth is no number", "I1", "", "", func(e *engine) error { return e.rdb.HSet(e.Context(), e.key("depth"), "q:1", "many").Err() }},
	{"a depth is of no queue", "I1", "", "", func(e *engine) error { return e.rdb.HSet(e.Context(), e.key("depth"), "{a}:b", 1).Err() }},
	{"queue settings are unreadable", "I1", "", "", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("queues"), "q", "much").Err()
	}},
	{"junk in a queue", "I2", "", "", func(e *engine) error { return e.rdb.RPush(e.Context(), e.key("queue:q"), "\xff\x00 junk").Err() }},
	{"a ticket of a name that is no uuid", "I2", "", "", func(e *engine) error {
		return e.rdb.LPush(e.Context(), e.key("queue:q"), "\n\x05{a}:b\x12\x04noop").Err()
	}},
	{"junk in scheduled", "I2", "", "", func(e *engine) error { return e.rdb.ZAdd(e.Context(), e.key("scheduled"), redisZ(1, "junk")).Err() }},
	{"junk among dependents", "I2", "", "", func(e *engine) error {
		return e.rdb.LPush(e.Context(), e.key("jobs:queued:onComplete"), "junk").Err()
	}},
	{"a lease of a job that a worker owns", "I3", "running", "", func(e *engine) error {
		return e.rdb.ZAdd(e.Context(), e.key("leases"), redisZ(1, "running")).Err()
	}},
	{"two workers own a job", "I3", "running", "", func(e *engine) error {
		e.beat("v")
		return e.rdb.ZAdd(e.Context(), e.key("worker:v:jobs"), redisZ(1, "running")).Err()
	}},
	{"a job runs without a fence", "I3", "running", "running", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "running", "r1b|q|3|ww").Err()
	}},
	{"a waiting job has an owner", "I3", "scheduled", "scheduled", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "scheduled", e.entry("scheduled")+"|ww").Err()
	}},
	{"a unique key is not held", "I7", "keyed", "", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("unique")).Err() }},
	{"a unique key is held by a job that is over", "I7", "done", "", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("unique"), "noop:other", "done").Err()
	}},
	{"a unique key is held by nobody known", "I7", "keyed", "", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("unique"), "noop:key", "never").Err()
	}},
	{"two jobs have one unique key", "I7", "scheduled", "scheduled", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "scheduled", e.entry("scheduled")+"|ynoop:key").Err()
	}},
	{"the edges of a job are gone", "I11", "both", "", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("jobs:both:edges")).Err() }},
	{"a job waits for more edges than it has", "I11", "both", "both", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "both", strings.Replace(e.entry("both"), "|p2", "|p3", 1)).Err()
	}},
	{"an upstream does not know that somebody waits", "I11", "heir", "", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "queued", strings.Replace(e.entry("queued"), "h", "", 1)).Err()
	}},
	{"the last place is behind", "I12", "", "", func(e *engine) error { return e.rdb.Set(e.Context(), e.key("seq"), 1, 0).Err() }},
	{"the number of the last event is behind", "I12", "", "", func(e *engine) error { return e.rdb.Set(e.Context(), e.key("events:seq"), 2, 0).Err() }},
	{"the number of the last event is gone", "I12", "", "", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("events:seq")).Err() }},
	{"a result of nobody", "I13", "never", "", func(e *engine) error { return e.rdb.HSet(e.Context(), e.key("results"), "never", "x").Err() }},
	{"edges of a job that is over", "I13", "done", "", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("jobs:done:edges"), "queued", "?s:").Err()
	}},
	{"a removal of a job that is over is gone", "I13", "brief", "", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("removals")).Err() }},
	{"retention does not know of a queue", "I13", "", "", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("sweeps")).Err() }},
	{"a removal of a job that lives", "I2", "queued", "", func(e *engine) error {
		return e.rdb.ZAdd(e.Context(), e.key("removals"), redisZ(1, "queued")).Err()
	}},
	{"a waiting limit is not listed", "I2", "limited", "", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("expiry")).Err() }},
	{"a waiting limit of a job without one", "I2", "queued", "", func(e *engine) error {
		return e.rdb.ZAdd(e.Context(), e.key("expiry"), redisZ(float64(e.now+1e9), "queued")).Err()
	}},
	{"labels are gone", "I2", "keyed", "", func(e *engine) error { return e.rdb.HDel(e.Context(), e.key("labels"), "keyed").Err() }},
	{"labels and what named them are gone", "I2", "keyed", "", func(e *engine) error {
		return e.rdb.Del(e.Context(), e.key("labels"), e.key("label:region=eu"), e.key("label:day=2")).Err()
	}},
	{"labels are unreadable", "I2", "keyed", "", func(e *engine) error { return e.rdb.HSet(e.Context(), e.key("labels"), "keyed", "junk").Err() }},
	{"unreadable labels of a job without any", "I2", "queued", "", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("labels"), "queued", "junk").Err()
	}},
	{"a number is none", "I1", "", "", func(e *engine) error { return e.rdb.Set(e.Context(), e.key("seq"), "junk", 0).Err() }},
	{"a caller is not listed", "I13", "", "", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("callers")).Err() }},
	{"labels of nobody", "I13", "never", "", func(e *engine) error { return e.rdb.HSet(e.Context(), e.key("labels"), "never", "a=b").Err() }},
	{"a job does not know of its labels", "I2", "keyed", "", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "keyed", strings.Replace(e.entry("keyed"), "l|", "|", 1)).Err()
	}},
	{"a set of labels lost a job", "I2", "keyed", "", func(e *engine) error {
		return e.rdb.SRem(e.Context(), e.key("label:region="), "keyed").Err()
	}},
	{"a set of labels names a job that is over", "I2", "brief", "", func(e *engine) error {
		return e.rdb.SAdd(e.Context(), e.key("label:=eu"), "brief").Err()
	}},
	{"a set of labels names nobody", "I2", "never", "", func(e *engine) error { return e.rdb.SAdd(e.Context(), e.key("past:a=b"), "never").Err() }},
	{"what makes a job obsolete is gone", "I2", "limited", "", func(e *engine) error { return e.rdb.Del(e.Context(), e.key("roots")).Err() }},
	{"what makes a job obsolete is that of nobody", "I13", "never", "", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("roots"), "never", "a=b").Err()
	}},
	{"a job does not know what makes it obsolete", "I2", "limited", "", func(e *engine) error {
		return e.rdb.HSet(e.Context(), e.key("status"), "limited", strings.Replace(e.entry("limited"), "v|", "|", 1)).Err()
	}},
	{"a worker's description is left", "I14", "", "", func(e *engine) error { return e.rdb.HSet(e.Context(), e.key("worker:gone"), "host", "h").Err() }},
}

// entry is a job's status entry.
func (e *engine) entry(uuid string) string {
	e.Helper()
	text, err := e.rdb.HGet(e.Context(), e.key("status"), uuid).Result()
	e.ok(err)
	return text
}

// ticket is a job's ticket in a sorted set.
func (e *engine) ticket(key, uuid string) string {
	e.Helper()
	all, err := e.rdb.ZRange(e.Context(), e.key(key), 0, -1).Result()
	e.ok(err)
	for _, text := range all {
		if strings.Contains(text[:2+len(uuid)], uuid) {
			return text
		}
	}
	e.Fatalf("no ticket of %s in %s", uuid, key)
	return ""
}
