-- change: adds, updates, cancels, withdraws, reopens and retries jobs. Like wire.lua it only collects.

local sprout, add, update, cancel, withdraw, unrecord, reopen, again, flush_graph
do
-- part takes a job out of its parents' active sets and looks at the parents.
local function part(r, e)
  leave(e.u, r.u)
  local G = get(e.u)
  if G and G.st == 'c' and not G.x then settle(G) end
end

local function keep_bytes(r, text)
  flag(r, 'b')
  bytes[#bytes + 1] = PRE .. 'jobs:' .. r.u
  bytes[#bytes + 1] = text
end

-- sprout is the record of a new job. Jobs of one kind start from one entry text, which is read once.
local seeds = {}
function sprout(u, entry)
  local seed = seeds[entry]
  if not seed then
    seed = decode(u, entry)
    seeds[entry] = seed
  end
  local r = {
    u = u, st = 'h', ln = seed.ln, fl = seed.fl, q = seed.q, n = 0, d = seed.d, e = seed.e, m = seed.m,
    T = nil, i = nil, dirty = nil, loud = nil, queued = nil,
  }
  if seed.y then r.y = seed.y end
  if seed.r then r.r = seed.r end
  if seed.c then r.c = seed.c end
  if seed.N then r.N = seed.N end
  if seed.v then retention.limit(r, seed.v) end
  return r
end

-- claim takes a job's unique key, or refuses the call and names the holder.
local function claim(r)
  local holder = r.y and unique.take(r)
  if holder then refuse('UNIQUE ' .. r.y .. ' ' .. holder .. ' ' .. r.u) end
  return not holder
end

-- add stores a new job. Lists that were filled before it came are found by `lists_of` in apply.lua. Whose unique key is
-- held is refused; one that belongs to a graph is stored as failed, so that its edges are decided.
function add(r, list, text, apart, replaces, packed, c)
  r.T = text
  if packed then labels.give(r, packed) end
  carry.take(r, c)
  if c.all then flag(r, 'A') end
  S[r.u] = r
  local pending = wire(r, list, nil, replaces)
  local obsolete = (pending or not r.k) and carry.obsolete(r, replaces)
  if obsolete then r.y = nil end
  local holder = r.y and (pending or not r.k) and unique.take(r, replaces)
  if holder and #list == 0 and not r.C and not find(r.fl, '[rkh]') then
    return refuse('UNIQUE ' .. r.y .. ' ' .. holder .. ' ' .. r.u)
  end
  if apart or holder or has(r, 'm') or pending and #list > 1 then keep_bytes(r, text) end
  touch(r)
  if holder then
    failures[#failures + 1] = r.u
    failures[#failures + 1] = 'unique key ' .. unique.text(r.y) .. ' is held by ' .. holder
    r.z = nil
    close_as(r, 'F')
  elseif obsolete then
    r.z = nil
    close_as(r, 'O')
  elseif c.all then
    inbox.begin(r, c.entry)
  elseif not pending then
    if r.k then close_as(r, r.k == '-' and 'K' or 'k') else start(r) end
  end
end

-- unparent takes a started job out of the parents that it is no longer declared under: they need not wait for it.
local function unparent(r, list)
  local ids, keep = {}, {}
  for j = 1, #list do ids[edge_id(list[j])] = true end
  for _, e in ipairs(edges(r.i)) do
    if KIN[e.k] and e.m == '+' and not ids[edge_id(e)] and not has(r, 'w') then part(r, e) else keep[#keep + 1] = e end
  end
  r.i = edge_list(keep)
  touch(r)
end

-- update gives a job new bytes, edges, place and time. A job that has started keeps its edges and takes the rest for its
-- next attempt, one that has done its own work only its unique key, labels and when it is removed; one that is over keeps
-- everything.
function update(r, new, list, text, packed, c)
  if r.st == 'r' or r.st == 'H' or r.st == 'c' and not r.x then unparent(r, list) end
  if ENDED[r.st] or r.x then return end
  if r.y ~= new.y then
    r.y = new.y
    if not claim(r) then return end
  end
  r.r = new.r
  labels.give(r, packed)
  if r.st == 'c' then return end
  local moved = r.q ~= new.q or r.ln ~= new.ln
  r.q, r.ln, r.m, r.c = new.q, new.ln, new.m, new.c
  r.N = new.N and match(new.N, '^%d+:') .. (match(r.N or '', '%d+$') or '0') -- what was used stays used
  carry.take(r, c)
  retention.limit(r, new.v)
  clear(r, 'o')
  if has(new, 'o') then flag(r, 'o') end
  keep_bytes(r, text)
  touch(r)
  local old = old_edges(r)
  if r.st == 'r' or r.st == 'H' then
    local mine = edges(r.i)
    for i = 1, #mine do
      for j = 1, #list do
        if KIN[mine[i].k] and edge_id(mine[i]) == edge_id(list[j]) then mine[i].k = list[j].k end
      end
    end
    r.i = edge_list(mine)
    return
  end
  local due
  if r.st == 's' then
    due = tonumber(r.d)
    if not r.f then
      due = max(r.e and new.e and due - tonumber(r.e) + tonumber(new.e) or 0, tonumber(new.d or 0))
      if new.e and not r.e then due = max(due, now + tonumber(new.e)) end
    else
      due = max(due, tonumber(new.d or 0))
    end
  elseif r.st == 'q' then
    due = tonumber(new.d or 0)
    if new.e and new.e ~= r.e and not r.f then due = max(due, now + tonumber(new.e)) end
  end
  r.e = new.e
  local ids = {}
  for j = 1, #list do ids[edge_id(list[j])] = true end
  local pending = wire(r, list, old)
  for id, e in pairs(old) do
    if not ids[id] and e.m == '?' then
      unlisted[#unlisted + 1] = {r, e}
      local coming = lists[list_key(e.u, KIN[e.k] and 'children' or 'onComplete', e.o)] or {}
      for i = #coming, 1, -1 do -- it came to wait there in this very call
        if coming[i] == r then table.remove(coming, i) end
      end
    end
    if not ids[id] and KIN[e.k] and e.m == '+' and not has(r, 'w') then part(r, e) end
  end
  if pending then
    r.st, r.n, r.d = 'h', 0, due and due > now and num(due) or new.d
  elseif r.k then
    close_as(r, r.k == '-' and 'K' or 'k')
  elseif r.st == 'h' then
    r.d = new.d
    start(r)
  elseif due > now then
    schedule(r, due)
  elseif r.st == 's' or moved then
    push(r)
  end
end

function cancel(r)
  if r.st == 'r' or r.st == 'c' and not r.x then
    if not has(r, 'c') then
      flag(r, 'c')
      touch(r)
    end
  elseif r.st ~= 'c' and not ENDED[r.st] then
    close_as(r, 'X')
  end
end

-- uncount takes back what a job that failed counts against a parent that is still closing. In the entry of a job that is
-- over, + is a parent it counted on at its end and - one that met it afterwards.
local function uncount(r)
  if OUT[r.st] ~= '-' then return end
  for _, e in ipairs(edges(r.i)) do
    local G = KIN[e.k] == 1 and (e.m == '+' or e.m == '-') and get(e.u)
    if G and G.b and G.st == 'c' and not G.x and opening(G) == e.o then
      local b = tonumber(G.b) - 1
      G.b = b > 0 and num(b) or nil
      touch(G)
    end
  end
end

-- withdraw: the job leaves its parents, and its end counts for no edge that exists now except its successor's.
function withdraw(r)
  if has(r, 'w') then return end
  flag(r, 'w')
  touch(r)
  if ENDED[r.st] then
    uncount(r)
    return
  end
  for _, e in ipairs(edges(r.i)) do
    if KIN[e.k] and e.m == '+' then part(r, e) end
  end
end

-- unrecord: no companion write belongs to the job any more. With whole, nothing is left of one that is over; otherwise
-- retention takes it.
function unrecord(r, whole)
  if ENDED[r.st] and whole then
    r.gone = true
    forgotten[#forgotten + 1] = r
  elseif has(r, 'r') then
    clear(r, 'r')
    r.expire = ENDED[r.st]
    touch(r)
  end
end

-- emptied are active sets that an earlier opening left: only children of a dead parent are in them, and no later opening waits
-- for these.
local emptied = {}
local function empty(r)
  local key = active_key(r.u)
  if not is(key, 'set') then wrong('deadparent', key, 'set') end
  if kind(key) ~= 'none' then emptied[#emptied + 1] = key end
end

-- reopen raises the opening of a job that ended with its own work done: it is closing again and waits for the children
-- stored for the new opening. In its parents it stands among the waiting children of their next opening, unless
-- they are still open. new, if given, says which unique key and labels it takes, and when it is removed.
function reopen(r, n, new, packed)
  local g = opening(r)
  if g >= n then return true end
  if g + 1 ~= n or r.st ~= 'C' and r.st ~= 'f' then return false end
  if new then r.y, r.r = new.y, new.r end
  if not claim(r) then return true end
  if new then labels.give(r, packed) end
  r.h = (r.h or string.rep('C', g - 1)) .. r.st
  if r.s and r.t and not r.R then r.R = tonumber(r.t) - tonumber(r.s) end
  r.g, r.st, r.b, r.t = num(n), 'c', nil, nil
  empty(r)
  flag(r, 'k')
  flag(r, 'h')
  local list = edges(r.i)
  for i = 1, #list do
    local e = list[i]
    local G = not has(r, 'w') and get(e.u) -- of one that is over only edges to parents are left
    if G then
      local open = G.st == 'c' and not G.x
      if open then
        e.o, e.m = opening(G), '+'
        enter(G, r.u)
      elseif ENDED[G.st] or G.x then
        e.o, e.m = opening(G) + 1, '?'
        wait_in(e, r)
      end
    end
  end
  r.i = edge_list(list)
  touch(r)
  settle(r)
  return true
end

-- again runs a failed job once more under a new opening. One that was never started, since its unique key was held,
-- comes with its entry and edges as it was added, and waits for them.
function again(r, g, entry, list)
  if opening(r) > g or not ENDED[r.st] then return true end
  local text = r.st == 'F' and call('HGET', PRE .. 'failed', r.u)
  if not text then return false end
  if not claim(r) then return true end
  if not has(r, 'w') then uncount(r) end
  r.h = (r.h or string.rep('C', opening(r) - 1)) .. 'F'
  r.g, r.st, r.a, r.l, r.t = num(g + 1), 'h', nil, nil, nil
  flag(r, 'k') -- the lists of this opening may have been filled before
  flag(r, 'h')
  empty(r)
  if r.N then r.N = match(r.N, '^%d+:') .. '0' end
  unfail[#unfail + 1] = r.u
  keep_bytes(r, text)
  touch(r)
  if entry and not r.f then
    local new, old = decode(r.u, entry), {}
    for id, e in pairs(old_edges(r)) do
      if e.m == '?' then old[id] = e end -- its ticket stands in the parent's list still
    end
    r.d, r.e = new.d, new.e
    if not wire(r, list, old) then
      if has(r, 'A') then inbox.begin(r, entry) elseif r.k then close_as(r, r.k == '-' and 'K' or 'k') else start(r) end
    end
    return true
  end
  for _, e in ipairs(edges(r.i)) do
    local G = KIN[e.k] and e.m == '+' and not has(r, 'w') and get(e.u)
    if G and G.st == 'c' and not G.x and opening(G) == e.o then enter(G, r.u) end
  end
  push(r)
  return true
end

function flush_graph()
  for i = 1, #bytes, 500 do call('MSET', unpack(bytes, i, min(i + 499, #bytes))) end
  for u, args in pairs(hashes) do
    call('DEL', edges_key(u))
    many('HSET', edges_key(u), args)
  end
  if #emptied > 0 then call('DEL', unpack(emptied)) end
  flush_all_members()
  for i = 1, #unlisted do unlist(unlisted[i][1], unlisted[i][2]) end -- before who comes back is listed again
  for _, keys in ipairs({parents_first, heirs_last}) do
    for i = 1, #keys do
      local args = {}
      for j, r in ipairs(lists[keys[i]]) do args[j] = (has(r, 'b') or not r.T) and slim(r.u) or r.T end
      many('LPUSH', keys[i], args)
    end
  end
  many('HDEL', PRE .. 'failed', unfail)
  for i = 1, #forgotten do forget(forgotten[i]) end
  lists, parents_first, heirs_last, bytes, hashes, unfail, forgotten, unlisted, emptied = {}, {}, {}, {}, {}, {}, {}, {}, {}
end
end
