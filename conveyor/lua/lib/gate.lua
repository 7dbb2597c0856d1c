-- gate: templates that emit when a job of each of some labels has succeeded.
--   gate:<label>       ZSET  the gated templates that wait for a label, by their places
--   template:<t>:gate  HASH  label -> 0, 1 once a job with this trigger succeeded, -<uuid> when the one that came last failed
-- A job with triggers (flag g) flips them when its end is decided, a slice of gates at a time: tag G, "<n>:<place>", is the label
-- and the gate that it has come to. Nothing here refuses the call but cycle.gate, which apply uses.
do
local flips = 0 -- in this script

local function gate_key(t) return cycle.key(t) .. ':gate' end

-- labels_of are the labels in a packed text.
local function labels_of(packed)
  local list = {}
  for part in gmatch(packed or '', '[^,]+') do list[#list + 1] = unique.text(part) end
  return list
end

cycle.gate_key, cycle.gate_labels = gate_key, labels_of

-- share gives a template what the trigger carries of the keys that both have.
local function share(T, r)
  local theirs, mine = {}, {}
  if not has(T, 's') or not has(r, 's') then return end
  for name, value in gmatch(carry.text(r, 's'), '([^=,]+)=([^,]*)') do theirs[name] = value end
  for name, value in gmatch(carry.text(T, 's'), '([^=,]+)=([^,]*)') do mine[#mine + 1] = name .. '=' .. (theirs[name] or value) end
  carry.give(T, 's', concat(mine, ','))
  cycle.forget(T.u)
end

-- flip notes at a gate how a job with a trigger ended. The last of its labels emits, and resets all.
local function flip(t, label, r, good)
  local T, key = get(t), gate_key(t)
  if not T or T.st ~= 't' then return end
  if not is(key, 'hash') then return damage(key) end
  local got, state, whole = call('HGETALL', key), nil, true
  for i = 1, #got, 2 do
    if got[i] == label then state = got[i + 1] elseif got[i + 1] ~= '1' then whole = false end
  end
  if not state or not good and state == '1' then return end
  touch(T)
  T.shown = true
  if not good then return call('HSET', key, label, '-' .. r.u) end
  share(T, r)
  local last = whole and is(cycle.key(t), 'hash') and tonumber(call('HGET', cycle.key(t), 'last') or 0) or 0
  if not whole or cycle.begin(T, max(now, last + 1)) == 'h' then return call('HSET', key, label, '1') end
  for i = 2, #got, 2 do got[i] = '0' end
  call('HSET', key, unpack(got))
end

-- trigger flips what a job whose end is decided triggers, and tells whether that is all. What a withdrawn job does counts for nobody,
-- and a job that is skipped without any failure neither opens a gate nor is a failure.
function cycle.trigger(r)
  local good = r.x == 'C' or r.x == 'O'
  if has(r, 'w') or not good and OUT[r.x] == '+' then return true end
  local list = labels_of(carry.text(r, 'g'))
  local n, after = match(r.G or '1:-inf', '^(%d+):(.*)$')
  n = tonumber(n)
  while list[n] do
    local key, room = PRE .. 'gate:' .. list[n], min(100, BUDGET - #changed, BUDGET - flips)
    if room <= 0 then
      r.G = num(n) .. ':' .. after
      touch(r, true)
      return false
    end
    local got = {}
    if is(key, 'zset') then got = call('ZRANGEBYSCORE', key, after, '+inf', 'WITHSCORES', 'LIMIT', 0, room) else damage(key) end
    for i = 1, #got, 2 do
      flips = flips + 1
      flip(got[i], list[n], r, good)
    end
    if #got < 2 * room then n, after = n + 1, '-inf' else after = '(' .. got[#got] end
  end
  r.G = nil
  return true
end

-- gate has a template wait for these labels and for no others. Those for which it waits already stay as they are.
function cycle.gate(r, packed, write)
  local key, kept = gate_key(r.u), {}
  need('hash', 'template:' .. r.u .. ':gate')
  if fault then return end
  for _, label in ipairs(labels_of(packed)) do
    kept[label] = true
    need('zset', 'gate:' .. label)
    write('HSETNX', key, label, '0')
    write('ZADD', PRE .. 'gate:' .. label, num(r.n), r.u)
  end
  for _, label in ipairs(r.was and call('HKEYS', key) or {}) do
    if not kept[label] then
      write('HDEL', key, label)
      write('ZREM', PRE .. 'gate:' .. label, r.u)
    end
  end
end

-- ungate takes a template that ends away from what it waits for.
function cycle.ungate(T)
  local key = gate_key(T.u)
  if not is(key, 'hash') then return damage(key) end
  for _, label in ipairs(call('HKEYS', key)) do try('ZREM', PRE .. 'gate:' .. label, T.u) end
  dels[#dels + 1] = key
end
end
