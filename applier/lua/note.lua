-- Writes what a controller remembers, if it still leads.
-- KEYS: controller
-- ARGV: token, fence; then pairs of a field and its value, '' to remove it
-- Returns 1, or 0 when another leads, or nobody.
local h = redis.call('HMGET', KEYS[1], 'token', 'fence')
if h[1] ~= ARGV[1] or h[2] ~= ARGV[2] then return 0 end
for i = 3, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', KEYS[1], ARGV[i])
  else
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
return 1
