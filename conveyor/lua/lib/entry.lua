-- entry: status entries, and the records that a script works on. Nothing of a record is written before commit.
--
-- An entry is <state><lane><flags>|<queue>|<place>[|<tag><value>]..., see status.go for the letters.
-- A record has st, ln, fl, q, n (place as a number, 0 for none), one string field per tag, and:
--   u       uuid
--   T       its ticket as found or given in this call
--   np      its place as the entry has it, a text
--   was     its entry as loaded; os, oq, ol, ow, on, od, oy, ov, oa are state, queue, lane, owner, place, due time,
--           unique key, waiting limit and remove_after in it. All are nil for a new job.
--   bad     its entry cannot be decoded
local ENDED = {C = true, F = true, f = true, X = true, K = true, k = true, O = true, E = true}

local S = {}       -- records by uuid; false for a uuid without entry
local changed = {} -- records in the order they were first changed

local decode
do
local LANES = {[48] = '0', [49] = '1', [50] = '2'} -- by their bytes

local function undecodable(u)
  damage(PRE .. 'status ' .. u)
  return {u = u, bad = true, st = '?', ln = '1', fl = '', q = '', n = 0}
end

function decode(u, text)
  local lane, a = byte(text, 2), find(text, '|', 1, true)
  local b = a and find(text, '|', a + 1, true)
  if not b or not LANES[lane] then return undecodable(u) end
  local c = find(text, '|', b + 1, true)
  local st, ln, fl, q = sub(text, 1, 1), LANES[lane], a > 3 and sub(text, 3, a - 1) or '', sub(text, a + 1, b - 1)
  local np = sub(text, b + 1, (c or 0) - 1)
  local n = tonumber(np) or 0
  -- All fields that most jobs come to have are named here: the table is made in its final size.
  local r = {
    u = u, st = st, ln = ln, fl = fl, q = q, n = n, was = text, os = st, oq = q, ol = ln, on = n, np = np,
    ow = nil, od = nil, w = nil, f = nil, s = nil, t = nil, T = nil, dirty = nil, loud = nil, queued = nil, lease = nil,
  }
  while c do
    local d = find(text, '|', c + 1, true)
    r[sub(text, c + 1, c + 1)] = sub(text, c + 2, (d or 0) - 1)
    c = d
  end
  if r.C and not match(r.C, '^%d+:[^:]') or r.N and not match(r.N, '^%d+:%d+$') then return undecodable(u) end
  r.ow, r.od = r.w, r.d
  if r.y then r.oy = r.y end
  if r.v then r.ov = r.v end
  if r.r then r.oa = r.r end
  return r
end
end

-- place_text is a record's place, '' for none. Only one that has changed is written anew.
local function place_text(r)
  local n = r.n
  if n <= 0 then return '' end
  return n == r.on and r.np or num(n)
end

local encode
do
local TAGS = {'d', 'e', 'f', 'a', 'l', 'g', 'w', 'i', 'p', 'x', 'k', 's', 't', 'z', 'b', 'h', 'm', 'o'}
local RARE = {'y', 'j', 'r', 'v', 'c', 'N', 'C', 'D', 'G', 'W', 'R'} -- for few jobs

-- encode is called for every changed job. That of one with no tags but those that every start and end gives is one expression; for
-- others it fills one table again and again. Places and counters stay below 1e14, up to which a number is written without exponent.
local parts = {}
function encode(r)
  if not (r.d or r.e or r.a or r.l or r.g or r.i or r.p or r.x or r.k or r.z or r.b or r.h or r.m or r.o or
    r.y or r.j or r.r or r.v or r.c or r.N or r.C or r.D or r.G or r.W or r.R) then
    local f, w, s, t = r.f, r.w, r.s, r.t
    return r.st .. r.ln .. r.fl .. '|' .. r.q .. '|' .. place_text(r) .. (f and '|f' or '') .. (f or '') ..
      (w and '|w' or '') .. (w or '') .. (s and '|s' or '') .. (s or '') .. (t and '|t' or '') .. (t or '')
  end
  parts[1], parts[2], parts[3], parts[4], parts[5], parts[6] = r.st, r.ln, r.fl, '|', r.q, '|'
  parts[7] = place_text(r)
  local n = 7
  for i = 1, #TAGS do
    local tag = TAGS[i]
    local v = r[tag]
    if v then
      parts[n + 1], parts[n + 2], parts[n + 3] = '|', tag, v
      n = n + 3
    end
  end
  if r.y or r.j or r.r or r.v or r.c or r.N or r.C or r.D or r.G or r.W or r.R then
    for i = 1, #RARE do
      local tag = RARE[i]
      local v = r[tag]
      if v then
        parts[n + 1], parts[n + 2], parts[n + 3] = '|', tag, v
        n = n + 3
      end
    end
  end
  return concat(parts, '', 1, n)
end
end

-- load brings the records of many uuids into S with few calls.
local function load(us)
  local want = {}
  for i = 1, #us do
    local u = us[i]
    if u and S[u] == nil then
      S[u] = false
      want[#want + 1] = u
    end
  end
  for i = 1, #want, 500 do
    local last = min(i + 499, #want)
    local got = call('HMGET', PRE .. 'status', unpack(want, i, last))
    for j = i, last do
      local text = got[j - i + 1]
      if text then S[want[j]] = decode(want[j], text) end
    end
  end
end

local function get(u)
  if S[u] == nil then load({u}) end
  return S[u]
end

-- touch lists a record for writing; quiet changes (bookkeeping flags) are left out of the event.
local function touch(r, quiet)
  if not r.dirty then
    r.dirty = true
    changed[#changed + 1] = r
  end
  if not quiet then r.loud = true end
end

-- has is asked often, and most jobs have one flag or none.
local function has(r, flag)
  local fl = r.fl
  if #fl > 1 then return find(fl, flag, 1, true) end
  return fl == flag or nil
end
local function flag(r, f)
  if not has(r, f) then r.fl = r.fl .. f end
end
local function clear(r, f)
  local fl = r.fl
  if fl == f then r.fl = '' elseif #fl > 1 then r.fl = gsub(fl, f, '') end
end
