-- finish: closes on their side a job of a client that has ended on ours, and removes its record.
-- KEYS: 1 record of the job, 2 set of clients' jobs, 3 stack of jobs whose lists were not looked through.
-- ARGV: what our keys begin with; uuid; 'done', 'failed' or 'skipped'; of a failed one its bytes as their list of failed jobs has them, and why.
-- Replies: 'done'; 'gone' when another did it; 'waits' while the fleet has the job; 'lists' when somebody waits for it who has to be
--   taken first.
local prefix, uuid, how = ARGV[1], ARGV[2], ARGV[3]
local f = call('HMGET', KEYS[1], 'bytes', 'left')
if not f[1] then return 'gone' end
if call('EXISTS', prefix .. 'job:' .. uuid) == 1 then return 'waits' end
local key = 'conv:job:' .. uuid
if not f[2] and call('EXISTS', key .. ':children', key .. ':onComplete') > 0 then
  call('RPUSH', KEYS[3], uuid)
  return 'lists'
end
local job = decode(f[1])
if how == 'done' then
  call('SET', key, f[1])
  close(prefix, uuid, true)
else
  if how == 'failed' then
    call('LPUSH', 'conv:failed', ARGV[4])
    call('PUBLISH', 'conv:events', ARGV[4])
    -- The child stays in the parent's set, as theirs do: nobody may complete the parent any more.
    local parent = prefix .. 'job:' .. job.parent
    if job.parent ~= '' and call('EXISTS', parent) == 1 then call('HSET', parent, 'failed:' .. uuid, ARGV[5]) end
  end
  bury(prefix, key .. ':children', 'parent ' .. uuid .. ' did not complete')
  bury(prefix, key .. ':onComplete', 'predecessor ' .. uuid .. ' did not complete')
  call('DEL', key)
  call('SREM', 'conv:jobs:active', uuid)
end
call('DEL', KEYS[1])
call('SREM', KEYS[2], uuid)
return 'done'
