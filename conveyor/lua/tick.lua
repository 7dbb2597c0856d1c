-- tick: what any process does for all: releases due jobs, finishes what is listed to do, takes jobs from dead workers
-- and expired leases, and sweeps what is over.
-- KEYS: 1 <prefix>status.
-- ARGV: ms after which a silent worker is dead; ms that ended jobs are kept; ms that calls of callers without a worker are
--   kept.
-- Replies: jobs changed, 1 when work is left, ms until the next due time or deadline (0: none), now, number of dead
--   workers, their ids, then the damaged keys.
-- Errors: CORRUPT <key> ...
check_fixed()
need('zset', 'workers', 'callers')
if fault then return redis.error_reply(fault) end
local dead_ms, keep_ms, calls_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local more = release_due(100) >= 100
take_todo(100)

if reap(100) >= 100 then more = true end

local dead = {}
for _, id in ipairs(call('ZRANGEBYSCORE', PRE .. 'workers', '-inf', num(now - dead_ms), 'LIMIT', 0, 10)) do
  if #changed >= BUDGET then
    more = true
  elseif give_back(id, function(r) lose(r, 'worker ' .. id .. ' died') end) then
    retire(id, 'lost')
    dead[#dead + 1] = id
  else
    more = more or is(PRE .. 'worker:' .. id .. ':jobs', 'zset')
  end
end

if #changed < BUDGET then
  -- `ended` lists "<ms> <uuid>", the oldest at the right. A job that ended again later is met again then.
  local n, us, past = min(100, BUDGET - #changed), {}, {}
  local got = call('LRANGE', PRE .. 'ended', -n, -1)
  for i = #got, 1, -1 do
    local ms, u = match(got[i], '^(%d+) (.+)$')
    if ms and tonumber(ms) > now - keep_ms then break end
    past[#past + 1] = got[i]
    us[#us + 1] = u
  end
  load(us)
  for i = 1, #us do
    local r = S[us[i]]
    local over = r and ENDED[r.st] and tonumber(r.t or 0) <= now - keep_ms
    if over and not has(r, 'r') then
      forget(r, true)
    elseif over then -- the record keeps status and result alive
      call('DEL', PRE .. 'jobs:' .. r.u .. ':log')
      call('HDEL', PRE .. 'failed', r.u)
      call('HDEL', PRE .. 'progress', r.u)
    end
  end
  if #past > 0 then call('LTRIM', PRE .. 'ended', 0, -(#past + 1)) end
  if #past >= n then more = true end
  local callers = call('ZRANGEBYSCORE', PRE .. 'callers', '-inf', num(now - calls_ms), 'LIMIT', 0, 100)
  for i = 1, #callers do
    call('DEL', PRE .. 'call:' .. callers[i])
    call('ZREM', PRE .. 'callers', callers[i])
  end
end

if settle_all() then
  local first = call('ZRANGE', PRE .. 'todo', 0, 0, 'WITHSCORES')[2]
  more = more or first and tonumber(first) <= now
end
commit('tick')

local next_at
local function consider(key, plus, scale)
  local first = call('ZRANGE', PRE .. key, 0, 0, 'WITHSCORES')[2]
  if first then
    local at = floor(tonumber(first) * scale + 0.5) + plus
    next_at = min(next_at or at, at)
  end
end
consider('scheduled', 0, 1000)
consider('leases', 0, 1)
consider('todo', 0, 1)
consider('workers', dead_ms, 1)
local out = {num(#changed), more and '1' or '0', num(next_at and max(1, next_at - now) or 0), num(now), num(#dead)}
for i = 1, #dead do out[#out + 1] = dead[i] end
for i = 1, #damaged do out[#out + 1] = damaged[i] end
return out
