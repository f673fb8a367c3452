import { BlockList, isIP } from 'node:net'
import { StartupError } from '../lib/startup-error.ts'

export type AllowList = (address: string) => boolean

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

const add = (list: BlockList, entry: string): void => {
  const [address = '', prefix] = entry.split('/')
  try {
    if (prefix === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  } catch {
    throw new StartupError(`CALLBACK_ALLOWED_IPS: "${entry}" is neither an address nor a network (address/bits)`)
  }
}

/** Who may deliver: addresses and networks. If it is not set, everybody may; the secret in the path is always checked. */
export const createAllowList = (entries: readonly string[] | undefined): AllowList => {
  if (entries === undefined) return () => true
  const list = new BlockList()
  for (const entry of entries) add(list, entry)
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}
