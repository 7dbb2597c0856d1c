-- emit: tells a message of a running attempt, or of a client, to the listeners of a job. Repeating a call changes nothing.
-- KEYS: 1 <prefix>status.
-- ARGV: uuid; fence of the attempt, 0 for a client; number: of the attempt's messages, or of the caller's calls; scope: e global
--   listeners, b all; name, data, caller ('' for an attempt).
-- Replies: 1 told, 0 it was told already.
-- Errors: OUTDATED <uuid or number>; NOTFOUND <uuid>; CORRUPT <key> ...
local u, fence, n, scope, name, data, caller = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
need('hash', 'status')
need('zset', 'callers')
if caller ~= '' then need('string', 'call:' .. caller) end
check_log()
if fault then return redis.error_reply(fault) end

if caller ~= '' then
  local last = match(call('GET', PRE .. 'call:' .. caller) or '', '^%d+')
  if last == n then return 0 end
  if last and tonumber(last) > tonumber(n) then return redis.error_reply('OUTDATED number ' .. n .. ' after ' .. last) end
end
local r = get(u)
if caller ~= '' then
  if not r then return redis.error_reply('NOTFOUND ' .. u) end
  call('SET', PRE .. 'call:' .. caller, n .. '\n')
  call('ZADD', PRE .. 'callers', num(now), caller)
else
  if not r or r.st ~= 'r' or r.f ~= fence then return redis.error_reply('OUTDATED ' .. u) end
  if tonumber(r.j or 0) >= tonumber(n) then return 0 end
  r.j = n -- the entry itself holds the number: it goes when the attempt is over
  call('HSET', PRE .. 'status', u, encode(r))
end
tell('emit', {}, {'m', concat({scope, u, fence, name}, ' '), 'x', data})
return 1
