-- repair: mends what Verify has found, each piece only if the status entry that it rests on is as it was seen, and what is
-- wrong still is. So nothing that moved meanwhile is changed, and doing it twice is doing it once.
-- KEYS: 1 <prefix>status.
-- ARGV: per piece: kind, uuid or '', status entry as seen or '', what to tell, number of arguments, arguments. The kinds are
--   the functions of FIX.
-- Replies: 1 or 0 per piece: mended, or left alone.
-- Errors: CORRUPT <key> ...
check_fixed()
need('list', 'setaside')
need('zset', 'workers', 'callers', 'removals', 'sweeps', 'expiry')
if fault then return redis.error_reply(fault) end

local function times(key, t)
  local got = call('LPOS', key, t, 'COUNT', 0)
  return got and #got or 0
end

local function keep_aside(text) call('LPUSH', PRE .. 'setaside', text) end

-- lost ends a job whose bytes are gone, so that what waits for it is decided.
local function lost(r)
  failures[#failures + 1] = r.u
  failures[#failures + 1] = 'the job\'s bytes are gone from the store'
  close_as(r, (r.st == 'h' or r.st == 's') and 'X' or 'F')
  return true
end

-- find_bytes brings back the ticket with the job's bytes, unless these are in jobs:<uuid>; false: there are none.
local function find_bytes(r, full)
  if has(r, 'b') then return true end
  if full == '' then return false end
  r.T = full
  return true
end

-- unticket takes a job's tickets out of a list.
local function unticket(r, key, full)
  if not is(key, 'list') then return end
  call('LREM', key, 0, slim(r.u))
  call('LREM', key, 0, full)
end

-- note_waiter says in an upstream's entry that somebody waits in a list of it: k a child, h an heir. One that is closing already
-- works that list off now.
local function note_waiter(P, f)
  flag(P, f)
  touch(P, true)
  if P.st == 'c' then settle(P) end
end

local FIX = mend -- what concerns templates and cycles is there already

function FIX.lost(r)
  if not r or ENDED[r.st] or r.st == 'c' then return false end
  if r.st == 'r' or r.st == 'H' or has(r, 'b') then
    local key = PRE .. 'jobs:' .. r.u
    if call('EXISTS', key) == 1 and is(key, 'string') then return false end
  end
  return lost(r)
end

-- A queued job has one ticket in its list, to the left of the one whose place is next below its own.
function FIX.queued(r, pivot, full)
  if not r or r.st ~= 'q' then return false end
  local key = queue_key(r.q, r.ln)
  if not is(key, 'list') or not find_bytes(r, full) then return false end
  local thin, apart = slim(r.u, r.n), has(r, 'b')
  local thins, fulls = times(key, thin), full ~= '' and times(key, full) or 0
  if apart and thins + (has(r, 'd') and 0 or fulls) == 1 or not apart and fulls == 1 and thins == 0 then return false end
  if pivot ~= '' and times(key, pivot) == 0 then return false end
  call('LREM', key, 0, thin)
  call('LREM', key, 0, full)
  local t = apart and thin or full
  if pivot == '' then call('RPUSH', key, t) else call('LINSERT', key, 'BEFORE', pivot, t) end
  woken[r.q] = (woken[r.q] or 0) + 1
  return true
end

function FIX.due(r, full)
  if not r or r.st ~= 's' or not find_bytes(r, full) then return false end
  local t, key = has(r, 'b') and slim(r.u) or full, PRE .. 'scheduled'
  if not r.d then r.d = now_text end
  local score = call('ZSCORE', key, t)
  if score and floor(tonumber(score) * 1000 + 0.5) == tonumber(r.d) then return false end
  call('ZADD', key, score_of(r.d), t)
  return true
end

function FIX.wait(r, up, class, o, full)
  local key = list_key(up, class, tonumber(o))
  if not r or r.st ~= 'h' or not is(key, 'list') or not find_bytes(r, full) then return false end
  local t = has(r, 'b') and slim(r.u) or full
  if times(key, t) > 0 then return false end
  call('LPUSH', key, t)
  local P, f = get(up), class == 'children' and 'k' or 'h'
  if P and not P.bad and opening(P) == tonumber(o) and not has(P, f) then note_waiter(P, f) end
  return true
end

function FIX.flag(r, up, f)
  local P = get(up)
  if not r or r.st ~= 'h' or not P or P.bad or has(P, f) then return false end
  note_waiter(P, f)
  return true
end

-- decide judges one edge by an opening of its upstream that is over.
function FIX.decide(r, up, class, o, full)
  local P = get(up)
  o = tonumber(o)
  if not r or r.st ~= 'h' or not P or P.bad or opening(P) < o or opening(P) == o and not ENDED[P.st] then return false end
  if not find_bytes(r, full) then return false end
  local st = P.st
  if o < opening(P) then st = sub(P.h or '', o, o) end
  local by = class == 'children' and PASS or OUT
  local past = {u = up, g = num(o), fl = P.fl, f = P.f, st = st}
  if class == 'children' then meet_child(r, past, by[st] or '+', {}) else meet_heir(r, past, by[st] or '+') end
  unticket(r, list_key(up, class, o), full)
  return r.dirty
end

-- recount decides a held job by the marks of its edges; when those are gone, by what its bytes declare.
function FIX.recount(r, declared, full)
  if not r or r.st ~= 'h' or not find_bytes(r, full) then return false end
  local lost = has(r, 'm') and call('EXISTS', edges_key(r.u)) == 0
  local list = lost and edges(declared) or {}
  for i = 1, #list do
    local P = get(list[i].u)
    if P and P.bad then return false end
  end
  r.k, r.z, r.p = nil, nil, nil
  if lost then
    r.i = nil
    if not wire(r, list, nil, nil) then
      if r.k then close_as(r, r.k == '-' and 'K' or 'k') else start(r) end
    end
    return true
  end
  for _, e in ipairs(edges(r.i)) do
    local how = e.m ~= '?' and e.m ~= '~' and verdict_on(e.k, e.m)
    if how then exclude(r, how, e.u) end
  end
  local counted = false
  if has(r, 'm') and is(edges_key(r.u), 'hash') then
    local got, ups, hash, groups, by, undecided = call('HGETALL', edges_key(r.u)), {}, {}, {}, {}, 0
    for i = 1, #got, 2 do
      hash[got[i]] = got[i + 1]
      if got[i] ~= '#' then ups[#ups + 1] = got[i] end
    end
    table.sort(ups) -- stores list a hash in orders of their own
    for _, u in ipairs(ups) do
      for _, e in ipairs(edges(hash[u], '[^;]+')) do
        local g = by[e.g or '0']
        if not g then
          g = {g = e.g or '0', k = e.k, p = 0, bad = 0}
          by[g.g] = g
          groups[#groups + 1] = g
        end
        if e.m == '?' or e.m == '~' then g.p, undecided = g.p + 1, undecided + 1 elseif e.m == '-' then count_failure(g, u) end
        g.last = u
      end
    end
    for i = 1, #groups do judge_group(r, groups[i], groups[i].last) end
    counted = hash['#'] ~= groups_text(groups)
    call('HSET', edges_key(r.u), '#', groups_text(groups))
    r.p = undecided > 0 and num(undecided) or nil
  end
  decided(r)
  return counted or encode(r) ~= r.was
end

function FIX.settle(r)
  if not r or r.st ~= 'c' or call('ZSCORE', PRE .. 'todo', r.u) then return false end
  flush_members(r.u)
  if not r.x and call('EXISTS', active_key(r.u)) == 1 then return false end
  settle(r)
  return true
end

function FIX.member(r, p)
  local G = get(p)
  if not r or ENDED[r.st] or has(r, 'w') or not G or G.st ~= 'c' or G.x or not is(active_key(p), 'set') then return false end
  for _, e in ipairs(edges(r.i)) do
    if KIN[e.k] and e.m == '+' and e.u == p and e.o == opening(G) and call('SISMEMBER', active_key(p), r.u) == 0 then
      enter(G, r.u)
      return true
    end
  end
  return false
end

-- listed_in tells whether a set of labels has to name a job.
local function listed_in(r, name)
  local packed = r and has(r, 'l') and is(labels.key, 'hash') and call('HGET', labels.key, r.u)
  local class, label = match(name, '^(%a+):(.*)$')
  if r and r.C and class == 'cycle' then
    local tick, _, root = cycle.of(r)
    return not ENDED[r.st] and label == root .. ':' .. tick
  end
  if not packed or class ~= (ENDED[r.st] and 'past' or has(r, 't') and 'kind' or 'label') then return false end
  if label == '=' then return true end
  for k, v in gmatch(packed, '([^=,]+)=([^,]*)') do
    if label == k .. '=' .. v or label == k .. '=' or label == '=' .. v then return true end
  end
  return false
end

function FIX.unref(r, name, what)
  local key = PRE .. name
  if not is(key, what) then return false end
  if what == 'zset' then return call('ZREM', key, FIX.u) > 0 end
  if listed_in(r, name) or call('SREM', key, FIX.u) == 0 then return false end
  local p = match(name, '^jobs:(.+):active$')
  local G = p and get(p)
  if G and G.st == 'c' and not G.x then settle(G) end
  return true
end

function FIX.index(r, name)
  return listed_in(r, name) and is(PRE .. name, 'set') and call('SADD', PRE .. name, FIX.u) > 0
end

function FIX.relabel(r, packed)
  if not r or not is(labels.key, 'hash') then return false end
  if (call('HGET', labels.key, r.u) or '') == packed and (packed ~= '') == (has(r, 'l') ~= nil) then return false end
  if packed == '' then
    call('HDEL', labels.key, r.u)
    clear(r, 'l')
  else
    labels.give(r, packed)
  end
  return true
end

-- recarry: the hash and the flag agree again; text is what the job is to carry when that is lost.
function FIX.recarry(r, f, text)
  local key = PRE .. carry.keys[f]
  if not r or not is(key, 'hash') then return false end
  local stored = call('HGET', key, r.u)
  if (stored and true or false) == (has(r, f) ~= nil) then return false end
  if stored then text = stored end
  carry.give(r, f, text ~= '' and text or nil)
  return true
end

function FIX.owner(r)
  if not r or r.st ~= 'r' then return false end
  local key = held_key(r.w)
  if not is(key, 'zset') or call('ZSCORE', key, r.u) then return false end
  call('ZADD', key, r.w and num(r.n) or num(now + 60000), r.u)
  if r.w then call('ZADD', PRE .. 'workers', 'NX', now_text, r.w) end
  return true
end

function FIX.unowned(r)
  if not r or r.st == 'r' or not r.w then return false end
  r.w = nil
  return true
end

function FIX.unfenced(r)
  if not r or r.st ~= 'r' or r.f then return false end
  r.w = nil
  push(r, true)
  return true
end

function FIX.unbytes(r)
  if not r or r.st ~= 'c' or not has(r, 'b') then return false end
  clear(r, 'b')
  return true
end

-- The bytes of a job that failed are kept for a retry; those of an unknown one are set aside. Commit takes the flag that says
-- where they are from a job that is over.
function FIX.bytes(r)
  local key = PRE .. 'jobs:' .. FIX.u
  if r and not ENDED[r.st] or not is(key, 'string') then return false end
  local text = call('GET', key)
  if not text then return false end
  if not r then keep_aside(key .. ' ' .. text) elseif r.st == 'F' then call('HSETNX', PRE .. 'failed', r.u, text) end
  call('DEL', key)
  return true
end

-- unedged removes the edges of a job that is over; commit takes the flag of them.
function FIX.unedged(r)
  return r and ENDED[r.st] and call('DEL', edges_key(r.u)) > 0
end

function FIX.field(r, name)
  return not r and is(PRE .. name, 'hash') and call('HDEL', PRE .. name, FIX.u) > 0
end

-- drop removes a key of a job that is gone; a list only if nobody known waits there.
function FIX.drop(r, name)
  local key = PRE .. name
  if r or call('EXISTS', key) == 0 then return false end
  if kind(key) == 'list' then
    local t, us = call('LRANGE', key, 0, -1), {}
    for i = 1, #t do us[i] = uuid_of(t[i]) or false end
    load(us)
    for i = 1, #t do
      if S[us[i]] then return false end
    end
    for i = 1, #t do
      if not us[i] then set_aside(key, t[i]) end
    end
  end
  call('DEL', key)
  return true
end

-- retain: commit lists the job as one that ended now.
function FIX.retain(r)
  if not r or not ENDED[r.st] or has(r, 'r') then return false end
  if r.r then
    if call('ZSCORE', PRE .. 'removals', r.u) then return false end
  else
    local key, mine = PRE .. 'ended:' .. r.q, ' ' .. r.u
    if not is(key, 'list') then return false end
    local t = call('LRANGE', key, 0, 999)
    for i = 1, #t do
      if sub(t[i], -#mine) == mine then return false end
    end
  end
  r.expire = true
  return true
end

-- A unique key is held by the live job that has it as tag y.
local function owns(u, y)
  local r = get(u)
  return r and not r.bad and not r.gone and not ENDED[r.st] and r.y == y
end

function FIX.free(r, y)
  local key = PRE .. 'unique'
  if not is(key, 'hash') or call('HGET', key, y) ~= FIX.u or owns(FIX.u, y) then return false end
  call('HDEL', key, y)
  return true
end

function FIX.hold(r)
  local key = PRE .. 'unique'
  if not r or not r.y or ENDED[r.st] or not is(key, 'hash') then return false end
  if owns(call('HGET', key, r.y), r.y) then return false end
  call('HSET', key, r.y, r.u)
  return true
end

function FIX.unkey(r, holder)
  if not r or not r.y or call('HGET', PRE .. 'unique', r.y) ~= holder or not owns(holder, r.y) then return false end
  r.y = nil
  return true
end

function FIX.expiry(r, at)
  local key = PRE .. 'expiry'
  if not r or not r.v or match(r.v, '^%d+') ~= at or tonumber(call('ZSCORE', key, r.u) or 0) == tonumber(at) then return false end
  call('ZADD', key, at, r.u)
  return true
end

function FIX.sweep(_, q)
  if call('EXISTS', PRE .. 'ended:' .. q) == 0 or call('ZSCORE', PRE .. 'sweeps', q) then return false end
  call('ZADD', PRE .. 'sweeps', now_text, q)
  return true
end

-- entry: the status is unreadable. With a ticket that has the job's bytes a human can add it again.
function FIX.entry(_, seen, full)
  local text = call('HGET', PRE .. 'status', FIX.u)
  if text ~= seen then return false end
  if full ~= '' then keep_aside(PRE .. 'jobs:' .. FIX.u .. ' ' .. full) end
  keep_aside(PRE .. 'status ' .. FIX.u .. ' ' .. text)
  call('HDEL', PRE .. 'status', FIX.u)
  S[FIX.u] = false
  return true
end

function FIX.aside(_, name, what, text)
  local key = PRE .. name
  if not is(key, what) then return false end
  local n = what == 'list' and call('LREM', key, 0, text) or what == 'zset' and call('ZREM', key, text) or 0
  if n == 0 then return false end
  for _ = 1, n do keep_aside(key .. ' ' .. text) end
  return true
end

function FIX.settings(_, q, text)
  local key = PRE .. 'queues'
  if not is(key, 'hash') or call('HGET', key, q) ~= text then return false end
  keep_aside(key .. ' ' .. q .. ' ' .. text)
  call('HDEL', key, q)
  return true
end

-- worker: one that nobody knows is registered as seen now: the tick takes its jobs back if it does not check in.
function FIX.worker(_, id)
  if call('EXISTS', PRE .. 'worker:' .. id, PRE .. 'worker:' .. id .. ':jobs') == 0 then return false end
  return call('ZADD', PRE .. 'workers', 'NX', now_text, id) > 0
end

function FIX.caller(_, id)
  if call('EXISTS', PRE .. 'call:' .. id) == 0 or call('ZSCORE', PRE .. 'workers', id) then return false end
  return call('ZADD', PRE .. 'callers', 'NX', now_text, id) > 0
end

-- unrepaired tells whether no repair was made since an event: a counter that was compared then is off by as much still.
local function unrepaired(since)
  local got = call('XRANGE', PRE .. 'events', num(since + 1), '+', 'COUNT', 1000)
  if #got ~= counter('events:seq') - since then return false end
  for i = 1, #got do
    local v = got[i][2]
    for j = 1, #v, 2 do
      if v[j] == 'k' and v[j + 1] == 'repair' then return false end
    end
  end
  return true
end

function FIX.counter(_, name, field, by, since)
  local key = PRE .. name
  if not unrepaired(tonumber(since)) then return false end
  local n = tonumber(call('HGET', key, field) or 0) or 0
  if n + tonumber(by) == 0 then call('HDEL', key, field) else call('HSET', key, field, num(n + tonumber(by))) end
  return true
end

function FIX.number(_, name, least)
  if name == 'seq' then
    if seq >= tonumber(least) then return false end
    seq = tonumber(least)
    return true
  end
  if counter(name) >= tonumber(least) then return false end
  call('SET', PRE .. name, least)
  return true
end

local pieces, us, at = {}, {}, 1
while at <= #ARGV do
  local p = {kind = ARGV[at], u = ARGV[at + 1], seen = ARGV[at + 2], text = ARGV[at + 3], args = {}}
  local n = tonumber(ARGV[at + 4])
  for i = 1, n do p.args[i] = ARGV[at + 4 + i] end
  at = at + 5 + n
  pieces[#pieces + 1] = p
  us[#us + 1] = p.u
end
load(us)
local out, lines = {}, {}
for i, p in ipairs(pieces) do
  local r = p.u ~= '' and S[p.u] or nil
  local same = not r and p.seen == '' or r and not r.bad and r.was == p.seen and (not r.dirty or encode(r) == r.was)
  FIX.u = p.u
  local done
  if p.kind == 'entry' then
    done = FIX.entry(r, p.seen, p.args[1])
  elseif same and #changed < BUDGET - 10 then
    done = FIX[p.kind](r, unpack(p.args))
  end
  if done and S[p.u] then
    touch(S[p.u])
    S[p.u].shown = true
  end
  if done then lines[#lines + 1] = p.text end
  out[i] = done and 1 or 0
end
if fault then return redis.error_reply(fault) end
flush_graph()
settle_all()
commit('repair', #lines > 0 and {'r', concat(lines, '\n')} or nil)
return out
