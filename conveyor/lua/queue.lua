-- queue: stores or removes a queue's settings and wakes its idle workers, since it may have more to give now.
-- KEYS: 1 <prefix>status.
-- ARGV: queue, <concurrency>:<weight>:<paused> or '' for none.
-- Replies: 1. Errors: CORRUPT <key> ...
need('hash', 'queues')
if fault then return redis.error_reply(fault) end
if ARGV[2] == '' then call('HDEL', PRE .. 'queues', ARGV[1]) else call('HSET', PRE .. 'queues', ARGV[1], ARGV[2]) end
local key = PRE .. 'idle:' .. ARGV[1]
local ids = is(key, 'zset') and call('ZPOPMIN', key, 100) or {}
for i = 1, #ids, 2 do
  try('LPUSH', PRE .. 'wake:' .. ids[i], ARGV[1])
  try('PEXPIRE', PRE .. 'wake:' .. ids[i], 10000)
end
return 1
