-- labels: the hash `labels` maps a labelled job (flag l) to "<name>=<value>,...", sorted and escaped, see labels.go. Sets name
-- the jobs that have them: label:<name>=<value>, label:<name>=, label:=<value> and label:= live ones, past:... those that
-- ended and are still kept, kind:... templates.
local labels = {key = PRE .. 'labels', given = {}} -- given: by uuid, '' for none

-- give notes the labels that this call gives to a job that it changes; nil: it is to have none.
function labels.give(r, packed)
  if not packed and not has(r, 'l') then return end
  labels.given[r.u] = packed or ''
  if packed then flag(r, 'l') else clear(r, 'l') end
end

do
local function index(t, class, packed, u)
  for name, value in gmatch(packed, '([^=,]+)=([^,]*)') do
    for _, part in ipairs({name .. '=' .. value, name .. '=', '=' .. value}) do
      local key = PRE .. class .. part
      t[key] = t[key] or {}
      table.insert(t[key], u)
    end
  end
  local key = PRE .. class .. '='
  t[key] = t[key] or {}
  table.insert(t[key], u)
end

local function flush_index(cmd, t)
  for key, us in pairs(t) do
    for i = 1, #us, 500 do
      local n = try(cmd, key, unpack(us, i, min(i + 499, #us)))
      if type(n) == 'table' and n.err then damage(key) end
    end
  end
end

-- commit writes the labels of these records and moves them between the sets.
function labels.commit(rs)
  if #rs == 0 then return end
  if not is(labels.key, 'hash') then return damage(labels.key) end
  local us, stored, add, rem, set, gone = {}, {}, {}, {}, {}, {}
  for i = 1, #rs do
    if rs[i].was then us[#us + 1] = rs[i].u end
  end
  for i = 1, #us, 500 do
    local last = min(i + 499, #us)
    local got = call('HMGET', labels.key, unpack(us, i, last))
    for j = i, last do stored[us[j]] = got[j - i + 1] or nil end
  end
  for i = 1, #rs do
    local r = rs[i]
    local before, after = stored[r.u] or '', labels.given[r.u] or stored[r.u] or ''
    local live = has(r, 't') and 'kind:' or 'label:'
    local from, to = ENDED[r.os] and 'past:' or live, ENDED[r.st] and 'past:' or live
    if r.gone then after = '' end
    if before ~= after or from ~= to then
      if before ~= '' then index(rem, from, before, r.u) end
      if after ~= '' then index(add, to, after, r.u) end
    end
    if after == '' then
      if before ~= '' then gone[#gone + 1] = r.u end
    elseif before ~= after then
      set[#set + 1] = r.u
      set[#set + 1] = after
    end
  end
  flush_index('SREM', rem)
  flush_index('SADD', add)
  many('HSET', labels.key, set)
  many('HDEL', labels.key, gone)
end
end
