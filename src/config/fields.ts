import { accessSync, constants } from 'node:fs'
import { z } from 'zod'
import { AddressError, decodedPart, parseDatabaseAddress } from '../lib/database-address.ts'
import { parseTariff } from '../lib/fees.ts'
import { parseKeyRing } from '../lib/key-ring.ts'
import { type RailName, railNames } from '../lib/rail-names.ts'
import { checksumProblem, hasWrongChecksum, parseWalletName } from '../lib/wallet-name.ts'

export const flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1')

export const wholeNumber = (min: number, max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().min(min).max(max))

/** The default message for an invalid setting, in the same words as the API's messages. */
export const settingSentence = (issue: z.core.$ZodRawIssue): string | undefined => {
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map((value) => `"${String(value)}"`).join(', ')}`
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}`
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`
  return issue.code === 'invalid_format' ? `is not a valid ${issue.format}` : undefined
}

export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
)

export const rails = list.transform((names, context): readonly RailName[] => {
  if (names.length === 1 && names[0] === 'on') return railNames
  if (names.length === 1 && names[0] === 'off') return []
  for (const name of names)
    if (!railNames.some((rail) => rail === name))
      context.addIssue({
        code: 'custom',
        message: `unknown rail "${name}": use on, off or a list of ${railNames.join(', ')}`,
      })
  return railNames.filter((rail) => names.includes(rail))
})

export const minorAmount = z
  .string()
  .regex(/^\d{1,18}$/, 'must be a whole number of minor units')
  .transform(BigInt)

/** An http or https base URL, to which paths are appended. */
export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

export const origin = httpUrl.transform((text, context) => {
  const url = new URL(text)
  if (url.pathname !== '/' || url.search || url.hash || url.username)
    context.addIssue({ code: 'custom', message: 'must be an origin: only scheme, host and port' })
  return url.origin
})

const unreadable = (path: string): string | undefined => {
  try {
    accessSync(path, constants.R_OK)
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

const certificateFaults = (parameters: URLSearchParams): string[] =>
  ['sslrootcert', 'sslcert', 'sslkey'].flatMap((name) => {
    const path = parameters.get(name)
    const reason = path && path !== 'system' ? unreadable(path) : undefined
    return reason === undefined ? [] : [`${name} names the file ${path}, which cannot be read (${reason})`]
  })

/** A PostgreSQL URL. Error messages never repeat it, because it contains a password. */
export const databaseUrl = z.string().superRefine((text, context) => {
  try {
    parseDatabaseAddress(text)
    for (const message of certificateFaults(new URL(text).searchParams)) context.addIssue({ code: 'custom', message })
  } catch (error) {
    if (!(error instanceof AddressError)) throw error
    context.addIssue({ code: 'custom', message: error.message })
  }
})

export const headerText = z.string().regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')

/** A cookie domain, which must be a host name, because browsers ignore cookies for other domains. */
export const cookieDomain = z
  .string()
  .regex(/^\.?[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i, 'must be a host name, such as example.com')

/** Removes final slashes, so that an issuer is the same with or without one. */
export const issuer = httpUrl
  .regex(/^[^?#]*$/, 'must not have a query or a fragment')
  .transform((text) => text.replace(/\/+$/, ''))

/** `parse` throws an error whose message describes the problem. */
const parsedBy = <T>(parse: (text: string) => T) =>
  z.string().transform((text, context): T => {
    try {
      return parse(text)
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'cannot be read' })
      return z.NEVER
    }
  })

export const keyRing = parsedBy(parseKeyRing)
export const tariff = parsedBy(parseTariff)

/** A key that never changes, because everything derived from it must stay the same forever. */
export const lastingKey = keyRing.refine(({ all }) => all.size === 1, 'must be exactly one key, which is never rotated')

/** `*.` before a host matches all of its subdomains. A push service is never an IP address or a name without a dot. */
export const pushHosts = list.pipe(
  z.array(
    z.string().regex(/^(\*\.)?([a-z\d-]+\.)+[a-z][a-z\d-]*$/, 'each entry must be a lowercase host name, optionally after "*."'),
  ),
)

/** Apple rejects notifications whose subject is not reachable on the internet. */
export const vapidSubject = z
  .string()
  .regex(
    /^(?:mailto:[^\s@<>,:]+@|https:\/\/)(?!\S*\.(?:local|localhost|invalid|test|internal|lan|home|arpa)(?:[:/?#]|$))(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z][a-z\d-]*[a-z\d](?::\d+)?(?:[/?#]\S*)?$/i,
    'must be a mailto: or https URL with a public domain name: push services reject localhost, .local and .invalid',
  )

/** Error messages never repeat the URL, because it contains a password. */
export const smtpUrl = z.string().superRefine((text, context) => {
  const problem = (message: string) => context.addIssue({ code: 'custom', message })
  if (!/^smtps?:\/\/[^/\s]/i.test(text) || !URL.canParse(text))
    return problem('must be smtp:// or smtps:// with a host, such as smtps://user:password@mail.example.com:465')
  const url = new URL(text)
  if (url.hostname === '' || (url.pathname !== '/' && url.pathname !== '') || url.search || url.hash)
    return problem('must have a host and nothing after its port: write / # and ? in a password as %2F, %23 and %3F')
  if ((url.username === '') !== (url.password === '')) return problem('must have both a user and a password, or neither')
  if (decodedPart(url.username) === undefined || decodedPart(url.password) === undefined)
    return problem('has a % without two hexadecimal digits after it: write % itself as %25')
  return undefined
})

/** An e-mail address, alone or as `Name <address>`. */
export const mailFrom = z
  .string()
  .regex(
    /^(?:[^\p{C}"<>@,;:()[\]\\]{1,80} <(?=[^<>]+>$))?[\w.+-]{1,64}@(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+[a-z][a-z\d-]*[a-z\d](?:(?<=<.+)>)?$/iu,
    'must be one address with a domain name, such as payments@example.com or Payments <payments@example.com>',
  )

export const rpcUrls = list.transform((entries, context): ReadonlyMap<number, string> => {
  const urls = new Map<number, string>()
  for (const entry of entries) {
    const [chain = '', url = ''] = entry.split(/=(.*)/s)
    if (!/^\d+$/.test(chain) || !/^https?:\/\//i.test(url) || !URL.canParse(url))
      context.addIssue({ code: 'custom', message: 'each entry must be chainId=url, with an http or https URL' })
    urls.set(Number(chain), url)
  }
  return urls
})

/** Verified e-mail addresses, CAIP-10 wallet names, or bare wallet addresses. */
export const administrators = list.transform((names, context): readonly string[] => {
  for (const name of names)
    if (hasWrongChecksum(name)) context.addIssue({ code: 'custom', message: `"${name}" ${checksumProblem}` })
    else if (!parseWalletName(name) && !/^[^\s@]+@[^\s@]+$/.test(name))
      context.addIssue({
        code: 'custom',
        message: `"${name}" must be an e-mail address, a wallet address or eip155:<chain>:<address>`,
      })
  return names
})

export const currency = z.string().regex(/^[A-Z]{3}$/, 'must be a three-letter ISO 4217 code')
