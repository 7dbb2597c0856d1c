-- inbox: what goes to one worker, or to all. A worker's inbox is the queue @<worker>, which comes before its other queues: lane 2 has
-- what goes to all, lane 1 what goes to it alone. A job for all (flag A) is never run itself: each worker that is alive at the
-- add gets one of its own, and then it is done. jobs:<u>:inboxes lists whom a later call has to think of, behind the status
-- entry that these jobs start from.
do
local DEAD = 6000 -- ms of silence after which a worker is not alive: DeadAfter in registry.go

-- begin ends a job for all once it is handed out to those that are alive. A bridge to other systems is no worker.
function inbox.begin(r, entry)
  r.to, r.entry = {}, entry
  for _, id in ipairs(call('ZRANGEBYSCORE', PRE .. 'workers', '(' .. num(now - DEAD), '+inf')) do
    local key = PRE .. 'worker:' .. id
    if not is(key, 'hash') or call('HEXISTS', key, 'bridge') == 0 then r.to[#r.to + 1] = id end
  end
  r.st = 'c'
  settle(r)
end

-- hand stores the job of one worker.
local function hand(r, id, entry, text, packed)
  local u = cycle.uuid_from(r.u .. '@' .. id)
  if get(u) then return end
  local d = sprout(u, entry)
  local _, at = uuid_of(text)
  d.q, d.ln, d.y = '@' .. id, '2', nil
  d.T = cycle.field('\10', u) .. sub(text, at or 1) ..
    cycle.field('\210\7', '\8\2' .. cycle.field('\18', id) .. cycle.field('\26', r.u)) -- Delivery{to: WORKER, worker, of}
  S[u] = d
  if packed ~= '' then labels.give(d, packed) end
  for _, f in ipairs({'s', 'v'}) do carry.give(d, f, has(r, f) and carry.text(r, f)) end
  if has(r, 'b') then
    flag(d, 'b')
    call('SET', PRE .. 'jobs:' .. u, d.T)
  end
  push(d)
end

-- deliver hands a job for all out, as far as the budget allows, and tells whether that is all.
function inbox.deliver(r)
  local key, job = PRE .. 'jobs:' .. r.u .. ':inboxes', PRE .. 'jobs:' .. r.u
  local to, entry = r.to, r.entry
  if not to then
    local bad = not is(key, 'list') and key or has(r, 'l') and not is(labels.key, 'hash') and labels.key
    if bad then
      damage(bad)
      r.parked = true
      return false
    end
    to = call('LRANGE', key, 0, -1)
    if #to == 0 then return true end
    call('DEL', key)
    entry = table.remove(to, 1)
  end
  r.to = nil
  local text = r.T or is(job, 'string') and call('GET', job)
  if has(r, 'c') or not text then return true end
  local n, packed = 0, has(r, 'l') and (labels.given[r.u] or call('HGET', labels.key, r.u)) or ''
  while n < #to and #changed < BUDGET do
    n = n + 1
    hand(r, to[n], entry, text, packed)
  end
  if n == #to then return true end
  if not has(r, 'b') then
    flag(r, 'b')
    call('SET', job, text)
  end
  many('RPUSH', key, {entry, unpack(to, n + 1)})
  return false
end
end
