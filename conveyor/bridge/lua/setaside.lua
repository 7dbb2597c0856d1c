-- setaside: sets an entry of a client aside that cannot become a job of ours, unless a bridge may have added it.
-- KEYS: 1 record of the job, 2 jobs to be added, 3 set of clients' jobs, 4 what was set aside.
-- ARGV: uuid; 1 if the engine refused it.
-- Replies: 1 when this call did it.
local f = redis.call('HMGET', KEYS[1], 'bytes', 'from', 'asked')
if not f[1] or f[3] and ARGV[2] ~= '1' then return 0 end
redis.call('RPUSH', KEYS[4], f[2] .. ' ' .. f[1])
redis.call('DEL', KEYS[1])
redis.call('LREM', KEYS[2], 0, ARGV[1])
redis.call('SREM', KEYS[3], ARGV[1])
return 1
