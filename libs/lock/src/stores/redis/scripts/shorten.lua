--[[
Sets the time of locks, also to less than is left, if the token holds them all. Never creates one. Only for a token whose holder
has stopped to believe in more before it asked.

KEYS[1..n] the locks
ARGV[1] token
ARGV[2] milliseconds

Returns 1, or 0 where one is not the token's any more: then none was changed.
]]
for i = 1, #KEYS do
  if redis.call('GET', KEYS[i]) ~= ARGV[1] then
    return 0
  end
end
for i = 1, #KEYS do
  redis.call('PEXPIRE', KEYS[i], ARGV[2])
end
return 1
