-- Carries the state of a workflow over to another name: as a whole, under both locks, or not at all.
-- KEYS: lock, state and meta of the old name; the same of the new one; workflows; queues; revisions of the old name and the new one;
--   archives likewise; what the controllers of the old name and of the new one remember; clock
-- ARGV: fence of the old lock, fence of the new one, old name, new name, serial number for the new one; then the queues whose settings
--   belong to the workflow
-- Returns 'DONE'; 'GUARD' when a lock is another's by now, 'TAKEN' when there is something under the new name, 'GONE' when there is
-- nothing under the old one.
local old, new = ARGV[3], ARGV[4]
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] or redis.call('HGET', KEYS[4], 'fence') ~= ARGV[2] then return 'GUARD' end
if redis.call('HGET', KEYS[6], 'former') == '1 ' .. old and redis.call('EXISTS', KEYS[3]) == 0 then return 'DONE' end -- a lost reply
if redis.call('EXISTS', KEYS[5]) == 1 then return 'TAKEN' end
if redis.call('EXISTS', KEYS[3]) == 0 then return 'GONE' end
-- Of what is stored of a queue, the names of those who declare it come last, after the seventh colon, with commas between them.
local owned = {}
for i = 6, #ARGV do
  local stored = redis.call('HGET', KEYS[8], ARGV[i]) or ''
  local declared, names = string.match(stored, '^(' .. string.rep('[^:]*:', 7) .. ')(.*)$')
  if declared then
    local next, found = {}, false
    for name in string.gmatch(names, '[^,]+') do
      if name == old or name == new then found = true else next[#next + 1] = name end
    end
    if found then
      next[#next + 1] = new
      owned[#owned + 1] = {ARGV[i], declared .. table.concat(next, ',')}
    end
  end
end
-- These fail where a key is no hash, before anything is written.
redis.call('HGET', KEYS[7], old)
redis.call('HGET', KEYS[14], 'token')
local remembered, led = redis.call('HGETALL', KEYS[13]), false
for i = 1, #remembered, 2 do
  if remembered[i] == 'expires' then led = tonumber(remembered[i + 1]) > now(KEYS[15]) end
end
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[5]) end
redis.call('RENAME', KEYS[3], KEYS[6])
for i = 9, 11, 2 do
  if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('RENAME', KEYS[i], KEYS[i + 1]) end
end
-- Notes about jobs go along. A plan that waits for consent was made under the old name. A controller that leads still keeps its lease.
for i = 1, #remembered, 2 do
  local field = remembered[i]
  local note = string.sub(field, 1, 5) == 'note:'
  if note then redis.call('HSETNX', KEYS[14], field, remembered[i + 1]) end
  if note or not led or field == 'waiting' or field == 'consent' then redis.call('HDEL', KEYS[13], field) end
end
redis.call('HSET', KEYS[6], 'former', '1 ' .. old, 'serial', '1 ' .. ARGV[5])
redis.call('HDEL', KEYS[7], old)
redis.call('HSET', KEYS[7], new, '1 ' .. ARGV[5])
for i = 1, #owned do redis.call('HSET', KEYS[8], owned[i][1], owned[i][2]) end
return 'DONE'
