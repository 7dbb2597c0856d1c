-- retract: takes an attempt out of their queue, if no worker of theirs has popped it.
-- KEYS: 1 record of the job, 2 set of records, 3 their queue.
-- ARGV: uuid, fence.
-- Replies: 1 when it was there. Then it has no record any more.
local was = redis.call('HMGET', KEYS[1], 'fence', 'bytes')
if was[1] ~= ARGV[2] or redis.call('LREM', KEYS[3], 0, was[2]) == 0 then return 0 end
redis.call('DEL', KEYS[1])
redis.call('SREM', KEYS[2], ARGV[1])
return 1
