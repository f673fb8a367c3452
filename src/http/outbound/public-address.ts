import { BlockList, isIPv4 } from 'node:net'

/** Addresses outside the public internet (IANA special-purpose registries): private, loopback, link-local, documentation, multicast … */
const special4 = new BlockList()
for (const range of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]) {
  const [net = '', bits = ''] = range.split('/')
  special4.addSubnet(net, Number(bits), 'ipv4')
}

// In IPv6 only global unicast is public; addresses that map, translate or tunnel to IPv4 lie outside it or are listed here.
const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')
const special6 = new BlockList()
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
] as const)
  special6.addSubnet(net, bits, 'ipv6')

export const isPublicAddress = (address: string): boolean =>
  isIPv4(address) ? !special4.check(address, 'ipv4') : global6.check(address, 'ipv6') && !special6.check(address, 'ipv6')
