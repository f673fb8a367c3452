import { isIP } from 'node:net'
import { list } from './fields.ts'

/** Shortest prefix allowed for a proxy's network. Private ranges (10.0.0.0/8, fc00::/7) are allowed. */
const narrowest = { ipv4: 8, ipv6: 7 }

/** An IPv4-mapped IPv6 network (`::ffff:0.0.0.0/96`): the last 32 bits are the IPv4 address. */
const mapped = /^(?:0*:)*:?(?:0*:)*ffff:/i

/** Whether a network is so large that it includes strangers, such as half of all addresses, even if written as mapped IPv4. */
export const coversEveryone = (network: string): boolean => {
  const [address = '', prefix] = network.split('/')
  if (prefix === undefined) return false
  const bits = Number(prefix)
  if (!address.includes(':')) return bits < narrowest.ipv4
  return mapped.test(address) ? bits < 96 + narrowest.ipv4 : bits < narrowest.ipv6
}

const isNetwork = (entry: string): boolean => {
  const [address = '', prefix, ...rest] = entry.split('/')
  const family = isIP(address)
  if (rest.length > 0 || family === 0 || address.includes('%')) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
}

const networksOr = (names: readonly string[]) =>
  list.transform((entries, context): readonly string[] => {
    for (const entry of entries.filter((one) => !names.includes(one) && !isNetwork(one)))
      context.addIssue({ code: 'custom', message: `"${entry}" is neither an address nor a network (address/bits)` })
    return entries
  })
export const networks = networksOr([])
/** Networks in CIDR notation, or names of private ranges. */
export const proxies = networksOr(['loopback', 'linklocal', 'uniquelocal'])
