-- wire: the edges of new and changed jobs. Everything here only collects; apply.lua writes it after the last check, by
-- flush_graph.
local lists = {}                    -- list key of an upstream -> records whose ticket goes there
local parents_first, heirs_last = {}, {} -- those keys in order: a parent's list comes before a predecessor's
local bytes, hashes, unfail, forgotten, unlisted = {}, {}, {}, {}, {}

-- wrong meets a key that cannot be used: the call is refused, but an occurrence that is being made goes without.
local function wrong(step, key, want)
  if cycle.making then return damage(key) end
  refuse('CORRUPT ' .. step .. ' ' .. key .. ' is a ' .. kind(key) .. ', not a ' .. want)
end

-- wait_in is the steps "Adding job to Parent" and "Adding job to Predecessor": a ticket in the upstream's list.
local wait_in
do
local minute
function wait_in(e, r)
  if not S[e.u] then -- an orphan, for the time being
    minute = minute or num(floor(now / 60000))
    r.o = minute
  end
  local kin = KIN[e.k]
  local key = list_key(e.u, kin and 'children' or 'onComplete', e.o)
  if not is(key, 'list') then wrong(kin and 'parent' or 'predecessor', key, 'list') end
  if cycle.making and not is(key, 'list') then return end
  if not lists[key] then
    lists[key] = {}
    table.insert(kin and parents_first or heirs_last, key)
  end
  table.insert(lists[key], r)
  local P, f = S[e.u], kin and 'k' or 'h'
  if P then P.fetched = nil end -- what was read of its list is out of date
  if P and e.o == opening(P) and not has(P, f) then
    flag(P, f)
    touch(P, true)
  end
end
end

-- enter puts a released, unfinished child into its parent's active set.
local function enter(P, u)
  if not is(active_key(P.u), 'set') then wrong('deadparent', active_key(P.u), 'set') end
  join(P.u, u)
  if not has(P, 'a') then
    flag(P, 'a')
    touch(P, true)
  end
end

-- edge_id names what an edge waits for, whatever its block: edges of one id have one ticket and one mark.
local function edge_id(e) return e.u .. ':' .. e.o .. (KIN[e.k] and 'p' or 'h') end

-- old_edges maps what a job waits or waited for.
local function old_edges(r)
  local map = {}
  for _, e in ipairs(edges(r.i)) do map[edge_id(e)] = e end
  if has(r, 'm') then
    local got = hashes[r.u] or call('HGETALL', edges_key(r.u))
    for i = 1, #got, 2 do
      if got[i] ~= '#' then
        for _, e in ipairs(edges(got[i + 1], '[^;]+')) do
          e.u = got[i]
          map[edge_id(e)] = e
        end
      end
    end
  end
  return map
end

local wire
do
-- refuse_edge checks what an edge needs of its upstream, and lets it count although that is withdrawn.
local function refuse_edge(r, e, P, was, replaces)
  if e.m == '!' and not P then refuse('UNKNOWN ' .. e.u) end
  if e.b and not was and not (P and P.st == 'r' and P.f == e.b) then refuse('OUTDATED ' .. r.u) end
  if e.u == replaces or P and has(P, 'w') then e.s = '!' end
end

-- wire_one is wire for the one edge of a new job.
local function wire_one(r, e, replaces)
  local P = S[e.u]
  refuse_edge(r, e, P, nil, replaces)
  local mark, joins = judge(e, P)
  e.m = mark
  r.i = edge_text(e)
  if mark == '?' then
    wait_in(e, r)
    return true
  end
  if joins then enter(P, r.u) end
  local how = verdict_on(e.k, mark)
  if how then exclude(r, how, e.u) end
  return false
end

-- wire gives a job its edges. Those it had before keep their mark and their ticket. It tells whether any is pending.
function wire(r, list, old, replaces)
  if #list == 0 and not old then return false end
  if #list == 1 and not old and list[1].k ~= 'd' and list[1].k ~= 'l' then return wire_one(r, list[1], replaces) end
  local inline, hash, order, groups, by_group, placed = {}, {}, {}, {}, {}, {}
  local preds, pending, undecided = 0, 0, 0
  for i = 1, #list do
    if not KIN[list[i].k] then preds = preds + 1 end
  end
  r.k, r.z = nil, nil
  for i = 1, #list do
    local e = list[i]
    local P, was = S[e.u], old and old[edge_id(e)]
    if was and was.m == '~' then was = nil end
    refuse_edge(r, e, P, was, replaces)
    local mark, joins = judge(e, P)
    if e.k == 'd' or e.k == 'l' then mark = '+' end
    if was and was.m ~= '?' then mark = was.m end
    e.m = mark
    if mark == '?' then
      pending = pending + 1
      if not was and not placed[edge_id(e)] then wait_in(e, r) end
      placed[edge_id(e)] = true
    end
    if joins and not has(r, 'w') then enter(P, r.u) end
    if KIN[e.k] or preds == 1 then
      inline[#inline + 1] = e
      local how = mark ~= '?' and verdict_on(e.k, mark)
      if how then exclude(r, how, e.u) end
    else
      local g = by_group[e.g or '0']
      if not g then
        g = {g = e.g or '0', k = e.k, p = 0, bad = 0}
        by_group[g.g] = g
        groups[#groups + 1] = g
      end
      if mark == '?' then
        g.p, undecided = g.p + 1, undecided + 1
      elseif mark == '-' then
        count_failure(g, e.u)
      end
      g.last = e.u
      if not hash[e.u] then order[#order + 1] = e.u end
      hash[e.u] = (hash[e.u] and hash[e.u] .. ';' or '') .. edge_text(e, '')
    end
  end
  r.i = edge_list(inline)
  for i = 1, #groups do judge_group(r, groups[i], groups[i].last) end
  clear(r, 'm')
  r.p = undecided > 0 and num(undecided) or nil
  if preds > 1 then
    flag(r, 'm')
    if not is(edges_key(r.u), 'hash') then wrong('predecessor', edges_key(r.u), 'hash') end
    local args = {}
    for i = 1, #order do
      args[#args + 1] = order[i]
      args[#args + 1] = hash[order[i]]
    end
    args[#args + 1] = '#'
    args[#args + 1] = groups_text(groups)
    hashes[r.u] = args
  elseif old then
    hashes[r.u] = {}
  end
  return pending > 0
end
end
