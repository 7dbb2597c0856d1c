-- place: where a job that has nothing left to wait for goes, and how jobs come back to their places.
-- The pushes are collected and written by flush_places, each list with one call.
local seq = 0        -- the last place given; read by check_fixed
local pushes = {}    -- queue key -> record, place, ... in the order they became ready
local comebacks = {} -- queue key -> records that go back to their places at the head
local waits = {}     -- records that wait for their time
local woken = {}     -- queue -> how many jobs became ready in it
local strict_keys    -- a queue key of the wrong type refuses the call, instead of delaying the job

-- score_of is a time as the score of `scheduled`: epoch seconds with their milliseconds, never rounded.
local function score_of(ms) return string.format('%.3f', tonumber(ms) / 1000) end

-- queue_key is the list of one lane; the names are made once.
local queue_key
do
local queue_keys = {} -- lane -> queue -> key
function queue_key(q, lane)
  local by = queue_keys[lane]
  if not by then
    by = {}
    queue_keys[lane] = by
  end
  local key = by[q]
  if not key then
    key = PRE .. 'queue:' .. q .. (lane == '1' and '' or ':' .. lane)
    by[q] = key
  end
  return key
end
end

-- schedule is the step "Scheduling Jobs" of the specification: a job that is not due waits in `scheduled`.
local function schedule(r, due)
  r.st, r.d = 's', num(due)
  if r.n == 0 then
    seq = seq + 1
    r.n = seq -- orders jobs with one and the same time
  end
  waits[#waits + 1] = r
  touch(r)
end

-- push is the step "Push Job": the job is ready and takes the next place of its queue and lane. A job that comes
-- back keeps its place.
local function push(r, back)
  local key = queue_key(r.q, r.ln)
  local coming = pushes[key]
  if not coming and not is(key, 'list') then
    if strict_keys then refuse('CORRUPT push ' .. key .. ' is a ' .. kind(key) .. ', not a list') end
    damage(key)
    if back then flag(r, 'p') end
    return schedule(r, now + 2000)
  end
  if back and r.n > 0 then
    comebacks[key] = comebacks[key] or {}
    table.insert(comebacks[key], r)
  else
    seq = seq + 1
    r.n = seq
    if not coming then
      coming = {}
      pushes[key] = coming
    end
    local n = #coming
    coming[n + 1], coming[n + 2] = r, seq
  end
  if r.i and find(r.i, '%+[dl]') and not has(r, 'w') then
    for _, e in ipairs(edges(r.i)) do
      local dead = e.k == 'd' or e.k == 'l'
      local P = dead and get(e.u)
      if dead and (not P or opening(P) == e.o) then -- the step "Dead Parent Handling"; a later opening does not wait
        local active = active_key(e.u)
        if strict_keys and not is(active, 'set') then
          refuse('CORRUPT deadparent ' .. active .. ' is a ' .. kind(active) .. ', not a set')
        end
        join(e.u, r.u)
      end
    end
  end
  r.st, r.d = 'q', nil
  clear(r, 'p')
  woken[r.q] = (woken[r.q] or 0) + 1
  touch(r)
end

-- holds tells whether ticket t, found in the queue list of this key, is where job r is.
local function holds(r, t, next, key)
  if not r or r.st ~= 'q' or queue_key(r.q, r.ln) ~= key then return false end
  if is_full(t, next) then return not has(r, 'd') end
  return t == slim(r.u, r.n)
end

local flush_places
do
local function queue_ticket(r)
  if has(r, 'b') or not r.T then return slim(r.u, r.n) end
  return r.T
end

-- put_back inserts jobs at the head of a list (its right end) so that places rise from the right. Only jobs that came
-- back earlier can stand there with smaller places, so few are moved.
local function put_back(key, list)
  local all, top = {}, 0
  for i = 1, #list do
    local r = list[i]
    if r.st == 'q' then -- still: it may have ended in the same call
      all[#all + 1] = {n = r.n, t = queue_ticket(r)}
      top = max(top, r.n)
    end
  end
  while true do
    local head = call('LRANGE', key, -20, -1)
    local us, nexts = {}, {}
    for i = 1, #head do
      us[i], nexts[i] = uuid_of(head[i])
      us[i] = us[i] or false
    end
    load(us)
    local cut = 0
    for i = #head, 1, -1 do
      local r = us[i] and S[us[i]]
      if not us[i] then
        set_aside(key, head[i])
      elseif holds(r, head[i], nexts[i], key) then
        if r.n > top then break end
        all[#all + 1] = {n = r.n, t = head[i]}
      end
      cut = cut + 1
    end
    if cut > 0 then call('LTRIM', key, 0, -(cut + 1)) end
    if cut == 0 or cut < #head then break end
  end
  table.sort(all, function(a, b) return a.n > b.n end)
  local args = {}
  for i = 1, #all do args[i] = all[i].t end
  many('RPUSH', key, args)
end

function flush_places()
  for key, list in pairs(comebacks) do put_back(key, list) end
  for key, list in pairs(pushes) do
    local args = {}
    for i = 1, #list, 2 do
      local r = list[i]
      if r.st == 'q' and r.n == list[i + 1] then args[#args + 1] = queue_ticket(r) end
    end
    many('LPUSH', key, args)
  end
  local args = {}
  for i = 1, #waits do
    local r = waits[i]
    if r.st == 's' then
      args[#args + 1] = score_of(r.d)
      args[#args + 1] = (has(r, 'b') or not r.T) and slim(r.u) or r.T
    end
  end
  if #args > 0 then
    -- An idle worker sleeps until the first due time it knew: an earlier one wakes it.
    local first = call('ZRANGE', PRE .. 'scheduled', 0, 0, 'WITHSCORES')[2]
    for i = 1, #waits do
      local r = waits[i]
      if r.st == 's' and (not first or tonumber(r.d) / 1000 < tonumber(first)) then woken[r.q] = woken[r.q] or 1 end
    end
    many('ZADD', PRE .. 'scheduled', args)
  end
  pushes, comebacks, waits = {}, {}, {}
end
end

-- unschedule removes the tickets of jobs that no longer wait for a time they once had: score -> uuid -> true.
local function unschedule(times)
  local key = PRE .. 'scheduled'
  for score, us in pairs(times) do
    local got, gone = call('ZRANGEBYSCORE', key, score, score, 'LIMIT', 0, 5000), {}
    for i = 1, #got do
      local u = uuid_of(got[i])
      if u and us[u] then gone[#gone + 1] = got[i] end
    end
    many('ZREM', key, gone)
  end
end

-- release_due moves up to n jobs whose time has come from `scheduled` to their queues, earliest first, those of one
-- instant in the order they were scheduled.
local function release_due(n)
  local key = PRE .. 'scheduled'
  local got = call('ZRANGEBYSCORE', key, '-inf', score_of(now), 'WITHSCORES', 'LIMIT', 0, n)
  if #got == 0 then return 0 end
  local us, gone, due = {}, {}, {}
  for i = 1, #got, 2 do
    us[#us + 1] = uuid_of(got[i]) or false
    gone[#gone + 1] = got[i]
  end
  load(us)
  for i = 1, #us do
    local r, at = us[i] and S[us[i]], floor(tonumber(got[2 * i]) * 1000 + 0.5)
    if not us[i] then
      set_aside(key, gone[i])
    elseif r and r.st == 's' and tonumber(r.d) == at then
      if is_full(gone[i], #r.u + (#r.u == 128 and 4 or 3)) then r.T = gone[i] end
      due[#due + 1] = r
      r.at = at
    end
  end
  many('ZREM', key, gone)
  table.sort(due, function(a, b) return a.at < b.at or a.at == b.at and a.n < b.n end)
  for i = 1, #due do
    local r = due[i]
    if r.st == 's' then
      r.od = nil -- its ticket is out already
      if carry.obsolete(r) then carry.close_as(r, 'O') else push(r, has(r, 'p')) end
    end
  end
  return #us
end
