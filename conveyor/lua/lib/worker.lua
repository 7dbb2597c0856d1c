-- worker: how jobs come back from workers that died or leave, and what is removed with a worker.

local lost = 0 -- jobs taken from their owners in this call

-- lose takes a running job from an owner that died: it goes back to its place, unless it has killed too many workers.
local function lose(r, why)
  lost = lost + 1
  r.W = nil
  r.w = nil
  r.l = num(tonumber(r.l or 0) + 1)
  touch(r)
  local limit = tonumber(r.m or 5)
  if has(r, 'c') then
    close_as(r, 'X')
  elseif limit > 0 and tonumber(r.l) >= limit then
    failures[#failures + 1] = r.u
    failures[#failures + 1] = why .. '; lost ' .. r.l .. ' times, the limit is ' .. limit
    if has(r, 'o') then r.st = 'H' else close_as(r, 'F') end
  else
    push(r, true)
  end
end

-- reap takes up to n jobs from reservations whose lease has ended, and tells how many it met.
local function reap(n)
  local us = call('ZRANGEBYSCORE', PRE .. 'leases', '-inf', num(now), 'LIMIT', 0, n)
  load(us)
  for i = 1, #us do
    local r = S[us[i]]
    if r and r.st == 'r' and not r.w then
      if not r.lease then lose(r, 'the lease ended') end -- or this very call extends it
    else
      call('ZREM', PRE .. 'leases', us[i])
    end
  end
  return #us
end

-- give_back hands a worker's jobs to fn, as many as the budget allows, and tells whether none is left.
local function give_back(id, fn)
  local key = PRE .. 'worker:' .. id .. ':jobs'
  if not is(key, 'zset') then
    damage(key)
    return false
  end
  local n = max(1, BUDGET - #changed)
  local us = call('ZRANGE', key, 0, n)
  load(us)
  for i = 1, min(n, #us) do
    local r = S[us[i]]
    if r and r.st == 'r' and r.w == id then fn(r) else call('ZREM', key, us[i]) end
  end
  return #us <= n
end

-- retire removes what is kept for a worker beside its jobs, and announces how it went: it left or was lost.
local function retire(id, how)
  local key = PRE .. 'worker:' .. id
  local queues = is(key, 'hash') and call('HGET', key, 'queues') or ''
  for q in gmatch(queues or '', '[^,]+') do
    if is(PRE .. 'idle:' .. q, 'zset') then call('ZREM', PRE .. 'idle:' .. q, id) end
  end
  if call('ZREM', PRE .. 'workers', id) == 1 then crew[#crew + 1] = how .. ' ' .. id end
  call('DEL', key, PRE .. 'call:' .. id, PRE .. 'wake:' .. id)
end
