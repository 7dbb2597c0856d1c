-- closing: looks after jobs that a bridge handed over, whose own work is done and that have children in the fleet.
-- KEYS: 1 conv:scheduled, 2 conv:failed.
-- ARGV: what our keys begin with; ms that a child may be nowhere, and that a job may be left half closed; 1 to search their lists for
--   children, which is dear; the uuids; '' and the queues to search.
-- Replies: for each uuid 'waits', 'closed', or 'failed'.
local prefix, limit, search = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local time = call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local jobs, queues = {}, {}
do
  local into = jobs
  for i = 4, #ARGV do
    if ARGV[i] == '' then into = queues else into[#into + 1] = ARGV[i] end
  end
end

-- since is for how many ms a mark of a record stands. It is set when it is not.
local function since(record, mark)
  call('HSETNX', record, mark, string.format('%.0f', now))
  return now - tonumber(call('HGET', record, mark))
end

-- First what is cheap: children that failed, are ours, or are registered somewhere. The others are searched for.
local unknown, left = {}, false
for _, uuid in ipairs(jobs) do
  local record = prefix .. 'job:' .. uuid
  for _, child in ipairs(call('SMEMBERS', 'conv:job:' .. uuid .. ':active')) do
    if call('HEXISTS', record, 'failed:' .. child) == 0 and call('EXISTS', prefix .. 'client:' .. child, 'conv:job:' .. child) == 0
      and call('SISMEMBER', 'conv:jobs:active', child) == 0 then
      unknown[child] = 'nowhere'
      left = true
    end
  end
end
local function find(entries, failed)
  for _, e in ipairs(entries) do
    local job = decode(e)
    if job and unknown[job.uuid] == 'nowhere' then unknown[job.uuid] = failed and {job.failure} or 'waits' end
  end
end
local function pages(read, key, failed)
  local from = 0
  while true do
    local entries = call(read, key, string.format('%.0f', from), string.format('%.0f', from + 199))
    find(entries, failed)
    if #entries < 200 then return end
    from = from + 200
  end
end
if left and search then
  for _, q in ipairs(queues) do pages('LRANGE', q) end
  pages('ZRANGE', KEYS[1])
  for _, uuid in ipairs(jobs) do find(call('LRANGE', 'conv:job:' .. uuid .. ':children', 0, -1)) end
  pages('LRANGE', KEYS[2], true)
end

local out = {}
for _, uuid in ipairs(jobs) do
  local key, record = 'conv:job:' .. uuid, prefix .. 'job:' .. uuid
  local reply, failure, waiting, members = 'waits', nil, 0, call('SMEMBERS', key .. ':active')
  if call('EXISTS', record) == 1 and call('HEXISTS', record, 'outcome') == 0 then
    call('HSET', record, 'closing', 1)
    for _, child in ipairs(members) do
      local found = unknown[child]
      if search and type(found) == 'table' then
        call('HSET', record, 'failed:' .. child, found[1])
      elseif search and found == 'nowhere' and since(record, 'missing:' .. child) >= limit then
        call('HSET', record, 'failed:' .. child, 'the fleet lost it')
      elseif search and found ~= 'nowhere' then
        call('HDEL', record, 'missing:' .. child)
      end
      local why = call('HGET', record, 'failed:' .. child)
      if why then failure = failure or 'child ' .. child .. ' failed: ' .. why else waiting = waiting + 1 end
    end
    local children = call('EXISTS', key .. ':children') == 1
    if children or #members == 0 then
      -- A worker of theirs is closing it, or ended meanwhile; or a child that they tried again was put back here, where nobody looks.
      if since(record, 'stalled') >= limit then
        call('HDEL', record, 'stalled')
        close(prefix, uuid, true)
        reply = 'closed'
      end
    else
      call('HDEL', record, 'stalled')
      if waiting == 0 then
        call('HSET', record, 'outcome', 'failed', 'failure', failure, 'final', 1)
        bury(prefix, key .. ':onComplete', 'predecessor ' .. uuid .. ' did not complete: ' .. failure)
        call('DEL', key, key .. ':active')
        reply = 'failed'
      end
    end
  end
  out[#out + 1] = reply
end
return out
