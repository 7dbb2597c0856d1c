-- meet: what becomes of a job when the upstream that a ticket of it waits for is decided. `settle` lists a job whose own work
-- is done or whose end is decided; settle.lua takes it to its end.
local work = {}
local dels = {} -- keys that commit deletes
local cycle, inbox = {}, {} -- filled by cycle.lua and inbox.lua, in the scripts that take jobs to their end

local function settle(r)
  if not r.queued then
    r.queued = true
    work[#work + 1] = r
  end
end

local function close_as(r, outcome, cause)
  r.st, r.x, r.z, r.w, r.d, r.o = 'c', outcome, cause or r.z, nil, nil, nil
  touch(r)
  settle(r)
end
carry.close_as = close_as

-- start: all edges are satisfied. The job waits for its time or is ready. A child of a dead parent joins in push.
local function start(r)
  r.o = nil
  if carry.obsolete(r) then return close_as(r, 'O') end
  local due = tonumber(r.d or 0)
  if r.e then due = max(due, now + tonumber(r.e)) end
  if due > now then schedule(r, due) else push(r) end
end

-- exclude remembers that an edge excluded the job; failure wins over the success of a skipped parent.
local function exclude(r, how, by)
  if how == '-' and r.k ~= '-' or not r.k then r.k, r.z = how, by end
end

local function decided(r)
  if r.p or r.i and find(r.i, '[?~]') or r.st ~= 'h' then return end
  if r.k then close_as(r, r.k == '-' and 'K' or 'k') else start(r) end
end

-- verdict_on tells how one decided edge, a group of its own, excludes: nil when it is satisfied.
local function verdict_on(kind, mark)
  if KIN[kind] then return mark ~= '+' and mark or nil end
  if kind == 's' and mark == '-' then return '-' end
  if kind == 'f' and mark ~= '-' then return '=' end
end

-- A job with two or more predecessors keeps those edges in the hash jobs:<u>:edges: upstream -> edges joined by ';'
-- without the uuid, and '#' -> all groups as <group><kind><pending>:<failed>[:<the first upstream that failed>],...
local function groups_text(groups)
  local t = {}
  for i = 1, #groups do
    local g = groups[i]
    t[i] = g.g .. g.k .. num(g.p) .. ':' .. num(g.bad) .. (g.by and ':' .. g.by or '')
  end
  return concat(t, ',')
end

-- judge_group excludes a job by a group that is decided; last is the upstream that was decided last.
local function judge_group(r, g, last)
  if g.p > 0 then return end
  if g.k == 's' and g.bad > 0 then exclude(r, '-', g.by) elseif g.k == 'f' and g.bad == 0 then exclude(r, '=', last) end
end

-- count_failure notes that an upstream of a group failed.
local function count_failure(g, u)
  g.bad = g.bad + 1
  g.by = g.by or u
end

-- drop ends a job that an unsuccessful attempt made. It leaves its other parents, which count it as little as anybody does.
local function drop(r, by)
  for _, e in ipairs(edges(r.i)) do
    local G = KIN[e.k] and e.m == '+' and get(e.u)
    if G then
      leave(e.u, r.u)
      if G.st == 'c' and not G.x then settle(G) end
    end
  end
  flag(r, 'w')
  close_as(r, 'X', by)
end

-- What only these two need is local to this block: a script has at most 200 locals in all.
local meet_child, meet_heir
do
local function groups_of(text)
  local list = {}
  for g, k, p, bad, by in gmatch(text or '', '(%d+)(%a)(%d+):(%d+):?([^,]*)') do
    list[#list + 1] = {g = g, k = k, p = tonumber(p), bad = tonumber(bad), by = by ~= '' and by or nil}
  end
  return list
end

-- cut tells whether an edge to P no longer counts: P is withdrawn and the edge is not its successor's.
local function cut(P, e) return has(P, 'w') and not e.s and not e.b end

-- cut_off marks such an edge when its ticket is met: the job stays held until somebody gives it other edges.
local function cut_off(r, e, list)
  e.m, r.o = '~', num(floor(now / 60000))
  r.i = edge_list(list)
  touch(r)
end

-- failed_making tells whether an edge was made by an attempt of P other than the one that succeeded.
local function failed_making(P, e)
  return e.b and (e.b ~= P.f or P.x and P.x ~= 'C' and P.x ~= 'f')
end

local function inline_edge(r, P, kin)
  local list = edges(r.i)
  for i = 1, #list do
    local e = list[i]
    if e.m == '?' and e.u == P.u and e.o == opening(P) and (KIN[e.k] ~= nil) == kin then return e, list end
  end
end

function meet_child(r, P, mark, joined)
  local e, list = inline_edge(r, P, true)
  if not e then return end
  if cut(P, e) then
    if not ENDED[r.st] then return cut_off(r, e, list) end
    e.m = '~' -- no ticket stands for it any more, should the job be retried
    r.i = edge_list(list)
    return touch(r, true)
  end
  if failed_making(P, e) then
    e.m = '-'
    r.i = edge_list(list)
    if ENDED[r.st] then return touch(r, true) end
    return drop(r, P.u)
  end
  if ENDED[r.st] then -- it ended while it waited: only its failure is left of it
    if mark == '+' and OUT[r.st] == '-' and e.k == 'p' and not has(r, 'w') then
      P.b = num(tonumber(P.b or 0) + 1)
      touch(P)
    end
    e.m = '-'
    r.i = edge_list(list)
    return touch(r, true)
  end
  e.m = mark
  r.i = edge_list(list)
  touch(r)
  if mark ~= '+' then
    exclude(r, mark, P.u)
  elseif not P.x and not has(r, 'w') then
    joined[#joined + 1] = r.u
  end
  decided(r)
end

function meet_heir(r, P, mark)
  if r.st ~= 'h' then return end
  if not has(r, 'm') then
    local e, list = inline_edge(r, P, false)
    if not e then return end
    if cut(P, e) then return cut_off(r, e, list) end
    if failed_making(P, e) then return drop(r, P.u) end
    e.m = mark
    r.i = edge_list(list)
    touch(r)
    local how = verdict_on(e.k, mark)
    if how then exclude(r, how, P.u) end
    return decided(r)
  end
  local key = edges_key(r.u)
  if not is(key, 'hash') then return damage(key) end
  local got = call('HMGET', key, P.u, '#')
  local list, groups, hits, cuts = edges(got[1], '[^;]+'), groups_of(got[2]), 0, false
  for i = 1, #list do
    local e = list[i]
    if e.m == '?' and e.o == opening(P) and cut(P, e) then
      e.m, cuts, r.o = '~', true, num(floor(now / 60000))
    elseif e.m == '?' and e.o == opening(P) then
      if failed_making(P, e) then return drop(r, P.u) end
      e.m, hits = mark, hits + 1
      for j = 1, #groups do
        local g = groups[j]
        if g.g == (e.g or '0') then
          g.p = g.p - 1
          if mark == '-' then count_failure(g, P.u) end
          judge_group(r, g, P.u)
        end
      end
    end
  end
  if hits == 0 and not cuts then return end
  for i = 1, #list do list[i] = edge_text(list[i], '') end
  call('HSET', key, P.u, concat(list, ';'), '#', groups_text(groups))
  local p = tonumber(r.p or 0) - hits
  r.p = p > 0 and num(p) or nil
  touch(r)
  decided(r)
end
end
