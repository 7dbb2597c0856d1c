-- template: what is asked of a template by hand.
-- KEYS: 1 <prefix>status.
-- ARGV: uuid, what, and what that takes: run: a name that nothing else was ever called with; pause, resume, reset: nothing;
--   backfill: up to 50 ticks (ms), oldest first; forgo, which drops those that wait: nothing.
-- Replies: how it went, a number, then the damaged keys. How: done, with the tick of run, how many ticks of backfill had no
--   cycle yet, and how many forgo dropped; none: no such job; job: it is no template; below: its cycles are those of another; gate: it has no schedule.
-- Errors: CORRUPT <key> ...
check_fixed()
local u, what = ARGV[1], ARGV[2]
need('hash', 'template:' .. u)
need('zset', 'ticks', 'backlog:' .. u, 'callers')
local T = get(u)
if T and T.bad then refuse('CORRUPT ' .. PRE .. 'status entry of ' .. u) end
local call_key = PRE .. 'call:' .. (ARGV[3] or '')
if what == 'run' then need('string', 'call:' .. ARGV[3]) end
if fault then return redis.error_reply(fault) end
if not T then return {'none', '0'} end
if T.st ~= 't' then return {'job', '0'} end
local key, f = cycle.key(u), {}
do
  local names = {'kind', 'off', 'hand', 'max', 'used', 'overlap', 'last'}
  local got = call('HMGET', key, unpack(names))
  for i = 1, #names do f[names[i]] = got[i] or '' end
end
if f.kind == 'd' then return {'below', '0'} end
local used, most, tells = tonumber(f.used) or 0, tonumber(f.max) or 0, false

-- again has a schedule that was out of force count from now.
local function again(held)
  if f.kind ~= 's' or f.off == '1' or f.hand == '1' or held then return end
  call('HSET', key, 'since', now_text, 'next', '')
  call('ZADD', PRE .. 'ticks', now_text, u)
end

local number = 0
if what == 'run' then
  local done = call('GET', call_key)
  if done then return {'done', match(done, '%d+$')} end
  number = max(now, (tonumber(f.last) or 0) + 1)
  cycle.begin(T, number, true)
  call('SET', call_key, '1\n' .. num(number))
  call('ZADD', PRE .. 'callers', now_text, ARGV[3])
elseif what == 'backfill' then
  for i = 3, #ARGV do
    if f.overlap ~= 'a' then
      number = number + call('ZADD', PRE .. 'backlog:' .. u, ARGV[i], ARGV[i])
    elseif cycle.begin(T, tonumber(ARGV[i]), true) then
      number = number + 1
    end
  end
  settle(T)
elseif what == 'forgo' then
  number = call('ZCARD', PRE .. 'backlog:' .. u)
  call('DEL', PRE .. 'backlog:' .. u)
elseif what == 'reset' then
  tells = used > 0
  if tells then
    call('HSET', key, 'used', '0')
    if most > 0 and used >= most then again(false) end
  end
elseif f.kind ~= 's' then
  return {'gate', '0'}
elseif what == 'pause' then
  tells = f.hand ~= '1'
  call('HSET', key, 'hand', '1', 'next', '')
  call('ZREM', PRE .. 'ticks', u)
elseif f.hand == '1' then
  tells, f.hand = true, ''
  call('HSET', key, 'hand', '')
  again(most > 0 and used >= most)
end
if tells then
  T.shown = true
  touch(T)
end
settle_all()
commit(what)
local reply = {'done', num(number)}
for i = 1, #damaged do reply[#reply + 1] = damaged[i] end
return reply
