-- apply: makes a list of changes in order, all or none. Also Add, Update, Cancel, Retry and Release.
-- KEYS: 1 <prefix>status.
-- ARGV: event kind; guard key, field, value (key '' for none); number of companion writes, each: key, field, version,
--   value; then the changes, each: kind with options, uuid, and what these say.
--   Versions are '=<version>' to set and '-<version>' to remove (no value follows).
--   Kinds: A add, U update, C cancel, L drop the recorded flag, F likewise and nothing else, O reopen, T companion write only, R retry, H release, D remove.
--   A and U: entry text (state ignored), bytes. O and R: opening; with option s then entry text. Options, in this order:
--   s see O and R; e edges follow; l labels follow; v labels that make it obsolete follow; g labels that its success flips follow; h labels that it
--   waits for as a gate follow; m it is a template: its settings
--   follow, "<kind><catchup><overlap><disabled>|<max_cycles>|<schedule>", see lib/template.lua; y the state that its first execution
--   gets follows; x expected state letters follow; p the replaced uuid follows;
--   t companion write follows;
--   w withdraw; n cancel the replaced one; b bytes go to jobs:<uuid>; d it goes to all workers.
-- Replies: how many jobs ended since they are obsolete; the keys that are damaged and delay some job, usually none. Errors: GUARD; CONFLICT <index>:<state or
--   version>:<s|v>,...; OUTDATED <uuid>; UNKNOWN <uuid>; UNIQUE <key> <holder> <uuid>; STATE <uuid>; TEMPLATE <uuid>; CORRUPT [<step>] <key> ...
strict_keys = true
check_fixed()
local at = 1
local function arg()
  at = at + 1
  return ARGV[at - 1]
end

local event = arg()
local guard_key = arg()
local guard_field = arg()
local guard_value = arg()
local fields = {} -- key -> field -> value
local function companion()
  local key, field, version = PRE .. ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local remove, value = byte(version) == 45, false
  at = at + 3
  if not remove then
    value = ARGV[at]
    at = at + 1
  end
  fields[key] = fields[key] or {}
  fields[key][field] = false
  return {key = key, field = field, version = sub(version, 2), remove = remove, value = value}
end

local companions = {}
for i = 1, tonumber(arg()) do companions[i] = companion() end

-- options reads what a change announces, each text once: its kind, its letters, and whether there is one that few changes have.
local read_options = {}
local function options(text)
  local o = read_options[text]
  if not o then
    o = {kind = sub(text, 1, 1), few = find(text, '[^et]', 2)}
    for letter in gmatch(sub(text, 2), '.') do o[letter] = true end
    read_options[text] = o
  end
  return o
end

local list, uuids, none = {}, {}, {}
local argc = #ARGV
while at <= argc do
  local o = options(ARGV[at])
  -- What most changes have is named here, also empty: the table is made in its final size.
  local c = {u = ARGV[at + 1], kind = o.kind, edges = none, entry = nil, bytes = nil, attach = nil}
  at = at + 2
  list[#list + 1] = c
  uuids[#uuids + 1] = c.u
  if c.kind == 'A' or c.kind == 'U' then
    c.entry, c.bytes = ARGV[at], ARGV[at + 1]
    at = at + 2
  elseif c.kind == 'O' or c.kind == 'R' then
    c.opening = tonumber(arg())
    if o.s then c.entry = arg() end
  end
  if o.e then
    c.edges = edges(ARGV[at])
    at = at + 1
    for _, e in ipairs(c.edges) do uuids[#uuids + 1] = e.u end
  end
  if o.few then
    if o.l then
      c.labels = arg()
      need('hash', 'labels')
    end
    if o.v then
      c.v = arg()
      need('hash', 'roots')
    end
    if o.g then
      c.g = arg()
      need('hash', 'triggers')
    end
    c.gate = o.h and arg()
    c.template = o.m and arg()
    if o.y then
      c.s = arg()
      need('hash', 'sync')
    end
    if o.d then
      c.all = true
      need('zset', 'workers')
    end
    c.expect = o.x and arg()
    c.replaces = o.p and arg()
    c.withdraw, c.cancel, c.apart = o.w, o.n, o.b
    uuids[#uuids + 1] = c.replaces
  end
  if o.t then c.attach = companion() end
end

if guard_key ~= '' then
  need('hash', guard_key)
  if fault then return redis.error_reply(fault) end
  if call('HGET', PRE .. guard_key, guard_field) ~= guard_value then return redis.error_reply('GUARD does not hold') end
end
for key, values in pairs(fields) do
  if not is(key, 'hash') then return redis.error_reply('CORRUPT ' .. key .. ' is a ' .. kind(key) .. ', not a hash') end
  local names = {}
  for name in pairs(values) do names[#names + 1] = name end
  for i = 1, #names, 500 do
    local last = min(i + 499, #names)
    local got = call('HMGET', key, unpack(names, i, last))
    for j = i, last do values[names[j]] = got[j - i + 1] end
  end
end
if fault then return redis.error_reply(fault) end
unique.coming = list
load(uuids)
for _, u in ipairs(uuids) do
  if S[u] and S[u].bad then return redis.error_reply('CORRUPT ' .. PRE .. 'status entry of ' .. u) end
end

-- Lists that were filled before their upstream came are flagged in its entry.
local fresh, listed = {}, 0
for _, c in ipairs(list) do
  if c.kind == 'A' and not S[c.u] then
    fresh[#fresh + 1] = list_key(c.u, 'children', 1)
    fresh[#fresh + 1] = list_key(c.u, 'onComplete', 1)
  end
end
for i = 1, #fresh, 500 do listed = listed + call('EXISTS', unpack(fresh, i, min(i + 499, #fresh))) end
local function lists_of(r)
  if listed == 0 and not next(lists) then return end
  local k, h = list_key(r.u, 'children', 1), list_key(r.u, 'onComplete', 1)
  if lists[k] or listed > 0 and kind(k) ~= 'none' then flag(r, 'k') end
  if lists[h] or listed > 0 and kind(h) ~= 'none' then flag(r, 'h') end
end

local conflicts, hsets, hdels = {}, {}, {}

-- written tells whether a companion write is there already: then this call, or its part, was done before. A write that
-- expects any version cannot tell, and is done again.
local function written(a)
  local v = fields[a.key][a.field]
  if a.version == '-1' then return false end
  if a.remove then return not v and a.version ~= '0' end
  return v == a.value
end

local function write(index, a)
  if written(a) then return end
  local v = fields[a.key][a.field]
  local found = v and (match(v, '^%d+') or '0') or '0'
  if a.version ~= '-1' and (found ~= a.version or a.version == '0' and v) then
    conflicts[#conflicts + 1] = index .. ':' .. found .. ':v'
    return
  end
  if a.remove then append(hdels, a.key, a.field) else append(hsets, a.key, a.field, a.value) end
end

local function known(index, c, r)
  if c.expect and not find(c.expect, r and r.st or '-', 1, true) then
    conflicts[#conflicts + 1] = index .. ':' .. (r and r.st or '-') .. ':s'
    return false
  end
  return true
end

local function needs(index, r)
  if not r then conflicts[#conflicts + 1] = index .. ':-:s' end
  return r
end

local function replace(c)
  local old = c.replaces and S[c.replaces]
  if not old or old.gone then return end
  withdraw(old)
  if c.cancel or old.st == 't' then cancel(old) end
  unrecord(old, true)
end

-- remade tells whether a held job was made by an earlier attempt of the one that makes it again now.
local function remade(r, c)
  local old
  for _, n in ipairs(r.st == 'h' and c.edges or none) do
    local P = n.b and S[n.u]
    if P and P.st == 'r' and P.f == n.b then
      old = old or old_edges(r)
      for _, e in pairs(old) do
        if e.b and e.u == n.u and e.b ~= n.b then return true end
      end
    end
  end
end

local function change(index, c)
  local r = S[c.u]
  if r and r.gone then -- by this very call: a uuid is not used again
    conflicts[#conflicts + 1] = index .. ':-:s'
    return
  end
  if c.attach and written(c.attach) then return end
  local subject = r
  if c.kind == 'A' and c.replaces then subject = S[c.replaces] end
  if not known(index, c, subject) then return end
  if c.attach then write(index, c.attach) end
  local records = c.attach and not c.attach.remove
  if c.kind == 'A' then
    if not r then
      r = sprout(c.u, c.entry)
      if records then flag(r, 'r') end
      lists_of(r)
      if c.template then cycle.store(r, c) else add(r, c.edges, c.bytes, c.apart, c.replaces, c.labels, c) end
    else
      if records and not has(r, 'r') then
        flag(r, 'r')
        touch(r, true)
      end
      if remade(r, c) then update(r, decode(c.u, c.entry), c.edges, c.bytes, c.labels, c) end
    end
    return replace(c)
  end
  if c.kind == 'T' then return end
  if c.kind == 'L' then
    if r and r.st == 't' then cancel(r) end
    if r then unrecord(r, true) end
    return
  end
  if c.kind == 'F' then
    if r then unrecord(r) end
    return
  end
  if c.kind == 'D' then
    if r and ENDED[r.st] and not has(r, 'r') then unrecord(r, true) elseif r then refuse('STATE ' .. r.u) end
    return
  end
  if not needs(index, r) then return end
  if records and not has(r, 'r') then
    flag(r, 'r')
    touch(r, true)
  end
  if c.kind == 'U' then
    if (has(r, 't') ~= nil) ~= (c.template ~= nil) then return refuse('TEMPLATE ' .. r.u) end
    if r.st == 't' then return cycle.restore(r, c) end
    if c.all and not ENDED[r.st] then return refuse('STATE ' .. r.u) end
    update(r, decode(c.u, c.entry), c.edges, c.bytes, c.labels, c)
  elseif c.kind == 'C' then
    if c.withdraw then withdraw(r) end
    cancel(r)
    if c.attach and c.attach.remove then unrecord(r) end
  elseif c.kind == 'O' then
    if not reopen(r, c.opening, c.entry and decode(c.u, c.entry), c.labels) then conflicts[#conflicts + 1] = index .. ':' .. r.st .. ':s' end
  elseif c.kind == 'R' then
    if not again(r, c.opening, c.entry, c.edges) then refuse('STATE ' .. r.u) end
  elseif c.kind == 'H' then
    if r.st == 'H' then
      r.a = nil
      if r.N then r.N = match(r.N, '^%d+:') .. '0' end
      push(r)
    elseif ENDED[r.st] then
      refuse('STATE ' .. r.u)
    end
  end
end

for i, c in ipairs(list) do change(i - 1, c) end
for i, a in ipairs(companions) do write(-i, a) end
if fault then return redis.error_reply(fault) end
if #conflicts > 0 then return redis.error_reply('CONFLICT ' .. concat(conflicts, ',')) end

flush_each('HSET', 'hash', hsets)
flush_each('HDEL', 'hash', hdels)
flush_graph()
cycle.flush()
strict_keys = false
settle_all()
commit(event)
return {num(carry.ended), unpack(damaged)}
