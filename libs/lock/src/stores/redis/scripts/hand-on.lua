-- Frees the lock, or hands it to the head of its line under a new fence and a short time to claim it; either is published.
-- The message names who got it, and is empty when everybody may look. A head that was offered the lock before (its score
-- is negative) and never claimed it belongs to a process that is gone: all entries of that process go at once.
-- @include draw-fences
local function drop_unclaimed(queue)
  local head = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  if not head[1] or tonumber(head[2]) >= 0 then
    return
  end
  local process = string.match(head[1], '^[^:]*:')
  for _, entry in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
    if string.sub(entry, 1, #process) == process then
      redis.call('ZREM', queue, entry)
    end
  end
end

local function hand_on(lock, queue, fence, publish, channel, claim_ms)
  drop_unclaimed(KEYS[queue])
  local head = redis.call('ZRANGE', KEYS[queue], 0, 0, 'WITHSCORES')
  if not head[1] then
    redis.call('DEL', KEYS[lock])
    redis.call(publish, channel, '')
    return false
  end
  redis.call('SET', KEYS[lock], string.match(head[1], ':(.*)$'), 'PX', claim_ms)
  draw_fences(fence, fence, 1)
  redis.call('ZADD', KEYS[queue], '-' .. head[2], head[1])
  redis.call(publish, channel, head[1])
  return true
end
