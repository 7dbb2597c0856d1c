-- purge: cancels jobs that are queued in a queue, a slice at a time.
-- KEYS: 1 <prefix>status.
-- ARGV: caller, number, queue, the last place that is to go ('' on the first call: the last one given so far).
-- Replies: jobs cancelled, that last place, 1 when some are left, then the damaged keys.
-- Errors: OUTDATED number; CORRUPT <key> ...
check_fixed()
need('string', 'call:' .. ARGV[1])
need('zset', 'callers')
if fault then return redis.error_reply(fault) end
local call_key = PRE .. 'call:' .. ARGV[1]
local last = call('GET', call_key)
if last then
  local n, count, up_to, more = match(last, '^(%d+)\n(%d+) (%d+) (%d)$')
  if n == ARGV[2] then return {count, up_to, more} end
  if tonumber(n or 0) > tonumber(ARGV[2]) then return redis.error_reply('OUTDATED number ' .. ARGV[2] .. ' after ' .. n) end
end
local up_to = ARGV[4] == '' and seq or tonumber(ARGV[4])
take_todo(BUDGET - 100)

local count, left = 0, false
for lane = 2, 0, -1 do
  local key = queue_key(ARGV[3], num(lane))
  local n = min(100, BUDGET - #changed)
  if not is(key, 'list') then
    damage(key)
  elseif n > 0 then -- otherwise a lane before was left
    local t = call('LRANGE', key, -n, -1)
    local ids, nexts, met = {}, {}, 0
    for i = 1, #t do
      ids[i], nexts[i] = uuid_of(t[i])
      ids[i] = ids[i] or false
    end
    load(ids)
    for i = #t, 1, -1 do
      local r = ids[i] and S[ids[i]]
      if not ids[i] or r and r.bad then
        set_aside(key, t[i])
      elseif holds(r, t[i], nexts[i], key) then
        if r.n > up_to then break end
        close_as(r, 'X')
        count = count + 1
      end
      met = met + 1
    end
    call('LTRIM', key, 0, -(met + 1))
    left = left or met == n
  end
end
settle_all()
commit('purge')
local reply = {num(count), num(up_to), left and '1' or '0'}
call('SET', call_key, ARGV[2] .. '\n' .. concat(reply, ' '))
call('ZADD', PRE .. 'callers', num(now), ARGV[1])
for i = 1, #damaged do reply[#reply + 1] = damaged[i] end
return reply
