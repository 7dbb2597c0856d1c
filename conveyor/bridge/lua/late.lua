-- late: puts jobs of clients on the stack for whom somebody waits since they were looked through.
-- KEYS: 1 the stack.
-- ARGV: what our keys begin with, the uuids.
for i = 2, #ARGV do
  local key = 'conv:job:' .. ARGV[i]
  if redis.call('EXISTS', key .. ':children', key .. ':onComplete') > 0 and redis.call('EXISTS', ARGV[1] .. 'job:' .. ARGV[i]) == 0
    and redis.call('HEXISTS', ARGV[1] .. 'client:' .. ARGV[i], 'left') == 0 then
    redis.call('RPUSH', KEYS[1], ARGV[i])
  end
end
return 1
