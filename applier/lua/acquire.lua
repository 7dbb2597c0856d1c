-- Takes a workflow's lock, or tells who holds it. The same token again renews what it holds.
-- KEYS: lock, clock
-- ARGV: token, who, operation, lease in ms
-- Returns {'1', fence} when taken; {'0', token, who, operation, since, expires, now} when held by another.
local t = now(KEYS[2])
local h = redis.call('HMGET', KEYS[1], 'token', 'who', 'operation', 'since', 'expires', 'fence')
local expires = string.format('%.0f', t + tonumber(ARGV[4]))
if h[1] == ARGV[1] then
  redis.call('HSET', KEYS[1], 'expires', expires)
  return {'1', h[6]}
end
if h[1] and tonumber(h[5] or '0') > t then
  return {'0', h[1], h[2] or '', h[3] or '', h[4] or '0', h[5], string.format('%.0f', t)}
end
local fence = string.format('%.0f', tonumber(h[6] or '0') + 1)
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'who', ARGV[2], 'operation', ARGV[3],
  'since', string.format('%.0f', t), 'expires', expires, 'fence', fence)
return {'1', fence}
