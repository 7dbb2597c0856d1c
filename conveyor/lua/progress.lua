-- progress: tells how far a running attempt is, and observers of it.
-- KEYS: 1 <prefix>status.
-- ARGV: uuid, fence, done, total, text.
-- Replies: 1. Errors: OUTDATED <uuid>; CORRUPT <key> ...
check_fixed()
if fault then return redis.error_reply(fault) end
local r = get(ARGV[1])
if not r or r.st ~= 'r' or r.f ~= ARGV[2] then return redis.error_reply('OUTDATED ' .. ARGV[1]) end
local told = concat({ARGV[2], ARGV[3], ARGV[4], ARGV[5]}, ' ')
if call('HGET', PRE .. 'progress', r.u) == told then return 1 end -- a repeated call is no news
call('HSET', PRE .. 'progress', r.u, told)
touch(r)
r.shown = true
commit('progress')
return 1
