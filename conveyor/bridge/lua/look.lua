-- look: says where in the fleet's structures jobs are. One that is in none for so long is pushed again.
-- KEYS: 1 conv:workers:active, 2 conv:scheduled, 3 conv:failed.
-- ARGV: ms that a job may be nowhere, what records begin with, the uuids.
-- Replies: for each uuid: 'gone' without record, 'told' with an outcome, 'running', 'queued', 'scheduled', 'closing', 'absent', 'again', or
--   'failed <bytes>', the bytes in their list of failed jobs.
local call, sub, byte = redis.call, string.sub, string.byte
local limit, prefix = tonumber(ARGV[1]), ARGV[2]
local time = call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local found, record, left, queues = {}, {}, {}, {}
local workers = call('ZRANGE', KEYS[1], 0, -1)
for i = 3, #ARGV do
  local u = ARGV[i]
  local r = call('HMGET', prefix .. u, 'queue', 'bytes', 'attempts', 'absent', 'outcome')
  if not r[1] then
    found[u] = 'gone'
  elseif r[5] then
    found[u] = 'told'
  else
    record[u] = r
    for j = 1, #workers do
      if call('SISMEMBER', 'conv:worker:active:' .. workers[j], u) == 1 then found[u] = 'running' end
    end
    if not found[u] and call('LPOS', 'conv:queue:' .. r[1], r[2]) then found[u] = 'queued' end
    if not found[u] then
      left[u] = true
      queues[r[1]] = true
    end
  end
end

-- of_attempt tells whether an entry is of an attempt, or does not say of which: the value stands behind the label in a map entry.
local function of_attempt(e, attempt)
  local label = 'waybill-attempt'
  return not string.find(e, label, 1, true) or string.find(e, label .. '\18' .. string.char(#attempt) .. attempt, 1, true)
end

-- search reads their entries, whose first field is the uuid, for jobs that were not found yet.
local function search(entries, place)
  for i = 1, #entries do
    local e = entries[i]
    local n, from = byte(e, 2), 3
    if byte(e, 1) == 10 and n then
      if n >= 128 then
        n, from = n - 128 + 128 * (byte(e, 3) or 0), 4
      end
      local u = sub(e, from, from + n - 1)
      if left[u] and place ~= 'failed' then
        found[u] = place
      elseif left[u] and not found[u] and of_attempt(e, record[u][3]) then
        found[u] = 'failed ' .. e
      end
    end
  end
end
local function pages(read, key, place)
  local from = 0
  while true do
    local entries = call(read, key, string.format('%.0f', from), string.format('%.0f', from + 499))
    search(entries, place)
    if #entries < 500 then return end
    from = from + 500
  end
end
if next(left) then
  for q in pairs(queues) do pages('LRANGE', 'conv:queue:' .. q, 'queued') end
  pages('ZRANGE', KEYS[2], 'scheduled')
  pages('LRANGE', KEYS[3], 'failed')
end

local out = {}
for i = 3, #ARGV do
  local u = ARGV[i]
  local r, key = record[u], 'conv:job:' .. ARGV[i]
  if not found[u] and call('EXISTS', key) == 1 and call('EXISTS', key .. ':children', key .. ':active', key .. ':onComplete') > 0 then
    found[u] = 'closing'
  end
  if found[u] == 'running' then call('HSETNX', prefix .. u, 'started', time[1]) end
  if found[u] then
    if r and r[4] then call('HDEL', prefix .. u, 'absent') end
  else
    found[u] = 'absent'
    local since = r[4] or string.format('%.0f', now)
    if not r[4] then call('HSET', prefix .. u, 'absent', since) end
    if now - tonumber(since) >= limit then
      call('HDEL', prefix .. u, 'absent', 'started')
      call('LPUSH', 'conv:queue:' .. r[1], r[2])
      found[u] = 'again'
    end
  end
  out[#out + 1] = found[u]
end
return out
