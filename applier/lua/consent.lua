-- Consents to the plan that waits for it, if it is the one that is meant.
-- KEYS: controller
-- ARGV: name of the plan, who consents
-- Returns 1, or 0 when no plan of that name waits.
local waiting = redis.call('HGET', KEYS[1], 'waiting')
if not waiting or string.match(waiting, '^(%S+) ') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'consent', ARGV[1] .. ' ' .. ARGV[2])
return 1
