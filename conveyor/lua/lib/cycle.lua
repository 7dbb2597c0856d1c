-- cycle: templates, and the occurrences that they emit. A cycle is a root and a tick; each template has one occurrence in it.
--   template:<t>       HASH   what apply stores, see template.lua; entry and edges are what its occurrences start from
--   template:<t>:live  ZSET   its live occurrences by tick
--   emits:<t>:children, :heirs   ZSET   templates with an edge to this one, in the order they were added
--   cycles:<root>      HASH   tick -> "<began>:<made>:<failed>:<flags>" of live cycles. Flags: r replaced by a later one; w its
--                             members are to be cancelled still, with how far they are looked at: a cursor; a once more, since
--                             some were cancelled on the way
--   cycle:<root>:<tick>  SET  its live occurrences
--   history:<root>     LIST   "<tick>:<outcome>:<began>:<ended>:<made>:<failed>:<missed>", newest first
--   backlog:<root>     ZSET   ticks that wait until no cycle of the root is live
-- An occurrence has tag C, "<tick>:<template>[:<root>]", and tag D, how far what its template emits is worked off for it.
-- Nothing here refuses the call.
do
local WAITING = {h = true, s = true, q = true}
local BAD = {F = true, f = true, X = true, E = true}

-- uuid_from is a uuid that follows from a text, shaped as one of version 5.
function cycle.uuid_from(text)
  local h = redis.sha1hex(text)
  return sub(h, 1, 8) .. '-' .. sub(h, 9, 12) .. '-5' .. sub(h, 14, 16) .. '-' ..
    string.format('%x', tonumber(sub(h, 17, 17), 16) % 4 + 8) .. sub(h, 18, 20) .. '-' .. sub(h, 21, 32)
end

-- uuid_for is the uuid of a template's occurrence. OccurrenceUUID in Go is the same.
local function uuid_for(t, root, tick) return cycle.uuid_from(t .. '@' .. root .. '@' .. tick) end

function cycle.key(t) return PRE .. 'template:' .. t end
function cycle.emits_key(t, class) return PRE .. 'emits:' .. t .. ':' .. class end

-- cycle_of is the tick, the template and the root of an occurrence.
local function cycle_of(r)
  local tick, t, root = match(r.C, '^(%d+):([^:]+):?(.*)$')
  return tick, t, root ~= '' and root or t
end

cycle.of = cycle_of

-- lives tells whether the cycle of an occurrence is not over.
function cycle.lives(r)
  local tick, _, root = cycle_of(r)
  return kind(PRE .. 'cycle:' .. root .. ':' .. tick) == 'set'
end

-- Cells are the live cycles as far as this script has read or begun them: root -> tick -> cell.
local cells, whole = {}, {} -- whole: roots all of whose cycles were read
local fresh = {}            -- occurrences that this script made, in order

local function parse(text)
  local began, made, failed, flags, at = match(text or '', '^(%d*):?(%d*):?(%d*):?(%a*)(%d*)$')
  return {began = tonumber(began or now) or now, made = tonumber(made or 0) or 0, failed = tonumber(failed or 0) or 0,
    flags = flags or '', at = at or '', stored = text}
end

local function cell(root, tick)
  local of = cells[root] or {}
  cells[root] = of
  if not of[tick] then
    local key = PRE .. 'cycles:' .. root
    of[tick] = parse(is(key, 'hash') and call('HGET', key, tick) or nil)
  end
  return of[tick]
end

-- live_ticks are the live cycles of a root by tick, with those that this script began.
local function live_ticks(root)
  local of, out, key = cells[root] or {}, {}, PRE .. 'cycles:' .. root
  cells[root] = of
  if not whole[root] and is(key, 'hash') then
    local got = call('HGETALL', key)
    for i = 1, #got, 2 do of[got[i]] = of[got[i]] or parse(got[i + 1]) end
  end
  whole[root] = true
  for tick, c in pairs(of) do
    if c.stored or c.begun then out[#out + 1] = tick end
  end
  table.sort(out, function(a, b) return tonumber(a) < tonumber(b) end)
  return out
end

local function save(root, tick, c)
  local key, text = PRE .. 'cycles:' .. root, num(c.began) .. ':' .. num(c.made) .. ':' .. num(c.failed) .. ':' .. c.flags .. c.at
  if not is(key, 'hash') then return damage(key) end
  if text ~= c.stored then call('HSET', key, tick, text) end
  c.stored = text
end

-- note adds a line to the history of a root.
function cycle.note(root, ...)
  local key = PRE .. 'history:' .. root
  if not is(key, 'list') then return damage(key) end
  call('LPUSH', key, concat({...}, ':'))
  call('LTRIM', key, 0, 99)
end

-- learn reads templates as occurrences start from them; false: there is no such template, or not any more.
local known = {}
local function learn(ts)
  load(ts)
  local want, keys = {}, {}
  for i = 1, #ts do
    local t = ts[i]
    local T, key = S[t], cycle.key(t)
    if T and T.st == 't' then
      if known[t] == nil then
        local f = is(key, 'hash') and call('HMGET', key, 'entry', 'edges') or {}
        known[t] = {entry = f[1], edges = f[2] or ''}
        want[#want + 1], keys[#keys + 1] = t, PRE .. 'jobs:' .. t
      end
    else
      known[t] = false
    end
  end
  if #want == 0 then return end
  local got = call('MGET', unpack(keys))
  local packed = is(labels.key, 'hash') and call('HMGET', labels.key, unpack(want)) or {}
  for i = 1, #want do
    local f = known[want[i]]
    local text = labels.given[want[i]] or packed[i] or ''
    f.bytes, f.labels, f.carried = got[i], text ~= '' and text or nil, carry.of(S[want[i]])
    if not f.entry or not f.bytes then
      damage(cycle.key(want[i]))
      known[want[i]] = false
    end
  end
end

-- forget has a template read again: something of it was changed.
function cycle.forget(t) known[t] = nil end

-- field is a string as a field of a protobuf message, after the field's tag.
local function field(tag, text)
  local n = #text
  return tag .. (n < 128 and char(n) or char(128 + n % 128, floor(n / 128))) .. text
end
cycle.field = field

-- mapped are the edges of an occurrence: to a template's occurrence of the same cycle, to other jobs as they are. It tells
-- of which templates an occurrence that it waits for does not exist, and whether another job does not. An edge of an occurrence
-- always counts: nobody gives it others.
local function mapped(list, root, tick)
  local lacks, unseen = {}, nil
  for _, e in ipairs(list) do
    local o = uuid_for(e.u, root, tick)
    local O, T = S[o], S[e.u]
    if O or T and T.st == 't' then
      if not O then lacks[#lacks + 1] = e.u end
      e.u, e.o = o, O and opening(O) or 1
    else
      unseen = unseen or not T
    end
    e.s = '!'
  end
  return lacks, unseen
end

-- make makes the occurrences that a cycle does not have yet of some of these templates, from the first on, and tells of how
-- many. Where an upstream of a new one does not exist either, go_on makes it.
local function make(ts, root, tick)
  learn(ts)
  local us, ups, new, n = {}, {}, {}, 0
  for i = 1, #ts do us[i] = uuid_for(ts[i], root, tick) end
  load(us)
  for i = 1, #ts do
    local f = known[ts[i]]
    if f and not S[us[i]] then
      local list = edges(f.edges)
      if #new > 0 and #ups + 2 * #list > 2 * BUDGET then break end
      for _, e in ipairs(list) do
        ups[#ups + 1] = e.u
        ups[#ups + 1] = uuid_for(e.u, root, tick)
      end
      new[#new + 1] = {u = us[i], t = ts[i], f = f, list = list}
    end
    n = i
  end
  if #new == 0 then return n end
  load(ups)
  local lists_before, c = {}, cell(root, tick)
  for i = 1, #new do
    local w = new[i]
    w.r = sprout(w.u, w.f.entry)
    w.r.C = tick .. ':' .. w.t .. (w.t ~= root and ':' .. root or '')
    S[w.u] = w.r
    lists_before[2 * i - 1], lists_before[2 * i] = list_key(w.u, 'children', 1), list_key(w.u, 'onComplete', 1)
  end
  local some = call('EXISTS', unpack(lists_before)) > 0
  cycle.making = true
  for i = 1, #new do
    local w = new[i]
    local r, f = w.r, w.f
    if some and kind(lists_before[2 * i - 1]) ~= 'none' then flag(r, 'k') end
    if some and kind(lists_before[2 * i]) ~= 'none' then flag(r, 'h') end
    local lacks, unseen = mapped(w.list, root, tick)
    local _, at = uuid_of(f.bytes)
    local text = field('\10', r.u) .. sub(f.bytes, at or 1) .. field('\154\7', w.t) .. field('\162\7', tick)
    add(r, w.list, text, #text > 16384, nil, f.labels, f.carried)
    if not unseen then r.o = nil end
    if find(c.flags, 'r', 1, true) then cancel(r) end
    if #lacks > 0 and r.st == 'h' then cycle.lacks(r, lacks) end
    fresh[#fresh + 1] = r
  end
  cycle.making = nil
  flush_graph()
  return n
end

-- emit makes the occurrences that an occurrence's template emits to one class, and tells whether that is all.
function cycle.emit(r, class)
  local tick, t, root = cycle_of(r)
  local mark, key = sub(class, 1, 1), cycle.emits_key(t, class)
  if mark == 'c' and r.D and byte(r.D) == 104 then return true end -- its heirs are being made
  local R = get(root)
  if not R or R.st ~= 't' then return true end
  while true do
    local n = min(100, BUDGET - #changed)
    if n <= 0 then return false end
    local from = r.D and sub(r.D, 1, 1) == mark and '(' .. sub(r.D, 2) or '-inf'
    local got = try('ZRANGEBYSCORE', key, from, '+inf', 'WITHSCORES', 'LIMIT', 0, n)
    if got.err then
      damage(key)
      r.parked = true
      return false
    end
    if #got == 0 then return true end
    local ts = {}
    for i = 1, #got, 2 do ts[#ts + 1] = got[i] end
    local done = make(ts, root, tick)
    r.D = mark .. got[2 * done]
    touch(r, true)
    if done == #ts and #ts < n then return true end
  end
end

-- lacks has the occurrences that a held one waits for made from these templates.
function cycle.lacks(r, ts)
  r.D = 'u' .. concat(ts, ',')
  settle(r)
end

-- make_upstreams makes what a held occurrence waits for and what does not exist yet.
local function make_upstreams(r)
  local tick, _, root = cycle_of(r)
  local us, ts = {}, {}
  for t in gmatch(sub(r.D or '', 2), '[^,]+') do
    us[#us + 1] = t
    us[#us + 1] = uuid_for(t, root, tick)
  end
  load(us)
  for i = 1, #us, 2 do
    local T = S[us[i]]
    if not S[us[i + 1]] and T and T.st == 't' then
      ts[#ts + 1] = us[i]
    elseif not S[us[i + 1]] then -- its template was deleted before it was made: it counts as cancelled
      local past = {u = us[i + 1], st = 'X', x = 'X', fl = ''}
      meet_child(r, past, '-', {})
      meet_heir(r, past, '-')
    end
  end
  local at = 1
  while ts[at] do
    local n = min(100, BUDGET - #changed)
    if n <= 0 then return false end
    local part = {}
    for i = at, min(at + n - 1, #ts) do part[#part + 1] = ts[i] end
    at = at + make(part, root, tick)
  end
  if r.D then
    r.D = nil
    touch(r, true)
  end
  return true
end

-- cancel_some cancels these members of a replaced cycle, and tells whether the budget was enough.
local function cancel_some(us, c)
  table.sort(us)
  load(us)
  for i = 1, #us do
    local r = S[us[i]]
    if #changed >= BUDGET and r and not r.dirty then return false end
    if r and not r.bad then
      local st, fl = r.st, r.fl
      cancel(r)
      if r.st ~= st or r.fl ~= fl then c.shrinks = true end
    end
  end
  return true
end

-- cancel_cycle goes on to cancel the members of one cycle, and tells whether that is all. A set that shrinks between two calls is
-- gone through again: where a cursor counts members, it has passed over as many as left before it.
local looks = 0 -- of this script, at about a hundred members each
local function cancel_cycle(root, tick, c)
  local key, mine = PRE .. 'cycle:' .. root .. ':' .. tick, {}
  for i = 1, #fresh do
    local ftick, _, froot = cycle_of(fresh[i])
    if ftick == tick and froot == root then mine[#mine + 1] = fresh[i].u end
  end
  if not is(key, 'set') then damage(key) end
  local going = cancel_some(mine, c)
  while going and looks < 20 do
    looks = looks + 1
    local got = is(key, 'set') and call('SSCAN', key, c.at == '' and '0' or c.at, 'COUNT', 100) or {'0', {}}
    going = cancel_some(got[2], c)
    if going then c.at = got[1] end
    if c.at == '0' then
      if c.flags == 'rw' then c.flags = 'r' else c.flags = 'rw' end
      c.at = ''
      if c.flags == 'r' then break end
    end
  end
  if c.flags ~= 'r' and c.shrinks then c.flags = 'rwa' end
  save(root, tick, c)
  return c.flags == 'r'
end

-- cancel_replaced cancels the members of cycles that a later one has replaced, and tells whether that is all.
local function cancel_replaced(root)
  for _, tick in ipairs(live_ticks(root)) do
    local c = cell(root, tick)
    if find(c.flags, 'w', 1, true) and not cancel_cycle(root, tick, c) then return false end
  end
  return true
end

-- begin starts the cycle of a root at a tick, as its overlap and its limit of cycles say unless somebody asked for it. It tells
-- what came of it: e emitted, s skipped, h on hold, and nil for a cycle that there was already.
function cycle.begin(T, tick, asked)
  tick = num(tick)
  if get(uuid_for(T.u, T.u, tick)) then return nil end
  local key = cycle.key(T.u)
  if not is(key, 'hash') then
    damage(key)
    return 'h'
  end
  local f = call('HMGET', key, 'overlap', 'max', 'used', 'last')
  local most, used, last = tonumber(f[2] or 0) or 0, tonumber(f[3] or 0) or 0, tonumber(f[4] or 0) or 0
  if most > 0 and used >= most and not asked then return 'h' end
  local live = (f[1] == 's' or f[1] == 'r') and not asked and live_ticks(T.u) or {}
  if f[1] == 's' and #live > 0 then
    cycle.note(T.u, tick, 's', now_text, now_text)
    return 's'
  end
  for _, earlier in ipairs(live) do
    local c = cell(T.u, earlier)
    if not find(c.flags, 'r', 1, true) then
      c.flags = 'rw'
      save(T.u, earlier, c)
      settle(T)
    end
  end
  if #live > 0 then cancel_replaced(T.u) end -- now, as far as it comes: a unique key is handed on by who is to end
  cell(T.u, tick).begun = true
  make({T.u}, T.u, tick)
  call('HSET', key, 'used', num(used + 1), 'last', num(max(last, tonumber(tick))))
  if most > 0 and used + 1 >= most and is(PRE .. 'ticks', 'zset') then
    call('ZREM', PRE .. 'ticks', T.u)
    call('HSET', key, 'next', '')
  end
  return 'e'
end

-- start_backlog begins the next cycle that waits until none of the root is live.
local function start_backlog(T)
  local key = PRE .. 'backlog:' .. T.u
  if not is(key, 'zset') then return damage(key) end
  while #live_ticks(T.u) == 0 do
    local tick = call('ZRANGE', key, 0, 0)[1]
    local how = tick and cycle.begin(T, tonumber(tick), true)
    if not tick or how == 'h' then return end
    call('ZREM', key, tick)
  end
end

-- go_on does what is left to do for a template, or for an occurrence that is held, and tells whether that is all.
function cycle.go_on(r)
  if r.st == 't' then
    if not cancel_replaced(r.u) then return false end
    start_backlog(r)
    return true
  end
  return make_upstreams(r)
end

-- remove takes away what there is of a template that ends, and tells whether that is all: its occurrences that wait are cancelled.
-- The lists of whom it emits to belong to those, and go with them.
function cycle.remove(T)
  if not cancel_replaced(T.u) then return false end
  local key = cycle.key(T.u)
  while true do
    local n = min(100, BUDGET - #changed)
    if n <= 0 then return false end
    local got = try('ZRANGEBYSCORE', key .. ':live', T.D and '(' .. T.D or '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, n)
    if got.err then
      damage(key .. ':live')
      break
    end
    local us = {}
    for i = 1, #got, 2 do us[#us + 1] = got[i] end
    load(us)
    for i = 1, #us do
      local r = S[us[i]]
      if r and WAITING[r.st] then cancel(r) end
    end
    if #us < n then break end
    T.D = got[#got]
  end
  for _, e in ipairs(edges(is(key, 'hash') and call('HGET', key, 'edges') or nil)) do
    try('ZREM', cycle.emits_key(e.u, KIN[e.k] and 'children' or 'heirs'), T.u)
  end
  try('ZREM', PRE .. 'ticks', T.u)
  try('ZREM', PRE .. 'todo', T.u) -- the backlog that waited there goes too
  carry.give(T, 's')
  cycle.ungate(T)
  for _, name in ipairs({key, key .. ':live', PRE .. 'history:' .. T.u, PRE .. 'backlog:' .. T.u}) do dels[#dels + 1] = name end
  return true
end

-- close_cycle writes that a cycle is over. What waits for that is begun by the next call that does what is left to do; cycle.waits
-- has the one that closed it come again at once.
local function close_cycle(root, tick, c)
  local key, backlog = PRE .. 'cycles:' .. root, PRE .. 'backlog:' .. root
  if is(key, 'hash') then call('HDEL', key, tick) else damage(key) end
  local R = get(root)
  if not R or R.st ~= 't' then return end
  local outcome = find(c.flags, 'r', 1, true) and 'r' or c.failed > 0 and 'F' or 'C'
  cycle.note(root, tick, outcome, num(c.began), now_text, num(c.made), num(c.failed))
  if kind(backlog) == 'zset' and call('ZCARD', backlog) > 0 then -- the last of it may have begun here, and ended at once
    call('ZADD', PRE .. 'todo', now_text, root)
    cycle.waits = true
  end
end

-- over ends a cycle that has no members.
function cycle.over(root, tick) close_cycle(root, tick, cell(root, tick)) end

-- revive has a cycle that was over, and to which an occurrence comes back, live again as its line in the history says, which goes.
local function revive(root, tick, c)
  local key = PRE .. 'history:' .. root
  if not is(key, 'list') then return damage(key) end
  for _, line in ipairs(call('LRANGE', key, 0, 99)) do
    local at, outcome, began, made, failed = match(line, '^(%d+):(%a):(%d+):%d*:(%d+):(%d+)')
    if at == tick and find('CFr', outcome, 1, true) then
      c.began, c.made, c.failed, c.known = tonumber(began), tonumber(made), tonumber(failed), true
      call('LREM', key, 1, line)
      return
    end
  end
end

-- commit writes who the members of cycles are now, and ends those that have none.
function cycle.commit(rs, zadd, zrem)
  local groups, order = {}, {}
  for i = 1, #rs do
    local r = rs[i]
    local tick, t, root = cycle_of(r)
    local was, live = r.os and not ENDED[r.os], not ENDED[r.st]
    if not r.gone and (was ~= live or not r.os) then
      local id = root .. ':' .. tick
      local g = groups[id]
      if not g then
        g = {root = root, tick = tick, made = 0, failed = 0, add = {}, rem = {}}
        groups[id] = g
        order[#order + 1] = g
      end
      local c = cell(root, tick)
      if r.os and not c.stored and not c.begun then
        c.begun = true
        revive(root, tick, c)
      end
      if not r.os or not c.stored and not c.known then g.made = g.made + 1 end -- also one that comes back to a cycle nobody knows
      g.failed = g.failed + (BAD[r.st] and 1 or 0) - (BAD[r.os] and 1 or 0)
      local T, key = get(t), cycle.key(t) .. ':live'
      if live then
        g.add[#g.add + 1] = r.u
        if T and T.st == 't' then append(zadd, key, tick, r.u) end
      else
        g.rem[#g.rem + 1] = r.u
        append(zrem, key, r.u)
      end
    end
  end
  for i = 1, #order do
    local g = order[i]
    local c, key, left = cell(g.root, g.tick), PRE .. 'cycle:' .. g.root .. ':' .. g.tick, 1
    c.made, c.failed = c.made + g.made, max(0, c.failed + g.failed)
    if is(key, 'set') then
      many('SADD', key, g.add)
      many('SREM', key, g.rem)
      left = call('SCARD', key)
    else
      damage(key)
    end
    if left > 0 then save(g.root, g.tick, c) else close_cycle(g.root, g.tick, c) end
  end
end
end
