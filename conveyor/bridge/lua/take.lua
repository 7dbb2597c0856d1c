-- take: makes entries of the fleet's clients jobs of ours: out of one queue, or out of the scheduled ones, with all that waits for them.
-- Each entry leaves its place and gets its record in the same script, so it is in one of the two however anybody ends. Jobs get into
-- the list of those to be added behind all that waits for them: what is not looked through yet is on a stack.
-- KEYS: 1 stack of jobs whose lists were not looked through, 2 jobs to be added, oldest left, 3 set of clients' jobs, 4 what was set aside.
-- ARGV: what our keys begin with; how many jobs to take at most, lists of one job not divided; 'conv:queue:<q>', 'conv:scheduled', or
--   '' to go on with the stack only; the queues that are served.
-- Replies: 1 when there may be more; of each entry that was set aside, the key it was in.
local prefix, limit, source = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local served, taken, aside = {}, 0, {}
for i = 4, #ARGV do served[ARGV[i]] = true end

local function set_aside(from, e)
  call('RPUSH', KEYS[4], from .. ' ' .. e)
  aside[#aside + 1] = from
end

-- keep makes an entry ours that was just removed from its place. Another copy of one that is ours already, as a worker of theirs makes
-- when it pushes back, or two when they move a scheduled job at once, ends here: its job is run by the first.
local function keep(from, e, job, due)
  if job.uuid == '' then return set_aside(from, e) end
  if call('SADD', KEYS[3], job.uuid) == 0 then return end
  local record = prefix .. 'client:' .. job.uuid
  call('HSET', record, 'bytes', e, 'from', from)
  if due then call('HSET', record, 'due', due) end
  call('RPUSH', KEYS[1], job.uuid)
  taken = taken + 1
end

-- lists takes what waits for a job. It stays on their side while the fleet runs the job, since then its handler may be who added it,
-- and all of it does when something is of a queue that is not served: then the job is closed by their order of steps.
local function lists(uuid)
  local key, record = 'conv:job:' .. uuid, prefix .. 'client:' .. uuid
  if call('EXISTS', key .. ':children', key .. ':onComplete') == 0 or call('EXISTS', prefix .. 'job:' .. uuid) == 1
    or call('HEXISTS', record, 'bytes') == 0 or call('HEXISTS', record, 'left') == 1 then return false end
  for _, list in ipairs({key .. ':children', key .. ':onComplete'}) do
    for _, e in ipairs(call('LRANGE', list, 0, -1)) do
      local job = decode(e)
      if job and not served[job.queue] then
        call('HSET', record, 'left', 1)
        return false
      end
    end
  end
  for _, list in ipairs({key .. ':onComplete', key .. ':children'}) do
    while true do
      local e = call('LPOP', list) -- the newest: the oldest comes to lie on top of the stack
      if not e then break end
      local job = decode(e)
      if job then keep(list, e, job) else set_aside(list, e) end
    end
  end
  return true
end

-- walk goes on with the stack.
local function walk()
  while taken < limit do
    local uuid = call('LINDEX', KEYS[1], -1)
    if not uuid then return true end
    if not lists(uuid) then
      call('RPOP', KEYS[1])
      local f = call('HMGET', prefix .. 'client:' .. uuid, 'bytes', 'added')
      if f[1] and not f[2] then call('RPUSH', KEYS[2], uuid) end
    end
  end
  return false
end

local more = not walk()
if source == 'conv:scheduled' then
  local passed = 0
  while not more do
    local page = call('ZRANGE', source, passed, passed + 199, 'WITHSCORES')
    if #page == 0 then break end
    for i = 1, #page, 2 do
      local job = decode(page[i])
      if not more and job and not job.handed and served[job.queue] then
        call('ZREM', source, page[i])
        keep(source, page[i], job, page[i + 1])
        more = not walk()
      else
        passed = passed + 1
      end
    end
  end
elseif source ~= '' then
  local passed = 0
  while not more do
    local page = call('LRANGE', source, -passed - 50, -passed - 1)
    if #page == 0 then break end
    for i = #page, 1, -1 do
      local e = page[i]
      local job = decode(e)
      if more or job and job.handed then
        passed = passed + 1
      else
        if passed == 0 then call('RPOP', source) else call('LREM', source, -1, e) end
        if job then keep(source, e, job) else set_aside(source, e) end
        more = not walk()
      end
    end
  end
end
return {more and 1 or 0, aside}
