-- mend: how repair brings back what follows from templates and occurrences. Each function gets the record that it rests on, or
-- nil, and tells whether anything was wrong still. repair.lua takes them among its own.
local mend = {}

local function has_type(name, want)
  return is(PRE .. name, want) and kind(PRE .. name) ~= 'none'
end

-- ticking tells whether a template belongs into `ticks`, and its next tick if that is known.
local function ticking(key)
  local f = call('HMGET', key, 'kind', 'off', 'hand', 'max', 'used', 'next')
  local most, used = tonumber(f[4] or 0) or 0, tonumber(f[5] or 0) or 0
  local on = f[1] == 's' and (f[2] or '') == '' and f[3] ~= '1' and (most == 0 or used < most)
  return on, f[6] and f[6] ~= '' and f[6] or nil
end

function mend.ticks(r)
  local key, ticks = r and cycle.key(r.u), PRE .. 'ticks'
  if not r or r.st ~= 't' or not is(key, 'hash') or not is(ticks, 'zset') then return false end
  local score, on, at = call('ZSCORE', ticks, r.u), ticking(key)
  if not on then return call('ZREM', ticks, r.u) > 0 end
  if score and (not at or tonumber(score) == tonumber(at)) then return false end
  call('ZADD', ticks, at or now_text, r.u)
  return true
end

-- template declares a template anew: text has its fields and their values, line by line. Its numbers become those of one that was
-- never judged where nobody can read them.
function mend.template(r, text)
  local key, done = r and cycle.key(r.u), false
  if not r or r.st ~= 't' or not is(key, 'hash') then return false end
  local function set(name, value)
    if call('HGET', key, name) == value then return end
    call('HSET', key, name, value)
    done = true
  end
  for name, value in gmatch(text, '([^\n]+)\n([^\n]*)\n') do
    if name == 'when' and call('HGET', key, name) ~= value then
      set('since', now_text)
      set('next', '')
    end
    set(name, value)
  end
  for name, default in pairs({since = now_text, next = '', used = '0', last = '0'}) do
    local v = call('HGET', key, name)
    if v and not match(v, '^%d*$') or name == 'since' and (not v or v == '') and ticking(key) then set(name, default) end
  end
  if not has(r, 't') then
    flag(r, 't')
    done = true
  end
  return mend.ticks(r) or done
end

-- emits lists a template under an upstream, in its order.
function mend.emits(r, name)
  local key = PRE .. name
  if not r or r.st ~= 't' or not is(key, 'zset') or not is(cycle.key(r.u), 'hash') then return false end
  for _, e in ipairs(edges(call('HGET', cycle.key(r.u), 'edges') or nil)) do
    if name == 'emits:' .. e.u .. (KIN[e.k] and ':children' or ':heirs') then
      if tonumber(call('ZSCORE', key, r.u) or -1) == r.n then return false end
      call('ZADD', key, num(r.n), r.u)
      return true
    end
  end
  return false
end

-- gate has a template wait for these labels and no others. What it shows of one that can be read stays.
function mend.gate(r, packed)
  local key = r and cycle.gate_key(r.u)
  if not r or r.st ~= 't' or not is(key, 'hash') then return false end
  local done, kept = false, {}
  for _, label in ipairs(cycle.gate_labels(packed)) do
    local set = PRE .. 'gate:' .. label
    kept[label] = true
    if not match(call('HGET', key, label) or '', '^[01]$') and not match(call('HGET', key, label) or '', '^%-[%w._-]+$') then
      call('HSET', key, label, '0')
      done = true
    end
    if is(set, 'zset') and tonumber(call('ZSCORE', set, r.u) or -1) ~= r.n then
      call('ZADD', set, num(r.n), r.u)
      done = true
    end
  end
  for _, label in ipairs(call('HKEYS', key)) do
    if not kept[label] then
      call('HDEL', key, label)
      try('ZREM', PRE .. 'gate:' .. label, r.u)
      done = true
    end
  end
  return done
end

-- untemplate removes what is left of a template that is gone.
function mend.untemplate(r, name)
  if r and (r.st == 't' or r.st == 'c') then return false end
  return call('DEL', PRE .. name) > 0
end

-- occurrence puts a live occurrence back among those of its cycle and of its template.
function mend.occurrence(r)
  if not r or not r.C or ENDED[r.st] then return false end
  local tick, t, root = cycle.of(r)
  local set, live, done = PRE .. 'cycle:' .. root .. ':' .. tick, cycle.key(t) .. ':live', false
  if is(set, 'set') and call('SADD', set, r.u) > 0 then done = true end
  local T = get(t)
  if T and T.st == 't' and is(live, 'zset') and tonumber(call('ZSCORE', live, r.u) or -1) ~= tonumber(tick) then
    call('ZADD', live, tick, r.u)
    done = true
  end
  return done
end

-- cycle notes a cycle that has members and cannot be read, and ends one that has none.
function mend.cycle(_, root, tick)
  local set, key = 'cycle:' .. root .. ':' .. tick, PRE .. 'cycles:' .. root
  if not is(PRE .. set, 'set') or not is(key, 'hash') then return false end
  local text, n = call('HGET', key, tick), call('SCARD', PRE .. set)
  if n == 0 then
    if not text then return false end
    cycle.over(root, tick)
    return true
  end
  if text and match(text, '^%d+:%d+:%d+:%a*%d*$') then return false end
  if text then call('LPUSH', PRE .. 'setaside', key .. ' ' .. tick .. ' ' .. text) end
  call('HSET', key, tick, now_text .. ':' .. num(n) .. ':0:')
  return true
end

-- goon has the script do what a root, or a held occurrence, has left to do. Of the latter ups are the templates whose occurrences
-- it waits for and that were not made.
function mend.goon(r, ups)
  if not r or r.st ~= 't' and (r.st ~= 'h' or not r.C) or call('ZSCORE', PRE .. 'todo', r.u) then return false end
  local cycles = PRE .. 'cycles:' .. r.u
  if r.st == 't' then
    local live = is(cycles, 'hash') and call('HVALS', cycles) or {}
    local due = #live == 0 and kind(PRE .. 'backlog:' .. r.u) == 'zset'
    for i = 1, #live do due = due or find(live[i], 'w', 1, true) end
    if due then settle(r) end
    return due and true or false
  end
  local ts, tick, _, root = {}, cycle.of(r)
  for t in gmatch(ups, '[^,]+') do
    if not get(cycle.uuid_from(t .. '@' .. root .. '@' .. tick)) then ts[#ts + 1] = t end
  end
  if #ts == 0 and not r.D then return false end
  cycle.lacks(r, ts)
  return true
end
