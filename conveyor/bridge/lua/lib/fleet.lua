-- What several scripts know of the fleet: how its jobs are read, and the order of steps by which its workers close one.
-- It stands before the text of each script that needs it.
local call = redis.call

-- varint reads a number of s at i: it and the place behind it, or nil.
local function varint(s, i)
  local v, m = 0, 1
  for j = i, i + 9 do
    local b = string.byte(s, j)
    if not b then return nil end
    v = v + (b % 128) * m
    if b < 128 then return v, j + 1 end
    m = m * 128
  end
end

-- decode reads of a marshalled job what scripts decide by, or gives nil when it is none. handed: a bridge handed it to the fleet.
local function decode(s)
  local job, i = {uuid = '', queue = '', parent = '', failure = ''}, 1
  while i <= #s do
    local tag, n
    tag, i = varint(s, i)
    if not tag or tag < 8 then return nil end
    local wire, field = tag % 8, math.floor(tag / 8)
    if wire == 0 then
      n, i = varint(s, i)
      if not n then return nil end
    elseif wire == 1 then i = i + 8
    elseif wire == 5 then i = i + 4
    elseif wire == 2 then
      n, i = varint(s, i)
      if not n or i + n - 1 > #s then return nil end
      local text = field ~= 4 and string.sub(s, i, i + n - 1)
      if field == 1 then job.uuid = text
      elseif field == 3 then job.queue = text
      elseif field == 6 then job.parent = text
      elseif field == 11 then job.failure = text
      elseif field == 107 and string.sub(text, 1, 17) == '\10\15waybill-attempt' then job.handed = true
      end
      i = i + n
    else
      return nil
    end
    if i > #s + 1 then return nil end
  end
  return job
end

-- With a field once more at its end a message has the later value: status COMPLETED, and the text of a failure.
local function completed(bytes) return bytes .. '\96\3' end
local function with_failure(bytes, text)
  text = string.sub(text, 1, 4000)
  return bytes .. '\90' .. string.char(128 + #text % 128, math.floor(#text / 128)) .. text
end

-- push puts an entry of a list of waiting jobs into its queue. What is no job is set aside. It tells whether it was one.
local function push(prefix, from, e, active)
  local job = decode(e)
  if not job or job.uuid == '' or job.queue == '' then
    call('RPUSH', prefix .. 'setaside', from .. ' ' .. e)
    return false
  end
  if active then call('SADD', active, job.uuid) end
  call('LPUSH', 'conv:queue:' .. job.queue, e)
  return true
end

-- bury moves what waits in a list to their failed jobs: theirs would delete it.
local function bury(prefix, list, why)
  while true do
    local e = call('RPOP', list)
    if not e then return end
    if decode(e) then
      call('LPUSH', 'conv:failed', with_failure(e, why))
    else
      call('RPUSH', prefix .. 'setaside', list .. ' ' .. e)
    end
  end
end

-- close does what a worker of theirs does once a job's own work is done, in the same order: releases its children; when there are none
-- and none is left, releases its heirs, removes it, tells that it is completed, and goes on with its parent. The outcome of a job that
-- a bridge of the namespace handed over is noted as well. forced: also if the job is said to run.
local function close(prefix, uuid, forced)
  while true do
    local key = 'conv:job:' .. uuid
    local bytes = call('GET', key)
    local job = bytes and decode(bytes)
    if not job or not forced and call('SISMEMBER', 'conv:jobs:active', uuid) == 1 then return end
    local n = 0
    while true do
      local e = call('RPOP', key .. ':children')
      if not e then break end
      if push(prefix, key .. ':children', e, key .. ':active') then n = n + 1 end
    end
    if n > 0 or call('SCARD', key .. ':active') > 0 then return end
    while true do
      local e = call('RPOP', key .. ':onComplete')
      if not e then break end
      push(prefix, key .. ':onComplete', e)
    end
    if job.parent ~= '' then call('SREM', 'conv:job:' .. job.parent .. ':active', uuid) end
    call('DEL', key)
    call('SREM', 'conv:jobs:active', uuid)
    call('PUBLISH', 'conv:events', completed(bytes))
    if call('EXISTS', prefix .. 'job:' .. uuid) == 1 then
      call('HSET', prefix .. 'job:' .. uuid, 'outcome', 'completed')
    end
    if job.parent == '' then return end
    uuid, forced = job.parent, false
  end
end

