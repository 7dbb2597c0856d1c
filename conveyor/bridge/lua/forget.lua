-- forget: removes the record of an attempt that is settled, and what of it may still be in their queue.
-- KEYS: 1 record of the job, 2 set of records, 3 their queue.
-- ARGV: uuid, fence.
local was = redis.call('HMGET', KEYS[1], 'fence', 'bytes')
if was[1] and was[1] ~= ARGV[2] then return 0 end
if was[2] then redis.call('LREM', KEYS[3], 0, was[2]) end
redis.call('DEL', KEYS[1])
redis.call('SREM', KEYS[2], ARGV[1])
return 1
