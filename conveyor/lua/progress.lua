-- progress: tells how far a running attempt is, and observers of it.
-- KEYS: 1 <prefix>status.
-- ARGV: uuid, fence, done, total, text.
-- Replies: 1. Errors: OUTDATED <uuid>; CORRUPT <key> ...
check_fixed()
if fault then return redis.error_reply(fault) end
local r = get(ARGV[1])
if not r or r.st ~= 'r' or r.f ~= ARGV[2] then return redis.error_reply('OUTDATED ' .. ARGV[1]) end
local told = concat({ARGV[3], ARGV[4], ARGV[5]}, ' ')
local fence, before = match(call('HGET', PRE .. 'progress', r.u) or '', '^(%d+)%S* (.*)$')
if fence == ARGV[2] and before == told then return 1 end -- a repeated call is no news, and its time stays that of the first
call('HSET', PRE .. 'progress', r.u, ARGV[2] .. '@' .. now_text .. ' ' .. told)
touch(r)
r.shown = true
commit('progress', {'p', r.u .. ' ' .. told})
return 1
