-- template: how apply stores and changes templates. template:<t> has the fields
--   kind     s scheduled, g gated, d downstream
--   when     the schedule's canonical text, '' for others; catchup l, n or a; overlap a, s or r; off 1 when declared disabled
--   hand     1 while paused by hand
--   since    the last time judged by its schedule (ms); next its next tick, '' while nobody computed it
--   max      cycles until it is on hold, 0 for no limit; used those it had; last the latest tick
--   entry    the status entry that its occurrences start from; edges as given
-- `ticks` lists scheduled templates by their next tick, or by when that is to be computed.
do
local writes, stored = {}, {} -- commands to come; what this call has stored already, by uuid

local function write(...) writes[#writes + 1] = {...} end

-- FIELDS are read before a change.
local FIELDS = {'when', 'off', 'max', 'used', 'hand', 'edges'}

-- link lists a template with its upstreams, or takes it out with ZREM.
local function link(cmd, r, list)
  for _, e in ipairs(list) do
    local key = cycle.emits_key(e.u, KIN[e.k] and 'children' or 'heirs')
    if not is(key, 'zset') then refuse('CORRUPT ' .. key .. ' is a ' .. kind(key) .. ', not a zset') end
    if cmd == 'ZADD' then write(cmd, key, num(r.n), r.u) else write(cmd, key, r.u) end
  end
end

-- put stores what a template is. f has the fields as they were, none of a new one.
local function put(r, c, f)
  local key = cycle.key(r.u)
  local kind_of, catchup, overlap, off, most, when = match(c.template, '^(%a)(%a)(%a)(%d)|(%d+)|(.*)$')
  need('hash', 'template:' .. r.u)
  need('zset', 'ticks')
  for _, e in ipairs(c.edges) do
    if e.m == '!' and not S[e.u] then refuse('UNKNOWN ' .. e.u) end
    e.m = '?'
  end
  off = off == '1' and '1' or ''
  local used, new_max = tonumber(f.used or 0), tonumber(most)
  local held = new_max > 0 and used >= new_max
  local was_held = tonumber(f.max or 0) > 0 and used >= tonumber(f.max)
  local ticks = kind_of == 's' and off == '' and f.hand ~= '1' and not held
  write('HSET', key, 'kind', kind_of, 'when', when, 'catchup', catchup, 'overlap', overlap, 'off', off, 'max', most,
    'entry', c.entry, 'edges', edge_list(c.edges) or '')
  if not ticks then
    write('HSET', key, 'next', '')
    write('ZREM', PRE .. 'ticks', r.u)
  elseif f.when ~= when or f.off ~= off or was_held then
    write('HSET', key, 'since', now_text, 'next', '')
    write('ZADD', PRE .. 'ticks', now_text, r.u)
  end
  flag(r, 'b')
  bytes[#bytes + 1] = PRE .. 'jobs:' .. r.u
  bytes[#bytes + 1] = c.bytes
  labels.give(r, c.labels)
  carry.take(r, c)
  stored[r.u] = {when = when, off = off, max = most, used = f.used, hand = f.hand, edges = edge_list(c.edges)}
  touch(r)
end

-- store makes a new record a template.
function cycle.store(r, c)
  seq = seq + 1
  r.st, r.n = 't', seq -- in the order of their places they emit
  r.y, r.r, r.c, r.v, r.e, r.d, r.m = nil, nil, nil, nil, nil, nil, nil
  flag(r, 't')
  S[r.u] = r
  put(r, c, {})
  cycle.gate(r, c.gate, write)
  link('ZADD', r, c.edges)
end

-- restore changes a template for later cycles.
function cycle.restore(r, c)
  local f, key = stored[r.u], cycle.key(r.u)
  if not is(key, 'hash') then return need('hash', 'template:' .. r.u) end
  if not f then
    local got = call('HMGET', key, unpack(FIELDS))
    f = {}
    for i = 1, #FIELDS do f[FIELDS[i]] = got[i] or nil end
  end
  local new = decode(r.u, c.entry)
  r.q, r.ln = new.q, new.ln
  put(r, c, f)
  if sub(c.template, 1, 1) == 'd' then write('DEL', PRE .. 'backlog:' .. r.u) end -- its root's cycles are its own
  cycle.gate(r, c.gate, write)
  link('ZREM', r, edges(f.edges))
  link('ZADD', r, c.edges)
end

-- flush writes what the call stores of templates, past its last check.
function cycle.flush()
  for i = 1, #writes do call(unpack(writes[i])) end
end
end
