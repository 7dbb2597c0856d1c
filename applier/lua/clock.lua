-- now is the store's time in milliseconds. The namespace's clock key, written by tests alone, fixes ("=ms") or
-- shifts ("+ms", "-ms") it.
local function now(clock)
  local t = redis.call('TIME')
  local ms = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
  local set = redis.call('GET', clock)
  if set then
    local n = tonumber(string.sub(set, 2))
    if string.sub(set, 1, 1) == '=' then return n end
    if string.sub(set, 1, 1) == '-' then return ms - n end
    return ms + n
  end
  return ms
end
