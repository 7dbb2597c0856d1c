-- unique: keys that one live job at a time holds. The hash `unique` maps "<type>:<key>" to its holder, a live job with that
-- key as tag y. Only apply gives keys; commit frees them by the states of the jobs it writes.
local unique = {stored = {}, holder = {}, key = PRE .. 'unique'} -- both maps by key; false: nobody

-- read brings the holders of keys that were not read yet with few calls: with the first all that the changes of this call name.
function unique.read(ys)
  for _, c in ipairs(unique.coming or {}) do ys[#ys + 1] = c.entry and match(c.entry, '|y([^|]*)') end
  unique.coming = nil
  need('hash', 'unique')
  if not is(unique.key, 'hash') then return end
  for i = 1, #ys, 500 do
    local last = min(i + 499, #ys)
    local got = call('HMGET', unique.key, unpack(ys, i, last))
    for j = i, last do
      local y = ys[j]
      unique.stored[y], unique.holder[y] = got[j - i + 1], got[j - i + 1]
    end
  end
end

-- text is a key as people write it.
function unique.text(y)
  return (gsub(y, '%%(%x%x)', function(hex) return char(tonumber(hex, 16)) end))
end

local function held(r, y) return r and not r.gone and r.y == y and not ENDED[r.st] end

-- take gives a job its key, or returns who else holds it. A job hands its key to its successor, and one whose decided end
-- lets it never run again to whoever comes.
function unique.take(r, replaces)
  local y = r.y
  if unique.stored[y] == nil then unique.read({y}) end
  local u = unique.holder[y]
  local H = u and u ~= r.u and get(u)
  if H and H.bad then return u end
  if held(H, y) then
    if u ~= replaces and not (H.x and H.x ~= 'C' and H.x ~= 'f' and H.x ~= 'F') then return u end
    H.y = nil
    touch(H)
  end
  unique.holder[y] = r.u
end

-- commit writes who holds the keys of these records now. What another job holds stays as it is.
function unique.commit(rs)
  if #rs == 0 then return end
  if not is(unique.key, 'hash') then return damage(unique.key) end
  local unread, set, free = {}, {}, {}
  local function each(visit)
    for i = 1, #rs do
      local r = rs[i]
      if r.oy then visit(r.oy) end
      if r.y and r.y ~= r.oy then visit(r.y) end
    end
  end
  each(function(y)
    if unique.stored[y] == nil then unread[#unread + 1] = y end
  end)
  unique.read(unread)
  each(function(y)
    local u, was = unique.holder[y], unique.stored[y]
    local H = u and S[u]
    if held(H, y) then
      if u ~= was then
        set[#set + 1] = y
        set[#set + 1] = u
      end
    elseif was and H then
      free[#free + 1] = y
    end
  end)
  many('HSET', unique.key, set)
  many('HDEL', unique.key, free)
end
