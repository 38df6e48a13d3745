--[[
Leaves the line, and passes the lock on if it was handed over meanwhile.

KEYS[1] the lock
KEYS[2] its line
KEYS[3] its fence counter
ARGV[1] process
ARGV[2] token
ARGV[3] PUBLISH, or SPUBLISH on a Cluster
ARGV[4] release channel
ARGV[5] milliseconds to claim a lock that is handed over

Returns 1 when the lock was passed on, else 0.
]]
-- @include hand-on
redis.call('ZREM', KEYS[2], ARGV[1] .. ':' .. ARGV[2])
if redis.call('GET', KEYS[1]) ~= ARGV[2] then
  return 0
end
hand_on(1, 2, 3, ARGV[3], ARGV[4], ARGV[5])
return 1
