-- rate-limit.lua
-- What:    takes one request from a limit (generic cell rate algorithm: the limit refills evenly, a minute's worth may come at once)
-- KEYS[1]: the limit's key; holds the theoretical arrival time in microseconds of the server's clock, and expires with it
-- ARGV[1]: requests per period
-- ARGV[2]: the period in microseconds
-- Returns: 0 when taken, else the milliseconds until one is free again
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local period = tonumber(ARGV[2])
local interval = period / tonumber(ARGV[1])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local wait = arrival + interval - now - period
if wait > 0.5 then
  return math.ceil(wait / 1000)
end
local taken = arrival + interval
redis.call('SET', KEYS[1], string.format('%.0f', taken), 'PX', math.ceil((taken - now) / 1000))
return 0
