-- beat: registers a worker, which is announced, or renews it, and with it the lease of all its jobs.
-- KEYS: 1 <prefix>status.
-- ARGV: worker; number of fields of its description, at least one, those as field, value; then what it runs: uuid, fence.
-- Replies: now, uuids whose cancel was asked for, uuids that are not this worker's under that fence, attempts it owns
--   but did not name as "uuid fence". The lists are joined by ','.
-- Errors: CORRUPT <key> ...
local id = ARGV[1]
need('hash', 'status', 'worker:' .. id)
need('zset', 'workers', 'worker:' .. id .. ':jobs')
if not fault and not call('ZSCORE', PRE .. 'workers', id) then check_log() end
if fault then return redis.error_reply(fault) end
local fields = tonumber(ARGV[2])
local us, fences = {}, {}
for i = 3 + 2 * fields, #ARGV, 2 do
  us[#us + 1] = ARGV[i]
  fences[ARGV[i]] = ARGV[i + 1]
end
load(us)
local cancel, outdated, unknown = {}, {}, {}
for i = 1, #us do
  local r = S[us[i]]
  if not r or r.st ~= 'r' or r.w ~= id or r.f ~= fences[us[i]] then
    outdated[#outdated + 1] = us[i]
  elseif has(r, 'c') then
    cancel[#cancel + 1] = us[i]
  end
end
local own = call('ZRANGE', PRE .. 'worker:' .. id .. ':jobs', 0, -1)
load(own)
for i = 1, #own do
  local r = S[own[i]]
  if not fences[own[i]] and r and r.f then unknown[#unknown + 1] = own[i] .. ' ' .. r.f end
end
if call('ZADD', PRE .. 'workers', num(now), id) == 1 then crew[1] = 'joined ' .. id end
call('HSET', PRE .. 'worker:' .. id, unpack(ARGV, 3, 2 + 2 * fields))
tell('beat', {})
return {num(now), concat(cancel, ','), concat(outdated, ','), concat(unknown, ',')}
