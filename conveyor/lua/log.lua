-- log: appends one piece to the log of a running attempt. Entries are numbered <fence>-<n>, so a repeated piece is a no-op.
-- KEYS: 1 <prefix>status.
-- ARGV: uuid, fence, number of the piece, bytes an attempt may keep, text.
-- Replies: 1 stored, 0 it was there already.
-- Errors: OUTDATED <uuid>; CORRUPT <key> ...
local u, fence, n, limit, text = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local key = PRE .. 'jobs:' .. u .. ':log'
need('hash', 'status')
need('stream', 'jobs:' .. u .. ':log')
if fault then return redis.error_reply(fault) end
local r = get(u)
if not r or r.st ~= 'r' or r.f ~= fence then return redis.error_reply('OUTDATED ' .. u) end
local size, dropped = 0, 0
local last = call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
if last then
  local f, m = match(last[1], '^(%d+)-(%d+)$')
  if f == fence then
    if tonumber(m) >= tonumber(n) then return 0 end
    local v = {}
    for i = 1, #last[2], 2 do v[last[2][i]] = last[2][i + 1] end
    size, dropped = tonumber(v.z or 0), tonumber(v.d or 0)
  else -- the first piece of an attempt: those of the newest five are kept
    call('XTRIM', key, 'MINID', num(max(0, tonumber(fence) - 4)) .. '-0')
  end
end
if dropped > 0 or size + #text > limit then
  -- One entry counts all that is left out, and moves to the end.
  if dropped > 0 then call('XDEL', key, last[1]) end
  call('XADD', key, fence .. '-' .. n, 't', num(now), 'z', num(size), 'd', num(dropped + #text))
else
  call('XADD', key, fence .. '-' .. n, 't', num(now), 'z', num(size + #text), 'x', text)
end
return 1
