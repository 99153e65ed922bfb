-- Notes that this instance lives, and returns how many do.
-- KEYS: the instances, each with when it was last heard of, in microseconds of Redis's own clock; those that
-- decide without Redis, each with until when the others leave its share to it.
-- ARGV: this instance; after how many milliseconds of silence one does not count any more; for how many
-- milliseconds its share is left to one that decides without Redis; whether this one does.
local instances, apart, stale_ms, apart_ms = KEYS[1], KEYS[2], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = string.format('%.0f', now)
local latest_text = string.format('%.0f', now + apart_ms * 1000)

-- Later than can be: the clock was set back, and whoever is gone would stay until it is there again.
local function bring_back(key, most_text)
  for _, instance in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. most_text, '+inf')) do
    redis.call('ZADD', key, most_text, instance)
  end
end
bring_back(instances, now_text)
bring_back(apart, latest_text)
redis.call('ZADD', instances, now_text, ARGV[1])
redis.call('ZREMRANGEBYSCORE', instances, '-inf', string.format('%.0f', now - stale_ms * 1000))
redis.call('PEXPIRE', instances, stale_ms)
if ARGV[4] == '1' then
  redis.call('ZADD', apart, latest_text, ARGV[1])
  redis.call('PEXPIRE', apart, apart_ms)
end
redis.call('ZREMRANGEBYSCORE', apart, '-inf', now_text)
return redis.call('ZCARD', instances)
