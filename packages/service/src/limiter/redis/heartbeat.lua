-- Records that this instance is alive, and returns the number of live instances.
-- KEYS: a sorted set of instances, each with its last heartbeat in microseconds of Redis's clock.
-- ARGV: this instance; the milliseconds of silence after which an instance no longer counts.
local instances, instance, stale_ms = KEYS[1], ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = string.format('%.0f', now)

redis.call('ZREMRANGEBYSCORE', instances, '-inf', string.format('%.0f', now - stale_ms * 1000))
-- A heartbeat in the future means that the clock was set back. Live instances return with their next one.
redis.call('ZREMRANGEBYSCORE', instances, '(' .. now_text, '+inf')
redis.call('ZADD', instances, now_text, instance)
redis.call('PEXPIRE', instances, stale_ms)
return redis.call('ZCARD', instances)
