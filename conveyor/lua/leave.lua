-- leave: a worker hands back what it still owns, each job to its place with nothing spent, and is removed.
-- KEYS: 1 <prefix>status.
-- ARGV: worker.
-- Replies: 1 when all is done, 0 when jobs are left for another call.
-- Errors: CORRUPT <key> ...
check_fixed()
local id = ARGV[1]
need('zset', 'workers', 'worker:' .. id .. ':jobs')
if fault then return redis.error_reply(fault) end
local done = give_back(id, function(r)
  r.w = nil
  if has(r, 'c') then close_as(r, 'X') else push(r, true) end
end)
if done then retire(id, 'left') end
settle_all()
commit('leave')
return done and 1 or 0
