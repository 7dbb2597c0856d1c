package conveyor_test

// behavioursTask are those of part C that concern executions, sync and the task contract.
var behavioursTask = []behaviour{
	{"C4a", "A job is executed max_cycles times, is then on hold, and is kept.",
		"lua/exchange.lua", "elseif spent then", "elseif spent and a.v ~= 'T' then", "", ""},
	{"C4b", "Resetting the count makes it run again.",
		"lua/apply.lua", "      if r.N then r.N = match(r.N, '^%d+:') .. '0' end\n", "", "", ""},
	{"C4c", "One execution is one cycle: what is handed back or lost is none.",
		"lua/exchange.lua", "if v == 'B' or v == 'N' then return false end", "if v == 'B' then return false end", "", ""},
	{"C8f", "A job puts itself back with new sync instead of ending, at once or after a time.",
		"lua/exchange.lua", "a.v == 'W' and not has(r, 'c')", "a.v == 'W' and r.C", "", ""},
	{"C8g", "A failed attempt leaves nothing.",
		"lua/exchange.lua", "if a.sync and (a.v == 'D' or", "if a.sync and (a.v == 'T' and not r.C or a.v == 'D' or", "", ""},
	{"C8h", "What an occurrence stores reaches its template with the acknowledgement.",
		"lua/exchange.lua", "if not T or T.st ~= 't' then return end", "if true then return end", "", ""},
}
