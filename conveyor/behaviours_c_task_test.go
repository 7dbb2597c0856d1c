package conveyor_test

// behavioursTask are those of part C that concern executions, sync and the task contract.
var behavioursTask = []behaviour{
	{"C4a", "A job is executed max_cycles times, is then on hold, and is kept.",
		"lua/exchange.lua", "elseif spent then", "elseif spent and a.v ~= 'T' then", "", ""},
	{"C4b", "Resetting the count makes it run again.",
		"lua/apply.lua", "      if r.N then r.N = match(r.N, '^%d+:') .. '0' end\n", "", "", ""},
	{"C4c", "One execution is one cycle: what is handed back or lost is none.",
		"lua/exchange.lua", "if v == 'B' or v == 'N' then return false end", "if v == 'B' then return false end", "", ""},
}
