-- tick: what any process does for all: releases due jobs, finishes what is listed to do, takes jobs from dead workers
-- and expired leases, and sweeps what is over.
-- KEYS: 1 <prefix>status.
-- ARGV: ms after which a silent worker is dead; ms that calls of callers without a worker are kept.
-- Replies: jobs changed, 1 when work is left, ms until the next due time or deadline (0: none), now, jobs lost, jobs
--   expired, jobs obsolete, number of dead workers, their ids, then the damaged keys.
-- Errors: CORRUPT <key> ...
check_fixed()
need('zset', 'workers', 'callers', 'sweeps', 'removals', 'expiry')
if fault then return redis.error_reply(fault) end
local dead_ms, calls_ms = tonumber(ARGV[1]), tonumber(ARGV[2])

local more = release_due(100) >= 100
take_todo(100)

if reap(100) >= 100 then more = true end

local dead = {}
for _, id in ipairs(call('ZRANGEBYSCORE', PRE .. 'workers', '-inf', num(now - dead_ms), 'LIMIT', 0, 10)) do
  if #changed >= BUDGET then break end -- expire tells that there is more
  if give_back(id, function(r) lose(r, 'worker ' .. id .. ' died') end) then
    retire(id, 'lost')
    dead[#dead + 1] = id
  else
    more = more or is(PRE .. 'worker:' .. id .. ':jobs', 'zset')
  end
end

if expire(min(100, BUDGET - #changed)) then more = true end
if #changed < BUDGET then
  if sweep(min(100, BUDGET - #changed)) then more = true end
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
local expired = 0
for i = 1, #changed do
  local r = changed[i]
  if r.st == 'E' and r.os ~= 'E' then expired = expired + 1 end
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
consider('expiry', 0, 1)
consider('workers', dead_ms, 1)
local out = {num(#changed), more and '1' or '0', num(next_at and max(1, next_at - now) or 0), num(now), num(lost),
  num(expired), num(carry.ended), num(#dead)}
for i = 1, #dead do out[#out + 1] = dead[i] end
for i = 1, #damaged do out[#out + 1] = damaged[i] end
return out
