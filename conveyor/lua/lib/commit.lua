-- commit: writes all changed records at once, with everything that follows from a state: depth and slot counters,
-- the lists of workers' jobs, leases, unique keys, labels, retention, the job's bytes, the event and the wake-ups. Since these follow the status
-- here and nowhere else they cannot disagree with it.
local results, failures = {}, {} -- uuid, bytes, ...
local first_seq

local function flush_each(cmd, want, t)
  for key, list in pairs(t) do
    if is(key, want) then many(cmd, key, list) else damage(key) end
  end
end

-- wake tells an idle worker of a queue. It is a hint: whatever stands in the way, the tick of the worker comes.
local function wake(id, q)
  local key = PRE .. 'wake:' .. id
  try('LPUSH', key, q)
  try('LTRIM', key, 0, 0)
  try('PEXPIRE', key, 10000)
end

-- held_key is the index of running jobs that a job is in: its worker's list or the leases.
local held_keys = {}
local function held_key(owner)
  if not owner then return PRE .. 'leases' end
  local key = held_keys[owner]
  if not key then
    key = PRE .. 'worker:' .. owner .. ':jobs'
    held_keys[owner] = key
  end
  return key
end

-- What only commit needs is local to this block: a script has at most 200 locals in all.
local commit
do
local function bump(t, field, by) t[field] = (t[field] or 0) + by end

-- bump_lane counts queued jobs; lanes are told apart by the key of their list.
local function bump_lane(t, r_q, r_ln, by)
  local key = queue_key(r_q, r_ln)
  local c = t[key]
  if not c then
    c = {q = r_q, ln = r_ln, n = 0}
    t[key] = c
  end
  c.n = c.n + by
end

-- empty_lane removes what stands in the list of a lane without queued jobs: stale tickets.
local function empty_lane(key)
  if not is(key, 'list') then return end
  local t = call('LRANGE', key, -1000, -1)
  for i = 1, #t do
    if not uuid_of(t[i]) then set_aside(key, t[i]) end
  end
  if #t > 0 then call('LTRIM', key, 0, -(#t + 1)) end
end

-- flush_count moves a counter, which never stays at zero; it tells whether it came to zero.
local function flush_count(key, field, by)
  if by ~= 0 and call('HINCRBY', key, field, by) == 0 then
    call('HDEL', key, field)
    return true
  end
end

-- keep_failed saves the bytes of failed jobs before jobs:<u> goes, so that they can be retried.
local function keep_failed(us)
  for i = 1, #us do
    local v = try('GET', PRE .. 'jobs:' .. us[i])
    if v and not v.err then call('HSET', PRE .. 'failed', us[i], v) end
  end
end

-- backwards has the pairs of a list in the opposite order. For each member that is added a small sorted set is walked, first to find
-- it, then from the lowest score to its place: it is shortest when others have gone before, and falling scores are in place at once.
local function backwards(list)
  local out, n = {}, #list
  for i = 1, n, 2 do out[i], out[i + 1] = list[n - i], list[n - i + 1] end
  return out
end

-- commit also tells the event; fields are what it says beside jobs and workers.
function commit(script, fields)
  local depth, slots, given = {}, {}, labels.given
  local zadd, zrem, hdel, begun = {}, {}, {}, {}
  local set, told, failed, past, over, keyed, labelled, moved = {}, {}, {}, {}, {}, {}, {}, {}
  for i = 1, #changed do
    local r = changed[i]
    local st, was = r.gone and '' or r.st, r.os
    if was == 'q' then
      bump_lane(depth, r.oq, r.ol, -1)
      if st ~= 'r' and (st ~= 'q' or r.n ~= r.on) then
        flag(r, 'd') -- its ticket stays behind in the list
      end
    elseif was == 'r' then
      bump(slots, r.oq, -1)
      if st ~= 'r' then r.j = nil end -- its attempt sends nothing more
      if st ~= 'r' or r.w ~= r.ow then append(zrem, held_key(r.ow), r.u) end
    elseif was == 's' and r.od and (st ~= 's' or r.d ~= r.od) then
      local score = score_of(r.od)
      past[score] = past[score] or {}
      past[score][r.u] = true
    end
    if st == 'q' then
      bump_lane(depth, r.q, r.ln, 1)
    elseif st == 'r' then
      bump(slots, r.q, 1)
      if r.lease and r.w then -- it was reserved just now
        append(begun, held_key(r.w), r.n > 0 and place_text(r) or '0', r.u)
      elseif r.lease then
        append(zadd, held_key(), num(r.lease), r.u)
      end
    elseif ENDED[st] or r.gone then
      if r.expire and not r.r and not r.gone then append(over, r.q, now_text .. ' ' .. r.u) end
      if has(r, 'b') then
        if st == 'F' then failed[#failed + 1] = r.u end
        dels[#dels + 1] = PRE .. 'jobs:' .. r.u
        clear(r, 'b')
      end
      if has(r, 'm') then
        dels[#dels + 1] = edges_key(r.u)
        clear(r, 'm')
      end
    end
    if r.r or r.v or r.ov or r.oa then retention.note(r, st, zadd, zrem) end
    local crossed = not ENDED[st] ~= not ENDED[was] or r.gone -- from live to over, or back, or away
    if r.y ~= r.oy or crossed and r.y then keyed[#keyed + 1] = r end
    if given[r.u] or crossed and has(r, 'l') then labelled[#labelled + 1] = r end
    if r.C and (crossed or not was) then moved[#moved + 1] = r end
    if r.gone then
      for _, h in ipairs({'status', 'results', 'failures', 'failed', 'progress'}) do append(hdel, PRE .. h, r.u) end
      dels[#dels + 1] = PRE .. 'jobs:' .. r.u .. ':log'
      carry.drop(r, hdel)
      told[#told + 1] = r.u .. ' '
    else
      local text = encode(r)
      if text ~= r.was then
        set[#set + 1] = r.u
        set[#set + 1] = text
      end
      if r.loud and (text ~= r.was or r.shown) then told[#told + 1] = r.u .. ' ' .. text end
    end
  end
  unschedule(past)
  unique.commit(keyed)
  labels.commit(labelled)
  carry.commit()
  if #moved > 0 then cycle.commit(moved, zadd, zrem) end
  flush_all_members()
  flush_places()
  keep_failed(failed)
  many('HSET', PRE .. 'status', set)
  many('HSET', PRE .. 'results', results)
  many('HSET', PRE .. 'failures', failures)
  retention.keep(over)
  for key, c in pairs(depth) do -- a lane without queued jobs holds stale tickets only
    if flush_count(PRE .. 'depth', c.q .. ':' .. c.ln, c.n) then empty_lane(key) end
  end
  for q, by in pairs(slots) do flush_count(PRE .. 'slots', q, by) end
  flush_each('ZADD', 'zset', zadd)
  flush_each('ZREM', 'zset', zrem)
  for key, list in pairs(begun) do begun[key] = backwards(list) end
  flush_each('ZADD', 'zset', begun)
  flush_each('HDEL', 'hash', hdel)
  for i = 1, #dels, 500 do call('DEL', unpack(dels, i, min(i + 499, #dels))) end
  if seq ~= first_seq then call('SET', PRE .. 'seq', num(seq)) end
  tell(script, told, fields)
  -- A freed slot of a limited queue is as good as a job that became ready.
  for q, by in pairs(slots) do
    if by < 0 then
      local limit = match(retention.settings(q), '^(%d+)')
      if limit and limit ~= '0' then woken[q] = (woken[q] or 0) - by end
    end
  end
  for q, n in pairs(woken) do
    local id = n > 0 and match(q, '^@(.*)$')
    if id and is(PRE .. 'workers', 'zset') and call('ZSCORE', PRE .. 'workers', id) then wake(id, q) end
    local key = PRE .. 'idle:' .. q
    local ids = n > 0 and is(key, 'zset') and call('ZPOPMIN', key, min(n, 10)) or {}
    for i = 1, #ids, 2 do wake(ids[i], q) end
  end
end
end

-- check_fixed refuses a call that would meet one of the namespace's own keys with a wrong type.
local function check_fixed()
  need('hash', 'status', 'depth', 'slots', 'results', 'failures', 'failed', 'progress')
  need('zset', 'scheduled', 'todo', 'leases')
  check_log()
  seq = counter('seq')
  first_seq = seq
end
