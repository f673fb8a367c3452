import { parseDatabaseAddress } from '../lib/database-address.ts'
import { type KeyRing, looksRandom } from '../lib/key-ring.ts'
import { isLoopbackUrl } from '../lib/loopback.ts'
import { coversEveryone } from './networks.ts'

/** What is refused of a provider's settings. */
type ProviderSettings = {
  setting: string
  required: readonly string[]
  addresses: readonly string[]
  refusedInCallbacks: readonly string[]
  replaced: readonly { name: string; value: RegExp; by: string }[]
  payouts: Readonly<Record<string, { namesNeed: string | null }>>
}

/** Requests to a provider: sign-ins, codes, tokens, credentials, and orders to move money. */
const providerUrls = ['GOOGLE_ISSUER', 'GITHUB_URL', 'OPERATOR_URL'] as const

/** The settings whose values can contradict each other, or be unsafe in production. */
export type Settings = Readonly<Partial<Record<(typeof providerUrls)[number], string | undefined>>> & {
  readonly NODE_ENV: string
  readonly PORT: number
  readonly OPERATOR_PORT: number
  readonly PUBLIC_URL?: string | undefined
  readonly DATABASE_URL?: string | undefined
  readonly DATABASE_DIRECT_URL?: string | undefined
  readonly DATABASE_READ_URL?: string | undefined
  readonly REDIS_URL?: string | undefined
  readonly ENCRYPTION_KEYS?: KeyRing | undefined
  readonly TOKEN_SECRETS?: KeyRing | undefined
  readonly RECEIPT_KEYS?: KeyRing | undefined
  readonly VAPID_KEYS?: KeyRing | undefined
  readonly ORDER_KEY?: KeyRing | undefined
  readonly RAILS?: readonly string[] | undefined
  readonly NAME_LOOKUPS?: readonly string[] | undefined
  readonly CORS_ORIGINS: readonly string[]
  readonly TRUST_PROXY?: readonly string[] | undefined
  readonly EVM_RPC_URLS: ReadonlyMap<number, string>
  readonly RATE_LIMIT_ENABLED: boolean
  readonly GOOGLE_CLIENT_ID?: string | undefined
  readonly GOOGLE_CLIENT_SECRET?: string | undefined
  readonly GITHUB_CLIENT_ID?: string | undefined
  readonly GITHUB_CLIENT_SECRET?: string | undefined
}

const textOf = (env: object, name: string): string | undefined => {
  const value: unknown = Object.entries(env).find(([key]) => key === name)?.[1]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Rules for every environment. `variables`: as they were given. */
export function* contradictions(
  env: Settings,
  providers: readonly ProviderSettings[],
  variables: Readonly<Record<string, string>>,
): Generator<string> {
  if (env.RAILS?.includes('sandbox') && env.RAILS.length > 1) yield 'RAILS is either sandbox or real rails, not both'
  for (const { setting, required, refusedInCallbacks, replaced, payouts } of providers.filter(({ setting }) =>
    env.RAILS?.includes(setting),
  )) {
    for (const name of [...required, 'OPERATOR_URL'])
      if (textOf(env, name) === undefined) yield `${name} must be set when RAILS has ${setting}`
    for (const { name, value, by } of replaced)
      if (value.test(variables[name] ?? '') && textOf(env, by) === undefined)
        yield `${name}=${variables[name]} has no effect any more: set ${by}, or remove it`
    const word = refusedInCallbacks.find((each) => env.OPERATOR_URL?.toLowerCase().includes(each))
    if (word !== undefined) yield `OPERATOR_URL contains "${word}", which ${setting} refuses in the address of callbacks`
    for (const [rail, { namesNeed }] of Object.entries(payouts))
      if (namesNeed !== null && env.NAME_LOOKUPS?.includes(rail) && textOf(env, namesNeed) === undefined)
        yield `${namesNeed} must be set when NAME_LOOKUPS has ${rail}`
  }
  if (Boolean(env.GOOGLE_CLIENT_ID) !== Boolean(env.GOOGLE_CLIENT_SECRET))
    yield 'GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET go together'
  if (Boolean(env.GITHUB_CLIENT_ID) !== Boolean(env.GITHUB_CLIENT_SECRET))
    yield 'GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET go together'
  if (env.PORT !== 0 && env.PORT === env.OPERATOR_PORT)
    yield 'PORT and OPERATOR_PORT must differ: what is private has a listener of its own'
}

const isSafe = (url: string): boolean => url.startsWith('https://') || isLoopbackUrl(url)

function* unsafeUrls(env: Settings, providers: readonly ProviderSettings[]): Generator<string> {
  if (!env.PUBLIC_URL?.startsWith('https://')) yield 'PUBLIC_URL must be an https:// origin in production'
  for (const name of [...providerUrls, ...providers.flatMap(({ addresses }) => addresses)]) {
    const url = textOf(env, name)
    if (url !== undefined && !isSafe(url))
      yield `${name} must be https:// in production: credentials, codes and orders to pay travel to it`
  }
  for (const [chain, url] of env.EVM_RPC_URLS)
    if (!isSafe(url)) yield `EVM_RPC_URLS must be https:// in production (chain ${chain}): its answer decides who signs in`
  for (const url of env.CORS_ORIGINS)
    if (!url.startsWith('https://'))
      yield `CORS_ORIGINS must be https:// in production (${url}): its pages may call the API with the session's cookie`
}

function* unsafeKeys({ ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY, RECEIPT_KEYS, VAPID_KEYS }: Settings): Generator<string> {
  // Without a key for it push is off.
  const rings = { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY, RECEIPT_KEYS, ...(VAPID_KEYS && { VAPID_KEYS }) }
  const seen = new Map<string, string>()
  for (const [name, ring] of Object.entries(rings)) {
    if (!ring) {
      yield `${name} must be set in production (id:base64 of 32 random bytes)`
      continue
    }
    for (const { id, bytes } of ring.all.values()) {
      if (!looksRandom(bytes)) yield `${name} has a weak key ("${id}"): make each of 32 random bytes (openssl rand -base64 32)`
      const before = seen.get(bytes.toString('hex'))
      if (before !== undefined) yield `${name} has the key "${id}" a second time, after ${before}: every key has one use`
      seen.set(bytes.toString('hex'), `${name} "${id}"`)
    }
  }
}

const databaseUrls = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL', 'REDIS_URL'] as const
/** Compose's own default, and those of images and tutorials. */
const wellKnown = new Set(['payments', 'postgres', 'password', 'secret', 'changeme', 'redis'])

const serversOf = (url: string): string[] =>
  url.startsWith('redis') ? [new URL(url).hostname] : [parseDatabaseAddress(url).host ?? []].flat()

const passwordOf = (url: string): string => new URL(url).password

/** Another machine: neither this one nor, by a name without a dot, a container beside this one. */
const isElsewhere = (server: string): boolean =>
  server !== '' && !isLoopbackUrl(`http://${server}`) && (server.includes('.') || server.includes(':'))

const isEncrypted = (url: string): boolean =>
  url.startsWith('rediss:') || /[?&]sslmode=(require|verify-ca|verify-full)(&|$)/.test(url)

/** What is allowed in development and refused in production, each with its own sentence. */
export function* unfitForProduction(env: Settings, providers: readonly ProviderSettings[]): Generator<string> {
  if (env.NODE_ENV !== 'production') return
  yield* unsafeKeys(env)
  yield* unsafeUrls(env, providers)
  if (!env.DATABASE_URL) yield 'DATABASE_URL must be set in production'
  for (const name of databaseUrls) {
    const url = env[name]
    if (url !== undefined && wellKnown.has(decodeURIComponent(passwordOf(url))))
      yield `${name} has a password that everybody knows: choose another (POSTGRES_PASSWORD in Compose)`
    const server = url !== undefined && !isEncrypted(url) ? serversOf(url).find(isElsewhere) : undefined
    if (server !== undefined)
      yield `${name} must be encrypted in production, as ${server} is another machine: ${name === 'REDIS_URL' ? 'use rediss://' : 'add ?sslmode=verify-full'}`
  }
  if (!env.RAILS)
    yield `RAILS must be set in production: ${providers.map(({ setting }) => setting).join(',')}, or sandbox to say that no money moves`
  if (!env.RATE_LIMIT_ENABLED)
    yield 'RATE_LIMIT_ENABLED must not be false in production: credentials could be guessed without end'
  for (const network of (env.TRUST_PROXY ?? []).filter(coversEveryone))
    yield `TRUST_PROXY must not trust everyone in production (${network}): a client could name any address as its own`
}
