-- Gives a lock up, whoever holds it, if the token is its holder's. The fence stays and rises, so that a batch which
-- was sent under the lock and arrives late is refused.
-- KEYS: lock
-- ARGV: token
-- Returns 1, or 0 when the token is not the holder's.
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], 'token', 'who', 'operation', 'since', 'expires')
redis.call('HINCRBY', KEYS[1], 'fence', 1)
return 1
