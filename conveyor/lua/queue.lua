-- queue: changes a queue's settings and wakes its idle workers when it may have more to give now.
-- KEYS: 1 <prefix>status.
-- ARGV: guard key, field, value (key '' for none); queue; action; the declared settings, see queue_settings.go; their owner or ''.
--   set: these settings are declared. delete: none are, by this owner any more. pause, resume: by hand.
-- Replies: 1. Errors: GUARD; PAUSED the queue is declared paused; CORRUPT <key> ...
need('hash', 'queues')
if ARGV[1] ~= '' then need('hash', ARGV[1]) end
if fault then return redis.error_reply(fault) end
if ARGV[1] ~= '' and call('HGET', PRE .. ARGV[1], ARGV[2]) ~= ARGV[3] then return redis.error_reply('GUARD does not hold') end
local key, q, action, declared, owner = PRE .. 'queues', ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local stored = call('HGET', key, q) or '0:0:0'
local f, names = {}, {}
for part in gmatch(stored .. ':', '([^:]*):') do f[#f + 1] = part end
for name in gmatch(f[8] or '', '[^,]+') do
  if name ~= owner then names[#names + 1] = name end
end
local before, hand = {}, f[7] == '1' and '1' or '0'
for i = 1, 6 do before[i] = f[i] or '0' end
if action == 'pause' then
  hand = '1'
elseif action == 'resume' then
  if f[3] == '1' then return redis.error_reply('PAUSED by ' .. (f[8] and f[8] ~= '' and f[8] or 'its settings')) end
  hand = '0'
elseif action == 'set' and owner ~= '' then
  names[#names + 1] = owner
elseif action == 'delete' and owner == '' then
  names = {}
end
if action == 'pause' or action == 'resume' or action == 'delete' and #names > 0 then declared = concat(before, ':') end
if #names == 0 and hand == '0' and declared == '0:0:0:0:0:0' then
  call('HDEL', key, q)
else
  call('HSET', key, q, declared .. ':' .. hand .. ':' .. concat(names, ','))
end
if action == 'pause' then return 1 end
if is(PRE .. 'sweeps', 'zset') then call('ZADD', PRE .. 'sweeps', 'XX', num(now), q) end -- another number may be kept now
local idle = PRE .. 'idle:' .. q
local ids = is(idle, 'zset') and call('ZPOPMIN', idle, 100) or {}
for i = 1, #ids, 2 do
  try('LPUSH', PRE .. 'wake:' .. ids[i], q)
  try('PEXPIRE', PRE .. 'wake:' .. ids[i], 10000)
end
return 1
