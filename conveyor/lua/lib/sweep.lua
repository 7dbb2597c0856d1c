-- sweep: what retention takes away. A job with a record keeps status, result and labels; nothing else of it stays. An occurrence
-- stays as long again while its cycle lives: by its entry it is known that it was made.
local postponed = 0
local function sweep_job(r)
  if r.C and cycle.lives(r) then
    postponed = postponed + 1
    r.expire = true
    return touch(r, true)
  end
  if not has(r, 'r') then return forget(r, true) end
  call('DEL', PRE .. 'jobs:' .. r.u .. ':log')
  call('HDEL', PRE .. 'failed', r.u)
  call('HDEL', PRE .. 'progress', r.u)
end

-- sweep_queue takes up to n of a queue's oldest ended jobs and tells how many it met. A job that ended again later is met
-- again then.
local function sweep_queue(q, n)
  local key, sweeps = PRE .. 'ended:' .. q, PRE .. 'sweeps'
  if not is(key, 'list') then
    damage(key)
    call('ZADD', sweeps, num(now + 10000), q)
    return 0
  end
  local ms, count = retention.kept(q)
  local len, got, us, ends = call('LLEN', key), call('LRANGE', key, -n, -1), {}, {}
  for i = #got, 1, -1 do
    local at, u = match(got[i], '^(%d+) (.+)$')
    if at and tonumber(at) > now - ms and len - #us <= count then break end
    us[#us + 1], ends[#ends + 1] = u or false, tonumber(at or 0)
  end
  load(us)
  for i = 1, #us do
    local r = us[i] and S[us[i]]
    if r and ENDED[r.st] and tonumber(r.t or 0) <= ends[i] then sweep_job(r) end
  end
  call('LTRIM', key, 0, -(#us + 1))
  if #us == len then
    call('ZREM', sweeps, q)
  elseif #us < n then
    call('ZADD', sweeps, num(tonumber(match(got[#got - #us], '^%d+')) + ms), q)
  end
  return #us
end

-- sweep takes up to n jobs in all and tells whether more may be due. What was postponed is no reason to come back at once.
local function sweep(n)
  for _, q in ipairs(call('ZRANGEBYSCORE', PRE .. 'sweeps', '-inf', num(now), 'LIMIT', 0, 20)) do
    n = n - sweep_queue(q, n)
    if n <= 0 then return postponed == 0 end
  end
  local us = call('ZRANGEBYSCORE', PRE .. 'removals', '-inf', num(now), 'LIMIT', 0, n)
  load(us)
  for i = 1, #us do
    local r = S[us[i]]
    if r and r.r and ENDED[r.st] then sweep_job(r) end
  end
  many('ZREM', PRE .. 'removals', us)
  return #us >= n and postponed == 0
end

-- expire ends up to n jobs that waited too long for their first start, and tells whether there may be more.
local function expire(n)
  local us = n > 0 and call('ZRANGEBYSCORE', PRE .. 'expiry', '-inf', num(now), 'LIMIT', 0, n) or {}
  load(us)
  for i = 1, #us do
    local r = S[us[i]]
    if r and r.v and WAITS[r.st] then close_as(r, 'E') else call('ZREM', PRE .. 'expiry', us[i]) end
  end
  return n <= 0 or #us >= n
end
