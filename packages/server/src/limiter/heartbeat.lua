-- Notes that this instance lives, and returns how many do.
-- KEYS: the instances, each with when it was last heard of, in microseconds of Redis's own clock.
-- ARGV: this instance; after how many milliseconds of silence one does not count any more.
local instances, stale_ms = KEYS[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = string.format('%.0f', now)

-- Heard of in the future: the clock was set back, and whoever is gone would stay until it is there again.
for _, instance in ipairs(redis.call('ZRANGEBYSCORE', instances, '(' .. now_text, '+inf')) do
  redis.call('ZADD', instances, now_text, instance)
end
redis.call('ZADD', instances, now_text, ARGV[1])
redis.call('ZREMRANGEBYSCORE', instances, '-inf', string.format('%.0f', now - stale_ms * 1000))
redis.call('PEXPIRE', instances, stale_ms)
return redis.call('ZCARD', instances)
