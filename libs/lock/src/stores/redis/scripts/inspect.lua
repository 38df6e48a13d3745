--[[
What is known of a lock. Changes nothing.

KEYS[1] the lock
KEYS[2] its line
KEYS[3] its fence counter

Returns {token or '', milliseconds left, highest fence drawn or 0, entries in the line, the server's time in milliseconds}.
]]
local time = redis.call('TIME')
return {
  redis.call('GET', KEYS[1]) or '',
  redis.call('PTTL', KEYS[1]),
  tonumber(redis.call('GET', KEYS[3]) or 0),
  redis.call('ZCARD', KEYS[2]),
  tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000),
}
