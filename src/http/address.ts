import { isIPv6 } from 'node:net'

const groupCount = 8

/** The eight groups of an IPv6 address as numbers; an IPv4 address at its end gives two of them. */
const groupsOf = (address: string): number[] => {
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? []
  const read = (part: string | undefined): number[] =>
    (part === undefined || part === '' ? [] : part.split(':')).flatMap((group) => {
      if (!group.includes('.')) return [Number.parseInt(group, 16)]
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
      return [a * 256 + b, c * 256 + d]
    })
  const [left, right] = [read(head), read(tail)]
  return [...left, ...Array<number>(Math.max(0, groupCount - left.length - right.length)).fill(0), ...right]
}

/**
 * The address whose allowance is used. One customer has a whole IPv6 /64 and can take another address in it for each request, so the
 * network is counted. IPv4 written as IPv6 is the same IPv4 address.
 */
export const networkOf = (address: string): string => {
  if (!isIPv6(address)) return address
  const groups = groupsOf(address)
  const [, , , , , marker, high = 0, low = 0] = groups
  if (marker === 0xffff && groups.slice(0, 5).every((group) => group === 0))
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}
