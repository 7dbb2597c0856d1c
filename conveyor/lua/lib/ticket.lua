-- ticket: entries of lists and of `scheduled` are marshalled wire.Job; field 1, the uuid, always comes first.

-- uuid_of reads the uuid at the head of a ticket; nil when the bytes are no ticket. The second value is where
-- the next field starts.
local function uuid_of(t)
  local n, from = byte(t, 2), 3
  if byte(t, 1) ~= 10 or not n or n == 0 then return nil end
  if n == 128 then -- the only length that takes two bytes
    if byte(t, 3) ~= 1 then return nil end
    from = 4
  elseif n > 128 then
    return nil
  end
  if #t < from + n - 1 then return nil end
  local u = sub(t, from, from + n - 1)
  if not find(u, '^[%w._-]+$') then return nil end
  return u, from + n
end

-- slim is a ticket without the job's bytes, which are in jobs:<uuid>: field 1, and in a queue field 114, the place.
local function slim(u, place)
  local head = #u == 128 and '\10\128\1' or '\10' .. char(#u)
  if not place then return head .. u end
  local p = num(place)
  return head .. u .. '\146\7' .. char(#p) .. p
end

-- is_full tells whether a ticket carries the whole job: a type follows the uuid.
local function is_full(t, next) return byte(t, next) == 18 end

local function set_aside(key, t)
  damage(key)
  if is(PRE .. 'setaside', 'list') then call('LPUSH', PRE .. 'setaside', key .. ' ' .. t) end
end
