import type { Redis } from 'ioredis'

/** How often a name was counted in its minute, and how long that minute lasts. */
export type Count = { used: number; ttlMs: number }

/**
 * Counts `cost` for each name in turn, and stops at the first one that is above its limit: what is refused uses up nothing further down. Returns
 * the counts of the names that were counted.
 */
export type Counters = (names: readonly LimitedName[], cost: number) => Promise<Count[]>

export type LimitedName = { name: string; max: number }

const windowMs = 60_000
/** Names whose minute is over are forgotten when there are this many more than at the last time. */
const sweepEvery = 5_000

/** The counters of this process. */
export const ownCounters = (now: () => number = () => performance.now()): Counters => {
  const counts = new Map<string, { used: number; endsAt: number }>()
  let sweepAt = sweepEvery
  const add = (name: string, cost: number): Count => {
    const at = now()
    const known = counts.get(name)
    const count = known && known.endsAt > at ? known : { used: 0, endsAt: at + windowMs }
    count.used += cost
    if (count !== known) counts.set(name, count)
    if (counts.size >= sweepAt) {
      for (const [other, { endsAt }] of counts) if (endsAt <= at) counts.delete(other)
      sweepAt = counts.size + sweepEvery
    }
    return { used: count.used, ttlMs: count.endsAt - at }
  }
  return async (names, cost) => {
    const counted: Count[] = []
    for (const { name, max } of names) {
      const count = add(name, cost)
      counted.push(count)
      if (count.used > max) break
    }
    return counted
  }
}

// One call for all names, as each waits for an answer. ARGV: the cost, the window, then the limit of each name.
const script = `
local counted = {}
for i, key in ipairs(KEYS) do
  local used = redis.call('INCRBY', key, ARGV[1])
  local ttl = redis.call('PTTL', key)
  if ttl < 0 then
    redis.call('PEXPIRE', key, ARGV[2])
    ttl = tonumber(ARGV[2])
  end
  counted[#counted + 1] = used
  counted[#counted + 1] = ttl
  if used > tonumber(ARGV[i + 2]) then break end
end
return counted`

const isCount = (value: unknown): value is number => typeof value === 'number'

/** The counters of all processes, kept by Redis. Names that are counted together must have the same part in braces: a cluster keeps them together. */
export const sharedCounters = (redis: Redis): Counters => {
  const command = 'countRequests'
  redis.defineCommand(command, { lua: script })
  const run: unknown = Reflect.get(redis, command)
  if (typeof run !== 'function') throw new Error('a command that was defined is missing')
  return async (names, cost) => {
    const keys = names.map(({ name }) => `rate:${name}`)
    const answer: unknown = await run.call(redis, keys.length, ...keys, cost, windowMs, ...names.map(({ max }) => max))
    if (!Array.isArray(answer) || !answer.every(isCount)) throw new Error('Redis answered a count that is none')
    return names.flatMap((_, index) => {
      const [used, ttlMs] = answer.slice(2 * index, 2 * index + 2)
      return used === undefined || ttlMs === undefined ? [] : [{ used, ttlMs }]
    })
  }
}
