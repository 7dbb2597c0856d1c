-- retention: when ended jobs go. A queue's are listed in ended:<q> as "<ms> <uuid>", the oldest at the right; `sweeps` says
-- per queue when the oldest is due, at once when there are more than are kept. Jobs with a remove_after of their own (tag r)
-- stand in `removals` by their time instead. `expiry` holds the jobs that wait for their first start only so long (tag v).
local retention = {ms = 604800000, count = 100000, queues = {}} -- defaults: 7 days; queues: settings read so far

-- settings is the text of a queue's settings, '' for none; see queue_settings.go.
function retention.settings(q)
  local text = retention.queues[q]
  if not text then
    text = is(PRE .. 'queues', 'hash') and call('HGET', PRE .. 'queues', q) or ''
    retention.queues[q] = text
  end
  return text
end

-- kept is how long, and how many, ended jobs of a queue are kept.
function retention.kept(q)
  local ms, count = match(retention.settings(q), '^%d+:%d*:%d*:%d*:(%d*):(%d*)')
  ms, count = tonumber(ms or 0) or 0, tonumber(count or 0) or 0
  return ms > 0 and ms or retention.ms, count > 0 and count or retention.count
end

-- keep lists jobs that ended: queue -> entries.
function retention.keep(over)
  for q, list in pairs(over) do
    local key, n = PRE .. 'ended:' .. q, 0
    if is(key, 'list') then
      for i = 1, #list, 500 do n = call('LPUSH', key, unpack(list, i, min(i + 499, #list))) end
      local ms, count = retention.kept(q)
      if n == #list or n > count then
        if is(PRE .. 'sweeps', 'zset') then
          call('ZADD', PRE .. 'sweeps', num(n > count and now or now + ms), q)
        else
          damage(PRE .. 'sweeps')
        end
      end
    else
      damage(key)
    end
  end
end

-- limit is how long a job may wait for its first start, as its tag v: when that ends, and how long it was. text is as given
-- with the job, in ms. It counts from the add, so another limit moves the end by the difference; for a job that started there
-- is none, see note.
function retention.limit(r, text)
  local at, ms = match(r.v or '', '^(%d+):(%d+)$')
  r.v = text and num((at and at - ms or now) + tonumber(text)) .. ':' .. text
end

local WAITS = {h = true, s = true, q = true}

-- note brings `removals` and `expiry` up to date with a changed record: its tags and its state, '' when it is gone.
function retention.note(r, st, zadd, zrem)
  local was, is_over = ENDED[r.os], ENDED[st]
  if byte(r.q) == 64 then -- what was delivered and came back goes on waiting
    if not WAITS[st] and st ~= 'r' and st ~= 'H' then r.v = nil end
  elseif r.f or not WAITS[st] then
    r.v = nil
  end
  local before, after = WAITS[r.os] and r.ov, WAITS[st] and r.v
  if after and after ~= before then append(zadd, PRE .. 'expiry', match(after, '^%d+'), r.u) end
  if before and not after then append(zrem, PRE .. 'expiry', r.u) end
  if r.r and is_over and (r.expire or not was) then append(zadd, PRE .. 'removals', num(now + tonumber(r.r)), r.u) end
  if r.oa and was and not (is_over and r.r) then append(zrem, PRE .. 'removals', r.u) end
end
