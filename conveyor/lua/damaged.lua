-- damaged: moves keys of a wrong type to damaged:<name>, where a human finds them, and rebuilds at once what must not be
-- missing for a moment: active sets and lists of dependents, without which their job would end too early, and the two
-- numbers.
-- KEYS: 1 <prefix>status.
-- ARGV: per key: name, the type it is to have, what it is rebuilt from: uuids joined by ',', or a number; what to tell.
-- Replies: 1 or 0 per key: moved, or not wrong any more.
local out, lines = {}, {}

-- aside is the first free name for what is moved.
local function aside(name)
  for n = 1, 1000 do
    local key = PRE .. 'damaged:' .. name .. (n > 1 and ':' .. n or '')
    if call('EXISTS', key) == 0 then return key end
  end
end

local function newest()
  if kind(PRE .. 'events') ~= 'stream' then return 0 end
  local last = call('XREVRANGE', PRE .. 'events', '+', '-', 'COUNT', 1)[1]
  return last and tonumber(match(last[1], '^%d+')) or 0
end

-- child_of tells whether an unfinished job counts for the end of its parent p.
local function child_of(r, p)
  if not r or ENDED[r.st] or has(r, 'w') then return false end
  for _, e in ipairs(edges(r.i)) do
    if KIN[e.k] and e.m == '+' and e.u == p then return true end
  end
end

local function rebuild(key, name, want, from)
  if name == 'seq' then return call('SET', key, num(tonumber(from))) end
  if name == 'events:seq' then return call('SET', key, num(newest())) end
  if not is(PRE .. 'status', 'hash') then return end
  local us, args = {}, {}
  for u in gmatch(from, '[^,]+') do us[#us + 1] = u end
  load(us)
  local p = match(name, '^jobs:([^:]+):')
  for i = 1, #us do
    local r = S[us[i]]
    if want == 'set' and child_of(r, p) then
      args[#args + 1] = us[i]
    elseif want == 'list' and r and r.st == 'h' and has(r, 'b') then
      args[#args + 1] = slim(us[i])
    end
  end
  many(want == 'set' and 'SADD' or 'LPUSH', key, args)
end

for at = 1, #ARGV, 4 do
  local name, want, from = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local key = PRE .. name
  local wrong = not is(key, want) or (name == 'seq' or name == 'events:seq') and kind(key) == 'string' and not tonumber(call('GET', key))
  local to = wrong and aside(name)
  if to then
    call('RENAME', key, to)
    call('PERSIST', to)
    kinds[key] = nil
    rebuild(key, name, want, from)
    lines[#lines + 1] = ARGV[at + 3]
  end
  out[#out + 1] = to and 1 or 0
end

-- The log is told as soon as there is one.
check_log()
if #lines > 0 and not fault and counter('events:seq') >= newest() then tell('repair', {}, {'r', concat(lines, '\n')}) end
return out
