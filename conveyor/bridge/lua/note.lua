-- note: writes what an event told of a job into its record, so that any bridge can settle it.
-- KEYS: 1 record of the job.
-- ARGV: 'running', 'completed' or 'failed'; the attempt that the event is of, '' when it does not say; failure.
-- Replies: 1 when the job has a record.
local attempts = redis.call('HGET', KEYS[1], 'attempts')
if not attempts then return 0 end
if ARGV[1] == 'completed' then
  redis.call('HSET', KEYS[1], 'outcome', 'completed')
elseif ARGV[2] == '' or ARGV[2] == attempts then
  if ARGV[1] == 'running' then
    redis.call('HSETNX', KEYS[1], 'started', redis.call('TIME')[1])
  elseif redis.call('HSETNX', KEYS[1], 'outcome', 'failed') == 1 then
    redis.call('HSET', KEYS[1], 'failure', ARGV[3])
  end
end
redis.call('HDEL', KEYS[1], 'absent')
return 1
