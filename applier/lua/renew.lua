-- Lengthens a lock that is still held under this fence, also one that ran out and that nobody took since.
-- KEYS: lock, clock
-- ARGV: token, fence, lease in ms
-- Returns 1, or 0 when the lock is another's or nobody's.
local h = redis.call('HMGET', KEYS[1], 'token', 'fence')
if h[1] ~= ARGV[1] or h[2] ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'expires', string.format('%.0f', now(KEYS[2]) + tonumber(ARGV[3])))
return 1
