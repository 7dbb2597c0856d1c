package conveyor_test

// behavioursCEndings are the behaviours of part C that concern who gets a job, and what makes it obsolete.
var behavioursCEndings = []behaviour{
	{"C6a", "By default any worker that serves the queue gets a job.",
		"inbox.go", "job.Delivery.GetTo() == wire.Delivery_WORKER {\n\t\treturn inboxMark + job.Delivery.Worker", "job.Delivery != nil {\n\t\treturn inboxMark + job.Delivery.Worker", "", ""},
	{"C6b", "Only the named worker gets a job for one.",
		"exchange_call.go", "if !validName(q) {", "if !validPlace(q) {", "", ""},
	{"C6c", "Every worker that is alive when a job for all is added gets it, and nobody acknowledges it to whom added it.",
		"lua/lib/inbox.lua", "'(' .. num(now - DEAD)", "num(now - DEAD)", "", ""},
	{"C6d", "What is not delivered within its retention, seven days if none is given, is removed.",
		"inbox.go", "return DeliveryRetention", "return DeliveryRetention - time.Millisecond", "", ""},
	{"C6e", "A worker that just handled one job for all still gets the next.",
		"lua/lib/inbox.lua", "if get(u) then return end", "if get(u) or call('ZCARD', PRE .. 'worker:' .. id .. ':jobs') == 0 and call('LLEN', PRE .. 'ended:@' .. id) > 0 then return end", "", ""},
	{"C7a", "While a job with the root labels is alive, the obsolete job is neither scheduled nor run.",
		"lua/lib/meet.lua", "if carry.obsolete(r) then return close_as(r, 'O') end", "", "", ""},
	{"C7b", "It ends when it is found, as a success for what waits, but never under a worker that runs it.",
		"lua/lib/edge.lua", "local OUT = {C = '+', O = '+'", "local OUT = {C = '+', O = '-'", "", ""},
	{"C7c", "Several roots at once are fine.",
		"lua/lib/carry.lua", "if n == 0 or n > #stale then return n > 0 end", "if n == 0 or n > #stale then return n == 1 end", "", ""},
	{"C11h", "A worker gets what goes to all first, then what goes to it alone, then its queues.",
		"lua/lib/inbox.lua", "'@' .. id, '2', nil", "'@' .. id, '1', nil", "", ""},
}
