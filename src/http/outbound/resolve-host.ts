import { Resolver } from 'node:dns/promises'
import { type Clock, secondsAfter } from '../../lib/clock.ts'

export type Address = { address: string; family: number }
export type ResolveHost = (hostname: string) => Promise<Address[]>

export type ResolverOptions = {
  clock: Clock
  deadlineMs: number
  /** Name servers (`address` or `address:port`); the system's when there are none. */
  servers: readonly string[]
}

const failureSeconds = 60
const maxFailures = 1_000
const loopback: Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

const addresses = async (answer: Promise<string[]>, family: number): Promise<Address[]> =>
  (await answer.catch(() => [])).map((address) => ({ address, family }))

/**
 * Resolves names that strangers make us look up. It does not use `dns.lookup`: that occupies a thread of the pool that file access, hashing
 * and every other lookup share, until the system gives up; a dozen names without an answer stopped sign-ins and payouts. Here each lookup
 * has a deadline, and a name that failed is not looked up again for a while. An empty result: there is no address, or none in time.
 */
export const createHostResolver = ({ clock, deadlineMs, servers }: ResolverOptions): ResolveHost => {
  const failures = new Map<string, Date>()

  const lookUp = async (hostname: string): Promise<Address[]> => {
    const resolver = new Resolver({ timeout: deadlineMs, tries: 1 })
    if (servers.length > 0) resolver.setServers(servers)
    const timer = setTimeout(() => resolver.cancel(), deadlineMs)
    try {
      const [four, six] = await Promise.all([
        addresses(resolver.resolve4(hostname), 4),
        addresses(resolver.resolve6(hostname), 6),
      ])
      return [...four, ...six]
    } finally {
      clearTimeout(timer)
    }
  }
  const noteFailure = (hostname: string): void => {
    if (failures.size >= maxFailures) failures.clear()
    failures.set(hostname, secondsAfter(clock.now(), failureSeconds))
  }
  return async (hostname) => {
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return loopback
    const until = failures.get(hostname)
    if (until && until > clock.now()) return []
    failures.delete(hostname)
    const resolved = await lookUp(hostname)
    if (resolved.length === 0) noteFailure(hostname)
    return resolved
  }
}
