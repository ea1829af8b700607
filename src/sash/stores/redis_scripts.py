"""What a Redis server runs for a window, each script as a whole or not at all.

Each gets three keys, which one server of a cluster has:

    window  a hash, which is all that the window has put
    lease   who has it open; goes away by itself if it is not renewed
    owner   who had it open last (token), the number of its last write (at), and how many keys the
            window then had (fields)

The lease keeps others out. The owner keeps out who was thought to be gone and is not: a window that
another has opened since has another owner. It also tells that the server has lost something that
it had taken: a write, as when a replica took over that did not have it yet, or keys, as when the
window expired or was evicted.

A server whose memory is full refuses the first call of a script that would need more, and none
after one that has changed something. So a write with puts begins with such a call, and is refused
as a whole; all else begins with another, so that what frees memory is never refused.
"""

OURS = -2
TAKEN, LOST, LATE, DONE = -1, -2, -3, 1

OPEN = """
local window, lease, owner = KEYS[1], KEYS[2], KEYS[3]
local token, lasts, expires = ARGV[1], ARGV[2], tonumber(ARGV[3])
local left = redis.call('PTTL', lease)
if left ~= -2 and redis.call('GET', lease) ~= token then return left end
redis.call('DEL', owner)
redis.call('SET', lease, token, 'PX', lasts)
redis.call('HSET', owner, 'token', token, 'at', 0, 'fields', redis.call('HLEN', window))
if expires > 0 then
  redis.call('PEXPIRE', owner, expires)
  redis.call('PEXPIRE', window, expires)
else
  redis.call('PERSIST', window)
end
return -2
"""
"""Milliseconds that another has it for at least, or -1 if for ever; -2 if it is now ours."""

# A write has a number, and so has the last that was acknowledged. Of those that were given up as
# nobody answered, one may arrive late: after a later write it is no longer wanted.
WRITE = """
local window, lease, owner = KEYS[1], KEYS[2], KEYS[3]
local token, lasts, expires = ARGV[1], ARGV[2], tonumber(ARGV[3])
local number, last, puts = tonumber(ARGV[4]), tonumber(ARGV[5]), 7 + tonumber(ARGV[6])
local found = redis.call('HMGET', owner, 'token', 'at', 'fields')
if not found[1] then return -2 end
if found[1] ~= token then return -1 end
local at = tonumber(found[2])
if at < last or tonumber(found[3]) ~= redis.call('HLEN', window) then return -2 end
if number <= at then return -3 end
if puts <= #ARGV then redis.call('HSET', owner, 'at', number) end
if redis.call('PEXPIRE', lease, lasts) == 0 then
  redis.call('SET', lease, token, 'PX', lasts)
end
for i = 7, puts - 1 do redis.call('HDEL', window, ARGV[i]) end
for i = puts, #ARGV, 2 do redis.call('HSET', window, ARGV[i], ARGV[i + 1]) end
redis.call('HSET', owner, 'at', number, 'fields', redis.call('HLEN', window))
if expires > 0 then
  redis.call('PEXPIRE', owner, expires)
  redis.call('PEXPIRE', window, expires)
end
return 1
"""

RELEASE = """
if redis.call('HGET', KEYS[3], 'token') ~= ARGV[1] then return -1 end
redis.call('DEL', KEYS[2], KEYS[3])
return 1
"""

DESTROY = """
local found = redis.call('HGET', KEYS[3], 'token')
if found and found ~= ARGV[1] then return -1 end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
return 1
"""
