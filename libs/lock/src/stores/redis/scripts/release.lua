--[[
Frees those of the locks that the token holds, each to its line or to everybody.

KEYS[1..n]     the locks
KEYS[n+1..2n]  their lines
KEYS[2n+1..3n] their fence counters
ARGV[1] token
ARGV[2] PUBLISH, or SPUBLISH on a Cluster
ARGV[3] milliseconds to claim a lock that is handed over
ARGV[3+i] release channel of KEYS[i]

Returns how many the token held.
]]
-- @include hand-on
local n = #KEYS / 3
local held = 0
for i = 1, n do
  if redis.call('GET', KEYS[i]) == ARGV[1] then
    held = held + 1
    hand_on(i, n + i, 2 * n + i, ARGV[2], ARGV[3 + i], ARGV[3])
  end
end
return held
