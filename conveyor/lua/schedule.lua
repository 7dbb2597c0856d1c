-- schedule: stores what was computed of a root's schedule: which of the ticks that came are emitted, and when the next one comes.
-- Whoever computed it last from the same state wins, once: the others are told that it moved on.
-- KEYS: 1 <prefix>status.
-- ARGV: template; schedule and time judged last, as read; time judged now; next tick ('' for none); ticks given up; the last of
--   those; then the ticks to emit, oldest first.
-- Replies: 1 when this was stored, 0 when it had moved on; occurrences made; then the damaged keys.
-- Errors: CORRUPT <key> ...
check_fixed()
if fault then return redis.error_reply(fault) end
local u, when, since, judged, next_tick = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local ticks, key = PRE .. 'ticks', cycle.key(u)
local R = get(u)
if not is(ticks, 'zset') or not is(key, 'hash') then return {'0', '0', is(key, 'hash') and ticks or key} end
local f = call('HMGET', key, 'when', 'since', 'off', 'hand', 'max', 'used')
if R and R.bad then
  call('ZADD', ticks, num(now + 10000), u)
  return {'0', '0', unpack(damaged)}
end
if not R or R.st ~= 't' then
  call('ZREM', ticks, u)
  return {'0', '0'}
end
local held = (tonumber(f[5]) or 0) > 0 and (tonumber(f[6]) or 0) >= tonumber(f[5]) -- by a cycle that somebody asked for meanwhile
if held or f[1] ~= when or f[2] ~= since or f[3] == '1' or f[4] == '1' then return {'0', '0'} end
call('HSET', key, 'since', judged, 'next', next_tick)
if next_tick == '' then call('ZREM', ticks, u) else call('ZADD', ticks, next_tick, u) end
if ARGV[6] ~= '0' then cycle.note(u, ARGV[7], 'm', now_text, now_text, '', '', ARGV[6]) end
local emitted = 0
for i = 8, #ARGV do
  if cycle.begin(R, tonumber(ARGV[i])) == 'e' then emitted = emitted + 1 end
end
settle_all()
commit('schedule')
return {'1', num(emitted), unpack(damaged)}
