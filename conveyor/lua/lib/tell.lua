-- tell: the event log. An entry is numbered <number>-0 without gaps and has k the kind, t the store's time, and what the call
-- has to tell: j jobs, a line "<uuid> <status entry>" each, the entry empty when nothing is left of the job; w workers, a line
-- "<joined|left|lost> <worker>" each; p progress, "<uuid> <done> <total> <text>"; m a message, "<e|b> <uuid> <fence> <name>"
-- with its data in x.
local crew = {} -- lines about workers, told by commit or by the script itself

-- counter reads a number that is a key of its own; it refuses the call when that is none.
local function counter(name)
  local key = PRE .. name
  local n = is(key, 'string') and tonumber(call('GET', key) or 0)
  if not n then refuse('CORRUPT ' .. key .. ' is not a number') end
  return n or 0
end

-- check_log refuses a call that could not tell what it does.
local function check_log()
  need('stream', 'events')
  counter('events:seq')
end

-- tell appends one event, unless there is nothing to tell. The log is bounded by what it mentions: a bulk of events of many
-- jobs or of much data keeps fewer of them.
local function tell(script, jobs, fields)
  if #jobs == 0 and #crew == 0 and not fields then return end
  local entry, size = {'k', script, 't', num(now)}, #jobs + #crew
  local function put(field, value)
    entry[#entry + 1] = field
    entry[#entry + 1] = value
  end
  if #jobs > 0 then put('j', concat(jobs, '\n')) end
  if #crew > 0 then put('w', concat(crew, '\n')) end
  for i = 1, #(fields or ''), 2 do
    put(fields[i], fields[i + 1])
    size = size + floor(#fields[i + 1] / 64)
  end
  local keep = max(256, min(4096, floor(40960 / max(1, size))))
  local id = call('INCR', PRE .. 'events:seq')
  -- A namespace that was emptied counts from 1 again; the time of its first event tells the two lives apart.
  if id == 1 then call('SET', PRE .. 'events:life', num(now)) end
  call('XADD', PRE .. 'events', 'MAXLEN', '~', num(keep), num(id) .. '-0', unpack(entry))
end
