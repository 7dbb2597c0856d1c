-- carry: texts that few jobs carry beside their entry, in hashes by uuid, each with a flag in the entry that says so. They stay as
-- long as the entry does.
--   g triggers "<label>,...", escaped likewise: what its success flips, see gate.lua
--   s sync   "<key>=<value>,...", packed likewise: what the next execution gets, of a template the next occurrence. What a change
--            says is the first value only
--   v roots  "<name>=<value>,...", as labels are kept: while a live job has all these labels, this one is obsolete
-- flags has them in an order that does not hang on the server; ended is how many jobs were found obsolete by this call.
local carry = {flags = {'g', 's', 'v'}, keys = {v = 'roots', s = 'sync', g = 'triggers'}, given = {v = {}, s = {}, g = {}}, ended = 0}

-- give notes the text that this call gives to a job that it changes; nil or '': it is to have none.
function carry.give(r, f, text)
  if text == '' then text = nil end
  if not text and not has(r, f) then return end
  carry.given[f][r.u] = text or ''
  if text then flag(r, f) else clear(r, f) end
end

-- take gives a job all that a change says.
function carry.take(r, c)
  if not (c.g or c.s or c.v) and not find(r.fl, '[gsv]') then return end
  for _, f in ipairs(carry.flags) do
    if f ~= 's' or not (r.f or r.st == 't' and r.was) then carry.give(r, f, c[f]) end
  end
end

-- text is what a job with the flag carries, '' when that is lost.
function carry.text(r, f)
  local text = carry.given[f][r.u]
  if text then return text end
  local key = PRE .. carry.keys[f]
  return is(key, 'hash') and call('HGET', key, r.u) or ''
end

-- of is all that a job carries, by flag.
function carry.of(r)
  local out = {}
  for f in pairs(carry.keys) do out[f] = has(r, f) and carry.text(r, f) or nil end
  return out
end

-- drop takes away what a job carries of which nothing is to be left.
function carry.drop(r, hdel)
  for f, name in pairs(carry.keys) do
    if has(r, f) then append(hdel, PRE .. name, r.u) end
  end
end

-- commit writes what this call gave to jobs that are still there.
function carry.commit()
  for f, given in pairs(carry.given) do
    local key, set, gone = PRE .. carry.keys[f], {}, {}
    for u, text in pairs(given) do
      if text == '' then
        gone[#gone + 1] = u
      elseif not S[u].gone then
        set[#set + 1] = u
        set[#set + 1] = text
      end
    end
    if #set + #gone > 0 and not is(key, 'hash') then
      damage(key)
    else
      many('HSET', key, set)
      many('HDEL', key, gone)
    end
  end
end

-- alive tells whether a live job other than r, and than the one of uuid but, has all of these labels. The sets of labels are as
-- they were before this call: what it has changed is looked at one by one.
local function alive(r, text, but)
  local keys, parts = {}, {}
  for part in gmatch(text, '[^,]+') do
    parts[#parts + 1] = ',' .. part .. ','
    keys[#keys + 1] = PRE .. 'label:' .. part
  end
  if #keys == 0 then return false end
  local stale = {r.u}
  if but then stale[2] = but end
  for u, c in pairs(S) do
    if c and c ~= r and u ~= but and not has(c, 't') and (labels.given[u] or has(c, 'l') and (c.x or not ENDED[c.st] ~= not ENDED[c.os])) then
      if not ENDED[c.st] and not c.x then
        local now_has, all = ',' .. (labels.given[u] or is(labels.key, 'hash') and call('HGET', labels.key, u) or '') .. ',', true
        for i = 1, #parts do all = all and find(now_has, parts[i], 1, true) end
        if all then return true end
      end
      stale[#stale + 1] = u
    end
  end
  local args = {#keys, unpack(keys)}
  args[#args + 1], args[#args + 2] = 'LIMIT', #stale + 1
  local n = try('SINTERCARD', unpack(args))
  if type(n) == 'table' then
    for i = 1, #keys do
      if not is(keys[i], 'set') then damage(keys[i]) end
    end
    return false
  end
  if n == 0 or n > #stale then return n > 0 end
  local inside = {}
  for i = 1, #keys do
    local got = call('SMISMEMBER', keys[i], unpack(stale))
    for j = 1, #stale do inside[j] = inside[j] ~= false and got[j] == 1 end
  end
  for j = 1, #stale do
    if inside[j] then n = n - 1 end
  end
  return n > 0
end

-- obsolete tells whether a job is to end since a root of it is alive.
function carry.obsolete(r, but)
  if not has(r, 'v') or not alive(r, carry.text(r, 'v'), but) then return false end
  carry.ended = carry.ended + 1
  return true
end
