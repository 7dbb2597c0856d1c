package conveyor_test

// behavioursCEndings are the behaviours of part C that concern what makes a job obsolete.
var behavioursCEndings = []behaviour{
	{"C7a", "While a job with the root labels is alive, the obsolete job is neither scheduled nor run.",
		"lua/lib/meet.lua", "if carry.obsolete(r) then return close_as(r, 'O') end", "", "", ""},
	{"C7b", "It ends when it is found, as a success for what waits, but never under a worker that runs it.",
		"lua/lib/edge.lua", "local OUT = {C = '+', O = '+'", "local OUT = {C = '+', O = '-'", "", ""},
	{"C7c", "Several roots at once are fine.",
		"lua/lib/carry.lua", "if n == 0 or n > #stale then return n > 0 end", "if n == 0 or n > #stale then return n == 1 end", "", ""},
}
