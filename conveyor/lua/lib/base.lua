-- base: the namespace, the clock, the counters and the ways to refuse. Every script starts with it.
-- KEYS[1] is always <prefix>status; all other keys are made from its prefix here and in the pieces below. The next one never exists:
-- with it a Cluster refuses the call while the namespace's slot is on two nodes.
local call, try = redis.call, redis.pcall
local byte, char, concat, find, floor, gmatch, gsub, match, max, min, sub =
  string.byte, string.char, table.concat, string.find, math.floor, string.gmatch, string.gsub, string.match,
  math.max, math.min, string.sub
local PRE = sub(KEYS[1], 1, -7)

-- A last key, which never exists either, comes with a call that must go on in a store that is full: Redis refuses for lack of
-- memory only while a script has not written, and never a DEL.
if KEYS[#KEYS] == PRE .. 'room' then call('DEL', KEYS[#KEYS]) end

-- At most so many jobs change in one script; what is left is listed in `todo`.
local BUDGET = 200

-- fault is the first reason to refuse the call. Scripts look at it before their first write.
local fault
local function refuse(text)
  fault = fault or text
end

-- num writes a whole number without exponent: milliseconds and counters outgrow tostring.
local function num(n) return string.format('%.0f', n) end

-- many calls a command whose arguments come in any number, in slices that unpack can hold.
local function many(cmd, key, args)
  for i = 1, #args, 500 do call(cmd, key, unpack(args, i, min(i + 499, #args))) end
end

-- append collects arguments by the key they are for.
local function append(t, key, a, b)
  local list = t[key]
  if not list then
    list = {}
    t[key] = list
  end
  list[#list + 1] = a
  list[#list + 1] = b
end

local kinds = {}
local function kind(key)
  local k = kinds[key]
  if not k or k == 'none' then
    k = call('TYPE', key)
    k = k.ok or k
    kinds[key] = k
  end
  return k
end

-- is tells whether key can be used as a value of this kind: it has that type or does not exist.
local function is(key, want)
  local k = kind(key)
  return k == want or k == 'none'
end

-- need refuses the call when one of the namespace's own keys has a wrong type.
local function need(want, ...)
  for i = 1, select('#', ...) do
    local key = PRE .. select(i, ...)
    if not is(key, want) then refuse('CORRUPT ' .. key .. ' is a ' .. kind(key) .. ', not a ' .. want) end
  end
end

-- damaged collects the keys that a script met and could not work with, while it went on with the others.
local damaged = {}
local function damage(key)
  if not damaged[key] then
    damaged[key] = true
    damaged[#damaged + 1] = key
  end
end

-- now is the store's time in milliseconds. The key `clock` is written by tests only: =ms, +ms or -ms.
local now
do
  local t, c = call('TIME'), call('MGET', PRE .. 'clock')[1]
  now = tonumber(t[1]) * 1000 + floor(tonumber(t[2]) / 1000)
  if c then
    local op, ms = match(c, '^([=+-])(%d+)$')
    if op == '=' then now = tonumber(ms) elseif op == '+' then now = now + tonumber(ms)
    elseif op == '-' then now = now - tonumber(ms) end
  end
end
local now_text = num(now)
