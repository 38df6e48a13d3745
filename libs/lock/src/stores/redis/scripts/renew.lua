--[[
Renews any number of locks, each for its own token and time. Never creates one, and never takes time off one: a renewal that
comes late, or twice, must not cut short what was set since.

KEYS[1..n]       the locks
ARGV[2i-1], [2i] token and TTL in milliseconds of KEYS[i]

Returns n numbers: 1 renewed, 0 not the token's any more.
]]
local renewed = {}
for i = 1, #KEYS do
  if redis.call('GET', KEYS[i]) == ARGV[2 * i - 1] then
    renewed[i] = 1
    if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[2 * i]) then
      redis.call('PEXPIRE', KEYS[i], ARGV[2 * i])
    end
  else
    renewed[i] = 0
  end
end
return renewed
