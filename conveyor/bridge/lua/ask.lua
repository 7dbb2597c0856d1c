-- ask: notes that the engine was asked for jobs of clients and does not know them, so that who finds them known later knows that a bridge
-- added them and ended before it said so.
-- ARGV: what records of clients' jobs begin with, the uuids.
for i = 2, #ARGV do
  if redis.call('HEXISTS', ARGV[1] .. ARGV[i], 'bytes') == 1 then redis.call('HSET', ARGV[1] .. ARGV[i], 'asked', 1) end
end
return 1
