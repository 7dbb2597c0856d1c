-- hand: hands an attempt to the fleet, once: its record and its entry in their queue are written together.
-- KEYS: 1 record of the job, 2 set of records, 3 their queue.
-- ARGV: uuid, fence, attempts that failed so far, queue, bytes.
-- Replies: 'handed'; 'kept' when this attempt is theirs already; 'outdated' when a later one is.
local was = redis.call('HMGET', KEYS[1], 'fence', 'attempts', 'bytes')
if was[1] then
  if tonumber(was[1]) > tonumber(ARGV[2]) then return 'outdated' end
  if was[2] == ARGV[3] then
    redis.call('HSET', KEYS[1], 'fence', ARGV[2])
    redis.call('SADD', KEYS[2], ARGV[1])
    return 'kept'
  end
  redis.call('LREM', KEYS[3], 0, was[3])
  redis.call('DEL', KEYS[1])
end
redis.call('HSET', KEYS[1], 'fence', ARGV[2], 'attempts', ARGV[3], 'queue', ARGV[4], 'bytes', ARGV[5])
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('LPUSH', KEYS[3], ARGV[5])
return 'handed'
