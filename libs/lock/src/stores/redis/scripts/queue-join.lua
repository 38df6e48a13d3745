--[[
Lines up, or looks again; takes the lock when it was handed to the token, or is free and the token's turn.
Never rescored: who has waited (priority - 1) ageing steps longer goes before a higher priority that has just come.

KEYS[1] the lock
KEYS[2] its line: entries `process:token`, scored by time of arrival in microseconds + (priority - 1) x ageing step,
        negative once the lock has been offered to them
KEYS[3] its fence counter
ARGV[1] process
ARGV[2] token
ARGV[3] TTL in milliseconds
ARGV[4] priority, 1 first
ARGV[5] ageing step in milliseconds
ARGV[6] most entries in the line; 0: do not line up
ARGV[7] PUBLISH, or SPUBLISH on a Cluster
ARGV[8] release channel
ARGV[9] milliseconds to claim a lock that is handed over

Returns {1, fence}, or {0, milliseconds left to the holder, place in line, 1 when the entry is new}, or
{-1, place it would have had, milliseconds that the first in line has waited} when the line is full.
]]
-- @include hand-on
local lock, line, fence = KEYS[1], KEYS[2], KEYS[3]
local entry = ARGV[1] .. ':' .. ARGV[2]

local function take()
  redis.call('ZREM', line, entry)
  -- Its own keeps its time where that is longer: this may be a request that comes late.
  if not redis.call('SET', lock, ARGV[2], 'NX', 'PX', ARGV[3]) and redis.call('PTTL', lock) < tonumber(ARGV[3]) then
    redis.call('PEXPIRE', lock, ARGV[3])
  end
end

local holder = redis.call('GET', lock)
if holder == ARGV[2] then
  -- Handed over, under a fence that was drawn then; or asked twice.
  take()
  return { 1, tonumber(redis.call('GET', fence) or 0) }
end
if not holder then
  drop_unclaimed(line)
  local head = redis.call('ZRANGE', line, 0, 0)[1]
  if not head or head == entry then
    take()
    return { 1, draw_fences(3, 3, 1) }
  end
  -- Free, and somebody else's turn: nobody told the head, so this look does.
  hand_on(1, 2, 3, ARGV[7], ARGV[8], ARGV[9])
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local entered = 0
if not redis.call('ZSCORE', line, entry) then
  local length = redis.call('ZCARD', line)
  if length >= tonumber(ARGV[6]) then
    local head = redis.call('ZRANGE', line, 0, 0, 'WITHSCORES')
    local waited = head[2] and math.max(0, now - math.abs(tonumber(head[2]))) or 0
    return { -1, length + 1, math.floor(waited / 1000) }
  end
  local score = now + (tonumber(ARGV[4]) - 1) * tonumber(ARGV[5]) * 1000
  -- Two arrivals in one microsecond: the line decides ties by name, and must not.
  while redis.call('ZCOUNT', line, string.format('%.0f', score), string.format('%.0f', score)) > 0 do
    score = score + 1
  end
  redis.call('ZADD', line, string.format('%.0f', score), entry)
  -- No wait is longer than a day: a line that nobody has entered for so long is what killed processes left.
  redis.call('PEXPIRE', line, 86400000)
  entered = 1
end
return { 0, redis.call('PTTL', lock), redis.call('ZRANK', line, entry) + 1, entered }
