--[[
Takes all locks or none, and draws their fences.
A lock that the token already holds counts as free: a request that was sent twice must not be busy against itself.

KEYS[1..n]    the locks
KEYS[n+1..2n] their fence counters, in the same order
ARGV[1] token
ARGV[2] TTL in milliseconds
ARGV[3] number of fences to draw

Returns {1, first fence}, or {0, milliseconds until the last of the present holders' times runs out; -1 without TTL}.
]]
-- @include draw-fences
local n = #KEYS / 2
local busy = false
local remaining = -1
for i = 1, n do
  local holder = redis.call('GET', KEYS[i])
  if holder and holder ~= ARGV[1] then
    busy = true
    remaining = math.max(remaining, redis.call('PTTL', KEYS[i]))
  end
end
if busy then
  return { 0, remaining }
end
for i = 1, n do
  -- The token's own keeps its time where that is longer: this may be a request that comes late.
  if not redis.call('SET', KEYS[i], ARGV[1], 'NX', 'PX', ARGV[2]) and redis.call('PTTL', KEYS[i]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[i], ARGV[2])
  end
end
return { 1, draw_fences(n + 1, 2 * n, tonumber(ARGV[3])) }
