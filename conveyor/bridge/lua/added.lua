-- added: notes that jobs of clients are in the engine.
-- KEYS: 1 jobs to be added.
-- ARGV: what records of clients' jobs begin with, the uuids.
-- Replies: for each, 1 when nobody else noted it.
local out = {}
for i = 2, #ARGV do
  out[#out + 1] = redis.call('LREM', KEYS[1], 0, ARGV[i])
  if redis.call('HEXISTS', ARGV[1] .. ARGV[i], 'bytes') == 1 then redis.call('HSET', ARGV[1] .. ARGV[i], 'added', 1) end
end
return out
