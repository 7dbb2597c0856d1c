-- exchange: acknowledges a batch of attempts and reserves the next.
-- KEYS: 1 <prefix>status.
-- ARGV: caller, number, worker ('' for none), lease in ms and for whom it is, how many are wanted, number of queues, the queues in the
--   order to take from; then the attempts, each: uuid, fence, <verdict>[<delay ms>:<options>], and by its options
--   f the failure text, r the result, s the sync, packed, that the next execution gets. Verdicts: D done, T retry, F failed, H hold,
--   B handed back, N no handler, W defer, L none: the attempt goes on with
--   a lease of the delay, if it has one.
-- Replies: a text, then the bytes of each reserved job ('' when it is not held any more), then "<uuid> <sync>" of those that carry
--   any. The text's lines: now, ms until the next due time, 1 when to call again at once, jobs expired, jobs obsolete; outdated
--   indexes; damaged keys; then one line per reserved job:
--   uuid fence attempts lost opening, and of a job with max_cycles <most>:<used>.
-- Errors: OUTDATED number; CORRUPT <key> ...
check_fixed()
local caller, number, worker, lease, want = ARGV[1], ARGV[2], ARGV[3], tonumber(match(ARGV[4], '^%d+')), tonumber(ARGV[5])
local holder = match(ARGV[4], ' (.+)$')
local call_key, calls = PRE .. 'call:' .. caller, PRE .. 'callers'
need('string', 'call:' .. caller)
need('zset', 'workers', 'callers')
need('hash', 'queues')
if worker ~= '' then
  need('zset', 'worker:' .. worker .. ':jobs')
  need('hash', 'worker:' .. worker)
end
if fault then return redis.error_reply(fault) end

-- add_sync appends what these jobs carry from their last execution, to the reply that has their bytes.
local function add_sync(out, rs)
  local us = {}
  for i = 1, #rs do
    if rs[i] and has(rs[i], 's') then us[#us + 1] = rs[i].u end
  end
  if #us == 0 then return end
  if not is(PRE .. 'sync', 'hash') then return damage(PRE .. 'sync') end
  local got = call('HMGET', PRE .. 'sync', unpack(us))
  for i = 1, #us do out[#out + 1] = us[i] .. ' ' .. (got[i] or '') end
end

do
-- replay answers a repeated call: its text, and the bytes of the jobs reserved then; those lost since are left out.
local function replay(text)
  local us, keys, out = {}, {}, {text}
  for u, f in gmatch(text, '\n(%S+) (%d+) %d+ %d+ %d+') do
    us[#us + 1] = {u, f}
    keys[#keys + 1] = PRE .. 'jobs:' .. u
  end
  if #us == 0 then return out end
  local ids = {}
  for i = 1, #us do ids[i] = us[i][1] end
  load(ids)
  local got = call('MGET', unpack(keys))
  for i = 1, #us do
    local r = S[us[i][1]]
    out[i + 1] = r and r.st == 'r' and r.f == us[i][2] and got[i] or ''
    us[i] = out[i + 1] ~= '' and r
  end
  add_sync(out, us)
  return out
end

local last = call('GET', call_key)
if last then
  local n, text = match(last, '^(%d+)\n(.*)$')
  if n == number then return replay(text) end
  if tonumber(n or 0) > tonumber(number) then return redis.error_reply('OUTDATED number ' .. number .. ' after ' .. n) end
end
end

local queues, acks = {}, {}
do
local at, us = 7, {}
for i = 1, tonumber(ARGV[6]) do
  queues[i] = ARGV[at]
  at = at + 1
end
local argc = #ARGV
while at <= argc do
  local a = {u = ARGV[at], f = ARGV[at + 1], v = ARGV[at + 2], d = 0}
  at = at + 3
  if #a.v > 1 then
    local v, d, o = match(a.v, '^(%a)(%d+):(%a*)$')
    a.v, a.d = v, tonumber(d)
    if find(o, 'f', 1, true) then
      a.failure = ARGV[at]
      at = at + 1
    end
    if find(o, 'r', 1, true) then
      a.result = ARGV[at]
      at = at + 1
    end
    if find(o, 's', 1, true) then
      a.sync = ARGV[at]
      at = at + 1
      need('hash', 'sync')
    end
  end
  acks[#acks + 1] = a
  us[#us + 1] = a.u
end
if fault then return redis.error_reply(fault) end
load(us)
end

release_due(max(0, min(100, BUDGET - #acks)))
take_todo(max(0, BUDGET - #acks - #changed))

-- The phases stand in blocks of their own: with its pieces a script has room for 200 locals.
local outdated, overdue, more = {}
do
-- spend counts an execution of a job with max_cycles, and tells whether it was the last.
local function spend(r, v)
  if v == 'B' or v == 'N' then return false end
  local most, used = match(r.N, '^(%d+):(%d+)$')
  r.N = most .. ':' .. num(used + 1)
  return used + 1 >= tonumber(most)
end

-- keep stores what an execution left for the next one. An occurrence has it until its own work is done; then its template gets the
-- latest that any of its executions left.
local function keep(r, a)
  if a.sync and (a.v == 'D' or a.v == 'W' and not has(r, 'c')) then
    carry.give(r, 's', a.sync)
    if r.C then flag(r, 'u') end
  end
  if a.v ~= 'D' or not has(r, 'u') then return end
  clear(r, 'u')
  local T = get(match(r.C, '^%d+:([^:]+)'))
  if not T or T.st ~= 't' then return end
  carry.give(T, 's', has(r, 's') and carry.text(r, 's'))
  touch(T, true)
end

local function acknowledge(r, a)
  if a.v == 'L' then
    if r.w then return end
    r.lease = now + a.d
    return touch(r, true)
  end
  r.W = nil
  r.w, r.lease = nil, nil
  touch(r)
  if a.failure then
    failures[#failures + 1] = r.u
    failures[#failures + 1] = a.failure
  end
  if a.v == 'T' or a.v == 'F' or a.v == 'H' then r.a = num(tonumber(r.a or 0) + 1) end
  local spent = r.N and spend(r, a.v)
  keep(r, a)
  if a.v == 'D' then
    if a.result then
      results[#results + 1] = r.u
      results[#results + 1] = a.result
    end
    clear(r, 'c')
    r.st, r.R = 'c', r.s and now - tonumber(r.s)
    settle(r)
  elseif has(r, 'c') then
    close_as(r, 'X')
  elseif a.v == 'F' then
    close_as(r, 'F')
  elseif a.v == 'H' then
    r.st = 'H'
  elseif a.v == 'B' then
    push(r, true)
  elseif a.v == 'N' then
    flag(r, 'p')
    if a.d > 0 then schedule(r, now + a.d) else push(r, true) end
  elseif spent then
    r.st = 'H'
  elseif a.d > 0 then
    schedule(r, now + a.d)
  else
    push(r)
  end
end

local parents = {}
for i, a in ipairs(acks) do
  local r = S[a.u]
  if r and r.i then
    for _, e in ipairs(edges(r.i)) do parents[#parents + 1] = e.u end
  end
end
load(parents)
for i, a in ipairs(acks) do
  local r = S[a.u]
  if r and r.st == 'r' and r.f == a.f then acknowledge(r, a) else outdated[#outdated + 1] = i - 1 end
end
-- Who reserves without a worker may be alone here: what others let go comes back first, so that it keeps its order.
local reaping = worker == '' and want > 0 and min(100, BUDGET - #changed)
overdue = reaping and (reaping <= 0 or reap(reaping) >= reaping)
more = settle_all()
flush_all_members()
flush_places()
end

local taken, expired, left, clipped = {}, 0
do
-- shed drops up to 200 tickets at the head of a list that are no job's place any more.
local function shed(key)
  local t, ids, nexts, k = call('LRANGE', key, -200, -1), {}, {}, 0
  for i = 1, #t do
    ids[i], nexts[i] = uuid_of(t[i])
    ids[i] = ids[i] or false
  end
  load(ids)
  for i = #t, 1, -1 do
    local r = ids[i] and S[ids[i]]
    if not ids[i] or r and r.bad then set_aside(key, t[i]) elseif holds(r, t[i], nexts[i], key) then break end
    k = k + 1
  end
  if k > 0 then call('LTRIM', key, 0, -(k + 1)) end
end

-- take reserves up to n jobs of one queue, lane by lane, dropping stale tickets. Where it met nothing else it drops many at a time;
-- what it does not get through is left for another call. A job that waited too long, and that no tick has met yet, ends instead.
local function take(q, n)
  for lane = 2, 0, -1 do
    local key = queue_key(q, num(lane))
    if not is(key, 'list') then
      damage(key)
    else
      local before
      for round = 1, 20 do
        if n <= 0 then return n end
        if n == before then shed(key) end
        before = n
        local t = call('RPOP', key, n)
        if not t or #t == 0 then break end
        local ids, nexts = {}, {}
        for i = 1, #t do
          ids[i], nexts[i] = uuid_of(t[i])
          ids[i] = ids[i] or false
        end
        load(ids)
        for i = 1, #t do
          local r = ids[i] and S[ids[i]]
          if not ids[i] or r and r.bad then
            set_aside(key, t[i])
          elseif holds(r, t[i], nexts[i], key) then
            n = n - 1
            if r.v and tonumber(match(r.v, '^%d+')) <= now then
              expired = expired + 1
              close_as(r, 'E')
            elseif carry.obsolete(r) then
              close_as(r, 'O')
            else
              r.st, r.w, r.lease, r.s = 'r', worker ~= '' and worker or nil, now + (tonumber(r.c) or lease), now_text
              r.f, r.j = num(tonumber(r.f or 0) + 1), nil
              r.W = holder
              if not has(r, 'b') then r.T = t[i] end
              touch(r)
              taken[#taken + 1] = r
            end
          end
        end
        if round == 20 and n > 0 then more = true end
      end
    end
  end
  return n
end

left = overdue and 0 or min(want, max(0, BUDGET - #changed))
clipped = left < want
local addressee = worker ~= '' and worker or holder
if left > 0 and addressee then -- its inbox comes first
  local own = '@' .. addressee
  local queued = call('HMGET', PRE .. 'depth', own .. ':1', own .. ':2')
  if queued[1] or queued[2] or woken[own] then left = take(own, left) end
end
if left > 0 and #queues > 0 then
  local settings = call('HMGET', PRE .. 'queues', unpack(queues))
  for i, q in ipairs(queues) do retention.queues[q] = settings[i] or '' end
  local running = call('HMGET', PRE .. 'slots', unpack(queues))
  for i, q in ipairs(queues) do
    local limit, paused, fair, hand
    if settings[i] then limit, paused, fair, hand = match(settings[i], '^(%d+):%d*:(%d):?(%d?):?%d*:?%d*:?(%d?)') end
    local n, free = left, nil
    if limit and limit ~= '0' then
      local used = tonumber(running[i] or 0)
      for _, r in ipairs(changed) do -- this call's own acknowledgements free slots
        if r.os == 'r' and r.oq == q then used = used - 1 end
        if r.st == 'r' and r.q == q then used = used + 1 end
      end
      free = max(0, tonumber(limit) - used)
      n = min(n, free)
    end
    if paused == '1' or hand == '1' then n = 0 end
    if fair == '1' and worker ~= '' and n > 0 then n = part_of(q, worker, n, free) end
    if n > 0 then left = left - (n - take(q, n)) end
    if left <= 0 then break end
  end
end
end

-- The bytes of reserved jobs are in jobs:<uuid> from now to the end. A job without bytes cannot run.
do
local set, held = {}, {}
for _, r in ipairs(taken) do
  if has(r, 'b') then
    held[#held + 1] = r
  else
    flag(r, 'b')
    set[#set + 1] = PRE .. 'jobs:' .. r.u
    set[#set + 1] = r.T
  end
end
for i = 1, #set, 500 do call('MSET', unpack(set, i, min(i + 499, #set))) end
if #held > 0 then
  local keys = {}
  for i, r in ipairs(held) do keys[i] = PRE .. 'jobs:' .. r.u end
  local got = call('MGET', unpack(keys))
  for i, r in ipairs(held) do
    r.T = got[i]
    if not got[i] then
      failures[#failures + 1] = r.u
      failures[#failures + 1] = 'the job\'s bytes are gone from the store'
      damage(keys[i])
      close_as(r, 'F')
    end
  end
end
end
if settle_all() or expired + carry.ended > 0 then more = true end

local lines, out, reserved = {}, {''}, {}
for _, r in ipairs(taken) do
  if r.st == 'r' then
    woken[r.q] = (woken[r.q] or 0) - 1 -- taken here: nobody else need wake for it
    lines[#lines + 1] = r.u .. ' ' .. r.f .. ' ' .. (r.a or '0') .. ' ' .. (r.l or '0') .. ' ' .. (r.g or '1')
    reserved[#reserved + 1] = r
    if r.N then lines[#lines] = lines[#lines] .. ' ' .. r.N end
    out[#out + 1] = r.T
  end
end
if worker ~= '' and call('ZADD', PRE .. 'workers', now_text, worker) == 1 then
  call('HSET', PRE .. 'worker:' .. worker, 'queues', concat(queues, ',')) -- until its beat says more
  crew[1] = 'joined ' .. worker
end
for _, q in ipairs(queues) do
  local key = PRE .. 'idle:' .. q
  if worker ~= '' and is(key, 'zset') then
    if left > 0 and not clipped then call('ZADD', key, num(now), worker) else call('ZREM', key, worker) end
  end
end
commit('exchange')
if cycle.waits then more = true end
local next_due = call('ZRANGE', PRE .. 'scheduled', 0, 0, 'WITHSCORES')[2]
next_due = next_due and max(1, floor(tonumber(next_due) * 1000 + 0.5) - now) or 0
local text = concat({num(now), num(next_due), (more or clipped) and '1' or '0', num(expired), num(carry.ended)}, ' ') .. '\n' ..
  concat(outdated, ',') .. '\n' .. concat(damaged, ',') .. '\n' .. concat(lines, '\n')
call('SET', call_key, number .. '\n' .. text)
if caller ~= worker then call('ZADD', calls, num(now), caller) end
out[1] = text
add_sync(out, reserved)
return out
