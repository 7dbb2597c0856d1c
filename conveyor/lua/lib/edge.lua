-- edge: what jobs wait for. As text an edge is <mark><kind>[!]:<upstream>[:<opening>[:<group>[:<fence>]]].
-- mark: ? not decided, + success, - failure, = success of a skipped parent, ~ cut: the upstream was withdrawn.
-- kind: p parent, i parent that this job's failure does not fail, d and l the same of a dead parent; s f a predecessor by run_if.
-- ! marks an edge that counts although its upstream is withdrawn; fence is that of the attempt that made it.
local KIN = {p = 1, i = 0, d = 1, l = 0} -- kinds of parents: 1 where this job's failure counts

-- What an upstream's outcome means to children and to heirs.
local PASS = {C = '+', f = '+', O = '+', k = '=', F = '-', X = '-', E = '-', K = '-'}
local OUT = {C = '+', O = '+', k = '+', F = '-', f = '-', X = '-', E = '-', K = '-'}

local function edge(text)
  if byte(text, 3) == 58 and not find(text, ':', 4, true) then -- most edges: <mark><kind>:<upstream>
    return {m = sub(text, 1, 1), k = sub(text, 2, 2), u = sub(text, 4), o = 1}
  end
  local m, k, s, u, o, g, b = match(text, '^(.)(%a)(!?):([^:]*):?(%d*):?(%d*):?(%d*)$')
  if not m then return nil end
  return {m = m, k = k, s = s ~= '' and s or nil, u = u, o = tonumber(o) or 1, g = g ~= '' and g or nil,
    b = b ~= '' and b or nil}
end

local function edges(text, by)
  local list = {}
  if not text then return list end
  if not by and not find(text, ',', 1, true) then
    list[1] = edge(text)
    return list
  end
  for part in gmatch(text, by or '[^,]+') do list[#list + 1] = edge(part) end
  return list
end

local function edge_text(e, u)
  if e.o == 1 and not e.g and not e.b then return e.m .. e.k .. (e.s or '') .. ':' .. (u or e.u) end
  local t = e.m .. e.k .. (e.s or '') .. ':' .. (u or e.u) .. ':' .. (e.o ~= 1 and num(e.o) or '') .. ':' .. (e.g or '')
  return e.b and t .. ':' .. e.b or t
end

local function edge_list(list)
  if #list == 1 then return edge_text(list[1]) end
  local t = {}
  for i = 1, #list do t[i] = edge_text(list[i]) end
  return #t > 0 and concat(t, ',') or nil
end

local function opening(r) return tonumber(r.g or 1) end

-- judge is the mark of an edge as its upstream P stands now, and whether the job enters P's active set for it.
local function judge(e, P)
  if not P then return '?' end
  local by, g = KIN[e.k] and PASS or OUT, opening(P)
  if e.o > g then return '?' end
  if e.o < g then return by[sub(P.h or '', e.o, e.o)] or '+' end
  if P.x or ENDED[P.st] then return by[P.x or P.st] end
  if P.st == 'c' and KIN[e.k] then return '+', true end
  return '?'
end

-- Openings after the first have lists of their own, so that what waits for one never stands in another's way.
local function list_key(u, class, o)
  local key = PRE .. 'jobs:' .. u .. ':' .. class
  if o > 1 then return key .. ':' .. num(o) end
  return key
end
local function active_key(u) return PRE .. 'jobs:' .. u .. ':active' end
local function edges_key(u) return PRE .. 'jobs:' .. u .. ':edges' end

-- Membership of active sets is collected too: joins are written before anything that could make a child visible,
-- leaves when a parent is looked at and at the latest by commit.
local joins, leaves = {}, {}

local function join(p, u)
  joins[p] = joins[p] or {}
  table.insert(joins[p], u)
end

local function leave(p, u)
  leaves[p] = leaves[p] or {}
  table.insert(leaves[p], u)
end

local function flush_members(p)
  local add, rem = joins[p], leaves[p]
  if not add and not rem then return end
  local key = active_key(p)
  joins[p], leaves[p] = nil, nil
  if not is(key, 'set') then return damage(key) end
  if add then many('SADD', key, add) end
  if rem then many('SREM', key, rem) end
end

local function flush_all_members()
  local ps = {}
  for p in pairs(joins) do ps[#ps + 1] = p end
  for p in pairs(leaves) do
    if not joins[p] then ps[#ps + 1] = p end
  end
  for i = 1, #ps do flush_members(ps[i]) end
end
