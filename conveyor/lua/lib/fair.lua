-- fair: how many jobs of a fair queue one worker gets. Jobs are dealt out like water that finds its level: each goes to the
-- worker with the least to do that has a free slot, and among equals to the one who asks.

-- loads are what the other workers of a queue run now and the slots they have, of up to 200 that showed up last. One that
-- told no number of slots, as it sent no beat yet or drains, is dealt nothing.
local function loads(q, worker)
  local out = {}
  for _, id in ipairs(call('ZREVRANGE', PRE .. 'workers', 0, 199)) do
    local key = PRE .. 'worker:' .. id
    if id ~= worker and is(key, 'hash') and is(key .. ':jobs', 'zset') then
      local f = call('HMGET', key, 'capacity', 'queues')
      local slots = tonumber(f[1] or 0)
      if slots and slots > 0 and find(',' .. (f[2] or '') .. ',', ',' .. q .. ',', 1, true) then
        local load = call('ZCARD', key .. ':jobs')
        if load < slots then out[#out + 1] = {id = id, load = load, slots = slots} end
      end
    end
  end
  return out
end

-- part_of tells how many of a queue's jobs the worker may take, at most n, and wakes those to whom it leaves some. free is
-- how many may start at all, nil for any number.
local function part_of(q, worker, n, free)
  local queued, own = 0, call('ZCARD', PRE .. 'worker:' .. worker .. ':jobs')
  for _, c in ipairs(call('HMGET', PRE .. 'depth', q .. ':0', q .. ':1', q .. ':2')) do queued = queued + tonumber(c or 0) end
  for i = 1, #changed do -- the counters do not have this call's changes yet
    local r = changed[i]
    if r.os == 'q' and r.oq == q then queued = queued - 1 end
    if r.st == 'q' and r.q == q then queued = queued + 1 end
    if r.os == 'r' and r.ow == worker then own = own - 1 end
    if r.st == 'r' and r.w == worker then own = own + 1 end
  end
  queued = min(queued, free or queued)
  local others = loads(q, worker)
  -- The k-th job is the worker's when those before it bring all others up to its level and some are left.
  local function gets(k)
    local before = k - 1
    for i = 1, #others do
      local o = others[i]
      before = before + max(0, min(o.slots, own + k - 1) - o.load)
    end
    return before < queued
  end
  local low, high = 0, min(n, max(queued, 0))
  local most = high
  while low < high do
    local k = floor((low + high + 1) / 2)
    if gets(k) then low = k else high = k - 1 end
  end
  -- Only those with less to do are woken: two that leave a job to a third do not keep waking each other.
  local idle, spare = PRE .. 'idle:' .. q, most - low
  for i = 1, spare > 0 and is(idle, 'zset') and #others or 0 do
    local o = others[i]
    if spare > 0 and o.load < own + low and call('ZREM', idle, o.id) == 1 then
      wake(o.id, q)
      spare = spare - 1
    end
  end
  return low
end
