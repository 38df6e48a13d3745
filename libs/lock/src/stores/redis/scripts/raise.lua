--[[
Raises the fence counters of locks that the token still holds.

KEYS[1..n]    the locks
KEYS[n+1..2n] their fence counters, in the same order
ARGV[1] token
ARGV[2] the least that the counters must be afterwards

Returns 1, or 0 and changes nothing when one of the locks is not the token's.
]]
local n = #KEYS / 2
for i = 1, n do
  if redis.call('GET', KEYS[i]) ~= ARGV[1] then
    return 0
  end
end
for i = n + 1, 2 * n do
  if tonumber(redis.call('GET', KEYS[i]) or 0) < tonumber(ARGV[2]) then
    redis.call('SET', KEYS[i], ARGV[2])
  end
end
return 1
