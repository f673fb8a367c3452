import { isIP } from 'node:net'
import { list } from './fields.ts'

/** A proxy's network must be smaller than this; private ranges (10.0.0.0/8, fc00::/7) are not larger. */
const narrowest = { ipv4: 8, ipv6: 7 }

/** IPv4 written as IPv6 (`::ffff:0.0.0.0/96`): the last 32 bits are the IPv4 address. */
const mapped = /^(?:0*:)*:?(?:0*:)*ffff:/i

/**
 * Whether a network of trusted proxies is so large that it includes strangers. Also detects the two halves of the whole, and mapped IPv4.
 */
export const coversEveryone = (network: string): boolean => {
  const [address = '', prefix] = network.split('/')
  if (prefix === undefined) return false
  const bits = Number(prefix)
  if (!address.includes(':')) return bits < narrowest.ipv4
  return mapped.test(address) ? bits < 96 + narrowest.ipv4 : bits < narrowest.ipv6
}

/** Names for ranges of private addresses in lists of proxies. */
const namedRanges = ['loopback', 'linklocal', 'uniquelocal']

const isNetwork = (entry: string): boolean => {
  const [address = '', prefix, ...rest] = entry.split('/')
  const family = isIP(address)
  if (rest.length > 0 || family === 0) return namedRanges.includes(entry)
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
}

/** Addresses, networks (`10.0.0.0/8`) and the names of private ranges. */
export const networks = list.transform((entries, context): readonly string[] => {
  for (const entry of entries.filter((one) => !isNetwork(one)))
    context.addIssue({ code: 'custom', message: `"${entry}" is neither an address nor a network (address/bits)` })
  return entries
})
