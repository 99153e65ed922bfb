-- Admits a request of one partner, or not. The log is a list of when each admitted one came, oldest first, in
-- microseconds of Redis's own clock. A list costs 12 to 16 microseconds of Redis at any rate; packed into one
-- string it would be 7 to 13 at a rate of 50, but 200 at one of 10,000.
-- KEYS: the log; the instances that decide without Redis, each with until when its share is left to it.
-- ARGV: the rate; the window in microseconds; the log's life in milliseconds; this instance; one's share.
-- Returns whether it is admitted, how many are left, and the microseconds until more is left.
local log, rate, window = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = string.format('%.0f', now)
local count = redis.call('LLEN', log)

-- What others admit by themselves is not in the log. What this one did, it counts itself.
local apart = redis.call('ZCOUNT', KEYS[2], '(' .. now_text, '+inf')
local own_until = apart > 0 and redis.call('ZSCORE', KEYS[2], ARGV[4])
if own_until and tonumber(own_until) > now then apart = apart - 1 end
rate = math.max(1, rate - apart * tonumber(ARGV[5]))

-- An admission in the future says that the clock was set back. It counts as if it came now: for a second, no
-- less and no longer.
local index = count - 1
while index >= 0 and tonumber(redis.call('LINDEX', log, index)) > now do
  redis.call('LSET', log, index, now_text)
  index = index - 1
end

-- At exactly one second an admission does not count any more.
local oldest = count > 0 and redis.call('LINDEX', log, 0)
while oldest and now - oldest >= window do
  redis.call('LPOP', log)
  count = count - 1
  oldest = redis.call('LINDEX', log, 0)
end

local admitted = count < rate
if admitted then
  redis.call('RPUSH', log, now_text)
  redis.call('PEXPIRE', log, ARGV[3])
  count = count + 1
elseif count > rate then
  -- The rate was higher for another instance, or before: more is left when fewer than ours count.
  oldest = redis.call('LINDEX', log, count - rate)
end
return { admitted and 1 or 0, math.max(0, rate - count), window - (now - (oldest or now)) }
