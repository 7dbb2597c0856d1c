-- settle: what follows when a job's own work is done or its end is decided. A job that is `closing` works off its
-- lists: first its children, then, once none of them is unfinished and the outcome is decided (tag x), its heirs.
-- Nothing here refuses the call: a list of the wrong type is left, its job stays listed as to do.

-- What only this piece needs is local to this block: a script has at most 200 locals in all.
local unlist, forget, settle_all, take_todo
do
-- fetch reads the oldest tickets of a job's list and the records they belong to.
local function fetch(P, class, n)
  local key = list_key(P.u, class, opening(P))
  local t = try('LRANGE', key, -n, -1)
  if t.err then
    damage(key)
    P.parked = true
    return nil
  end
  local f = {key = key, t = t, n = n, us = {}, nexts = {}}
  for i = 1, #t do
    local u, next = uuid_of(t[i])
    f.us[i], f.nexts[i] = u or false, next
  end
  return f
end

-- prefetch reads the lists of many jobs first and then all records they name with one call.
local function prefetch(rs)
  if #rs < 2 then return end
  local room, us = BUDGET, {}
  for i = 1, #rs do
    local r = rs[i]
    local class = has(r, 'k') and 'children' or has(r, 'h') and 'onComplete'
    if class and room > 0 and (class == 'children' or not has(r, 'a')) then
      local f = fetch(r, class, min(100, room))
      if f then
        r.fetched = f
        room = room - #f.t
        for j = 1, #f.us do us[#us + 1] = f.us[j] end
      end
    end
  end
  load(us)
end

-- work_off meets the tickets of one list, oldest first, and tells whether the list is empty now.
local function work_off(P, class, mark)
  while true do
    local n = min(100, BUDGET - #changed)
    if n <= 0 then return false end
    local f = P.fetched
    P.fetched = nil
    if not f or f.n > n then f = fetch(P, class, n) end
    if not f then return false end
    local t, us = f.t, f.us
    if #t == 0 then return true end
    load(us)
    if class == 'children' and not is(active_key(P.u), 'set') then
      damage(active_key(P.u))
      P.parked = true
      return false
    end
    local joined = {}
    for i = #t, 1, -1 do
      local r = us[i] and S[us[i]]
      if not us[i] or r and r.bad then
        set_aside(f.key, t[i])
      elseif r then
        if not r.T and is_full(t[i], f.nexts[i]) then r.T = t[i] end
        if class == 'children' then meet_child(r, P, mark, joined) else meet_heir(r, P, mark) end
      end
    end
    if #joined > 0 then
      many('SADD', active_key(P.u), joined)
      if not has(P, 'a') then
        flag(P, 'a')
        touch(P, true)
      end
    end
    if #t < f.n then
      dels[#dels + 1] = f.key
      return true
    end
    call('LTRIM', f.key, 0, -(#t + 1))
  end
end

-- unlist takes the ticket of a job that is over out of a list that nothing may ever work off: its upstream, or that opening
-- of it, has not come.
function unlist(r, e)
  local P = get(e.u)
  if P and opening(P) >= e.o then return end
  local key = list_key(e.u, KIN[e.k] and 'children' or 'onComplete', e.o)
  if not is(key, 'list') then return end
  local t = call('LRANGE', key, 0, 999)
  for i = 1, #t do
    if uuid_of(t[i]) == r.u then call('LREM', key, 0, t[i]) end
  end
end

-- unlist_heir does so for all that a job still waits for as an heir.
local function unlist_heir(r, list)
  for i = 1, #list do
    if list[i].m == '?' and not KIN[list[i].k] then unlist(r, list[i]) end
  end
  if r.p and is(edges_key(r.u), 'hash') then
    local got = call('HGETALL', edges_key(r.u))
    for i = 1, #got, 2 do
      local e = got[i] ~= '#' and edges(got[i + 1], '[^;]+')[1]
      if e and e.m == '?' then
        e.u = got[i]
        unlist(r, e)
      end
    end
  end
end

-- finish is the end of every job: all lists are worked off, the decided outcome becomes the state, and the parents
-- that waited for it are looked at. Parent edges stay in the entry, for a reopening or a list not yet worked off.
local function finish(r)
  local out = OUT[r.x]
  touch(r)
  r.expire = true -- retention counts from here, also when it was over before this call
  r.o = nil
  if r.R and tonumber(r.s or 0) + tonumber(r.R) == now then r.R = nil end -- start and end say it
  if not r.i and not r.p then
    r.st, r.x, r.t, r.k, r.e = r.x, nil, now_text, nil, nil
    return
  end
  local list, keep = edges(r.i), {}
  unlist_heir(r, list)
  r.st, r.x, r.t, r.p, r.k, r.e = r.x, nil, now_text, nil, nil, nil
  for i = 1, #list do
    local e = list[i]
    if KIN[e.k] and (e.m == '+' or e.m == '?') then keep[#keep + 1] = e end
    if KIN[e.k] and e.m == '+' and not has(r, 'w') then
      leave(e.u, r.u)
      local G = get(e.u)
      if G and G.st == 'c' and not G.x and opening(G) == e.o then
        if out == '-' and KIN[e.k] == 1 then
          G.b = num(tonumber(G.b or 0) + 1)
          touch(G)
        end
        settle(G)
      end
    end
  end
  r.i = edge_list(keep)
end

-- close takes a closing job as far as it can; false: something is left to do. A job in another state has nothing to be closed.
local function close(r)
  if (r.st == 't' or r.st == 'h' and r.C) and not cycle.go_on(r) then return false end
  if r.st ~= 'c' then return true end
  local fl = r.fl
  if (fl == '' or fl == 'b') and not (r.C or r.D) then -- most jobs: nobody waits for it, and it makes none
    r.x = r.x or r.b and 'f' or 'C'
    finish(r)
    return true
  end
  if not r.x then
    if has(r, 'A') and not inbox.deliver(r) then return false end
    if r.C and not cycle.emit(r, 'children') then return false end
    if has(r, 'k') then
      if not work_off(r, 'children', '+') then return false end
      clear(r, 'k')
      touch(r, true)
    end
    flush_members(r.u)
    if has(r, 'a') then
      local key = active_key(r.u)
      if not is(key, 'set') then
        damage(key)
        r.parked = true
        return false
      end
      if call('SCARD', key) > 0 then return true end
      clear(r, 'a')
    end
    r.x = has(r, 'c') and 'X' or r.b and 'f' or 'C'
    touch(r)
  end
  if r.C and not (cycle.emit(r, 'children') and cycle.emit(r, 'heirs')) then return false end
  if has(r, 't') and not cycle.remove(r) then return false end
  if has(r, 'k') and not work_off(r, 'children', PASS[r.x]) then return false end
  if has(r, 'h') and not work_off(r, 'onComplete', OUT[r.x]) then return false end
  clear(r, 'k')
  clear(r, 'h')
  -- Last, since what was flipped would be flipped again should anything be left after it.
  if has(r, 'g') and not has(r, 't') and not cycle.trigger(r) then return false end
  r.D = nil
  finish(r)
  return true
end

-- forget marks a job of which nothing is to be left.
function forget(r, quiet)
  r.gone = true
  for _, e in ipairs(edges(r.i)) do
    if e.m == '?' then unlist(r, e) end
  end
  touch(r, quiet)
end

-- has_room tells whether a job can be taken to its end within the budget: it is listed as changed already, so it needs room
-- only for those it would change.
local function has_room(r)
  if #changed < BUDGET then return true end
  if has(r, 'k') or has(r, 'h') then return false end
  for _, e in ipairs(edges(r.i)) do
    local G = KIN[e.k] and e.m == '+' and get(e.u)
    if G and G.st == 'c' and not G.dirty then return false end
  end
  return r.dirty
end

-- settle_all works until nothing is left or the budget is used; the rest is listed in `todo`, by time. A job whose list
-- cannot be read is tried again in ten seconds.
function settle_all()
  local i, args, done = 1, {}, {}
  prefetch(work)
  while work[i] do
    local r = work[i]
    if has_room(r) and close(r) then
      if r.listed then done[#done + 1] = r.u end
    else
      args[#args + 1] = num(r.parked and now + 10000 or now)
      args[#args + 1] = r.u
    end
    r.queued = false -- not before: what its own children do is seen by close
    i = i + 1
  end
  work = {}
  many('ZREM', PRE .. 'todo', done)
  many('ZADD', PRE .. 'todo', args)
  return #args > 0
end

-- take_todo brings back what earlier calls left to do.
function take_todo(n)
  local us = call('ZRANGEBYSCORE', PRE .. 'todo', '-inf', num(now), 'LIMIT', 0, n)
  load(us)
  for i = 1, #us do
    local r = S[us[i]]
    if r and (r.st == 'c' or r.st == 't' or r.st == 'h' and r.C) then
      r.listed = true
      settle(r)
    else
      call('ZREM', PRE .. 'todo', us[i])
    end
  end
end
end
