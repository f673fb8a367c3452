import { isIP } from 'node:net'
import { z } from 'zod'
import { type KeyRing, parseKeyRing } from '../lib/key-ring.ts'

export const flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1')

export const whole = (min: number, max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().min(min).max(max))

export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
)

export const minorAmount = z
  .string()
  .regex(/^\d{1,18}$/)
  .transform(BigInt)

export const origin = z.url({ protocol: /^https?$/ }).transform((text, context) => {
  const url = new URL(text)
  if (url.pathname !== '/' || url.search || url.hash || url.username)
    context.addIssue({ code: 'custom', message: 'must be an origin: scheme, host and port alone' })
  return url.origin
})

/** The address of a provider's API: paths are appended to it. */
export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

/** An issuer may have a path; with or without a slash at its end it is the same one. */
export const issuer = z
  .url({ protocol: /^https?$/ })
  .regex(/^[^?#]*$/, 'must have no query and no fragment')
  .transform((text) => text.replace(/\/+$/, ''))

export const keyRing = z.string().transform((text, context): KeyRing => {
  try {
    return parseKeyRing(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'is not a key ring' })
    return z.NEVER
  }
})

export const rpcUrls = list.transform((entries, context): ReadonlyMap<number, string> => {
  const urls = new Map<number, string>()
  for (const entry of entries) {
    const [chain = '', url = ''] = entry.split(/=(.*)/s)
    if (!/^\d+$/.test(chain) || !/^https?:\/\//i.test(url) || !URL.canParse(url))
      context.addIssue({ code: 'custom', message: 'each entry is chainId=url, and the URL is http or https' })
    urls.set(Number(chain), url)
  }
  return urls
})

/** `0012=57,0007=11`: our code and the bank's own; if it is not set, codes are passed on unchanged. */
export const bankCodes = list.transform((entries, context): Readonly<Record<string, string>> | 'as_given' => {
  const pairs = entries.map((entry) => entry.split('='))
  if (pairs.some((pair) => pair.length !== 2 || !pair[0] || !pair[1]))
    context.addIssue({ code: 'custom', message: "each entry is our code = the bank's code" })
  return Object.fromEntries(pairs as [string, string][])
})

export const currency = z.string().regex(/^[A-Z]{3}$/, 'must be a three-letter ISO 4217 code')

/** `address` or `address:port`; an IPv6 address with a port in brackets. */
export const nameServers = list.transform((entries, context): readonly string[] => {
  for (const entry of entries) {
    const [, bracketed, plain] = /^(?:\[(.+)\]|([^:]+))(?::\d{1,5})?$/.exec(entry) ?? []
    if (isIP(bracketed ?? plain ?? entry) === 0)
      context.addIssue({ code: 'custom', message: `"${entry}" is no address of a name server` })
  }
  return entries
})

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
