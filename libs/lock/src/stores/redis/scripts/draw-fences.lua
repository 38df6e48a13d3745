-- One block of fences for all counters KEYS[from..to], above everything drawn before and, because it is not below the
-- server's time in microseconds, also above what was drawn before the counters were lost. Returns the first of the block.
local function draw_fences(from, to, count)
  local time = redis.call('TIME')
  local fence = tonumber(time[1]) * 1000000 + tonumber(time[2])
  for i = from, to do
    fence = math.max(fence, (tonumber(redis.call('GET', KEYS[i]) or 0)) + 1)
  end
  for i = from, to do
    redis.call('SET', KEYS[i], string.format('%.0f', fence + count - 1))
  end
  return fence
end
