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
