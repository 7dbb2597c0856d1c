-- tick: what any process does for all: releases due jobs, finishes what is listed to do, takes jobs from dead workers
-- and expired leases, and sweeps what is over. Which schedules are due it tells: what becomes of that is computed by the caller.
-- KEYS: 1 <prefix>status.
-- ARGV: ms after which a silent worker is dead; ms that calls of callers without a worker are kept.
-- Replies: jobs changed, 1 when work is left, ms until the next due time or deadline (0: none), now, jobs lost, jobs
--   expired, jobs obsolete, ms until the next tick of a schedule (0: none), number of dead workers, their ids, number of schedules that
--   are due, of each its template, its text, its catchup and the time judged last; then the damaged keys.
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
if cycle.waits then more = true end

-- Schedules whose next tick has come, or has not been computed yet. One that cannot be read is tried again in ten seconds.
local due, ticks = {}, PRE .. 'ticks'
if is(ticks, 'zset') then
  local us = call('ZRANGEBYSCORE', ticks, '-inf', now_text, 'LIMIT', 0, 50)
  if #us == 50 then more = true end
  for i = 1, #us do
    local key = PRE .. 'template:' .. us[i]
    local f = is(key, 'hash') and call('HMGET', key, 'when', 'catchup', 'since') or {}
    if f[1] and f[2] and f[3] then
      for _, text in ipairs({us[i], f[1], f[2], f[3]}) do due[#due + 1] = text end
    elseif kind(key) == 'none' then
      call('ZREM', ticks, us[i])
    else
      damage(key)
      call('ZADD', ticks, num(now + 10000), us[i])
    end
  end
else
  damage(ticks)
end

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
local cycle_at = is(ticks, 'zset') and call('ZRANGEBYSCORE', ticks, '(' .. now_text, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
local out = {num(#changed), more and '1' or '0', num(next_at and max(1, next_at - now) or 0), num(now), num(lost),
  num(expired), num(carry.ended), num(cycle_at and tonumber(cycle_at) - now or 0), num(#dead)}
for i = 1, #dead do out[#out + 1] = dead[i] end
out[#out + 1] = num(#due / 4)
for i = 1, #due do out[#out + 1] = due[i] end
for i = 1, #damaged do out[#out + 1] = damaged[i] end
return out
