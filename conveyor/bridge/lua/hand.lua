-- hand: hands an attempt to the fleet, once: its record and its entry in their queue are written together.
-- KEYS: 1 record of the job, 2 set of records, 3 their queue, 4 its record as a job of a client, 5 stack of jobs whose lists were not
--   looked through.
-- ARGV: uuid, fence, attempts that failed so far, queue, bytes, reservations that were lost so far.
-- Replies: 'handed'; 'kept' when this attempt is theirs already; 'outdated' when a later one is; 'lists' when clients had jobs wait
--   for this one: they have to be taken first, since a failure in the fleet deletes the lists.
local was = redis.call('HMGET', KEYS[1], 'fence', 'attempts', 'bytes', 'outcome', 'lost')
if was[1] then
  if tonumber(was[1]) > tonumber(ARGV[2]) then return 'outdated' end
  -- A record with an outcome is that of this attempt only if the reservation was lost before anybody acknowledged the outcome. Else the
  -- outcome was acknowledged, the bridge ended before it removed the record, and the job was retried by hand: its attempts count anew.
  local settled = was[4] and was[1] ~= ARGV[2] and tonumber(ARGV[6]) <= tonumber(was[5] or '0')
  if was[2] == ARGV[3] and not settled then
    redis.call('HSET', KEYS[1], 'fence', ARGV[2], 'lost', ARGV[6])
    redis.call('SADD', KEYS[2], ARGV[1])
    return 'kept'
  end
  redis.call('LREM', KEYS[3], 0, was[3])
  redis.call('DEL', KEYS[1])
end
local client = redis.call('HMGET', KEYS[4], 'bytes', 'left')
local lists = 'conv:job:' .. ARGV[1]
if client[1] and not client[2] and redis.call('EXISTS', lists .. ':children', lists .. ':onComplete') > 0 then
  redis.call('RPUSH', KEYS[5], ARGV[1])
  return 'lists'
end
redis.call('HSET', KEYS[1], 'fence', ARGV[2], 'attempts', ARGV[3], 'queue', ARGV[4], 'bytes', ARGV[5], 'lost', ARGV[6])
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('LPUSH', KEYS[3], ARGV[5])
return 'handed'
