import { z } from 'zod'
import {
  administrators,
  cookieDomain,
  currency,
  databaseUrl,
  flag,
  httpUrl,
  issuer,
  keyRing,
  lastingKey,
  list,
  mailFrom,
  minorAmount,
  origin,
  pushHosts,
  rails,
  rpcUrls,
  settingSentence,
  smtpUrl,
  tariff,
  vapidSubject,
  wholeNumber,
} from './config/fields.ts'
import { coversEveryone, networks, proxies } from './config/networks.ts'
import { decodedPart, parseDatabaseAddress } from './lib/database-address.ts'
import { StartupError } from './lib/errors.ts'
import { looksRandom } from './lib/key-ring.ts'
import { httpUrlOf, isLoopbackUrl } from './lib/loopback.ts'
import { statementColumns } from './rails/bank-columns.ts'
import { allDefinitions, railSettings } from './rails/definitions.ts'

/** Same order as `.env.example`, which documents each variable's purpose and unit. */
const environment = z.object({
  // The process.
  NODE_ENV: z.enum(['development', 'production', 'test']).default('development'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  JOBS: z.enum(['inline', 'off']).default('inline'),
  // Listeners.
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(3000),
  PUBLIC_URL: origin.optional(),
  OPERATOR_HOST: z.string().default('127.0.0.1'),
  OPERATOR_PORT: wholeNumber(0, 65_535).default(3001),
  OPERATOR_URL: origin.optional(),
  OPERATOR_ALLOWED_HOSTS: list.default([]),
  CALLBACK_ALLOWED_IPS: networks.optional(),
  TRUST_PROXY: proxies.optional(),
  KEEP_ALIVE_SECONDS: wholeNumber(1, 86_400).default(75),
  SHUTDOWN_DELAY_MS: wholeNumber(0, 600_000).optional(),
  CORS_ORIGINS: list.pipe(z.array(origin)).default([]),
  SESSION_COOKIE_DOMAIN: cookieDomain.optional(),
  // Data.
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_DIRECT_URL: databaseUrl.optional(),
  DATABASE_READ_URL: databaseUrl.optional(),
  MIGRATE: z.enum(['on', 'off']).default('on'),
  DATABASE_POOL_SIZE: wholeNumber(2, 200).default(10),
  DATA_DIR: z.string().default('.data'),
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'must be a redis or rediss URL' }).optional(),
  CURRENCY: currency.default('KES'),
  PAYMENT_WAIT_MINUTES: wholeNumber(5, 43_200).default(45),
  FEES: tariff.default({}),
  DUPLICATE_WINDOW_SECONDS: wholeNumber(0, 604_800).default(3600),
  // Keys.
  ENCRYPTION_KEYS: keyRing.optional(),
  TOKEN_SECRETS: keyRing.optional(),
  ORDER_KEY: lastingKey.optional(),
  RECEIPT_KEYS: keyRing.optional(),
  // Sign-in.
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  GITHUB_CLIENT_ID: z.string().optional(),
  GITHUB_CLIENT_SECRET: z.string().optional(),
  GOOGLE_ISSUER: issuer.optional(),
  GITHUB_URL: origin.optional(),
  SIWE_CHAIN_IDS: list.pipe(z.array(wholeNumber(1, Number.MAX_SAFE_INTEGER))).default([1, 8453]),
  EVM_RPC_URLS: rpcUrls.default(new Map()),
  ADMIN_ACCOUNTS: administrators.default([]),
  SIGN_UP: z.enum(['open', 'invited', 'closed']).optional(),
  SUPPORT_CONTACT: z.string().max(200).optional(),
  ADJUSTMENT_CONFIRM_MINOR: minorAmount.default(1_000_000n),
  VAPID_KEYS: lastingKey.optional(),
  VAPID_SUBJECT: vapidSubject.optional(),
  SMTP_URL: smtpUrl.optional(),
  MAIL_FROM: mailFrom.optional(),
  PUSH_HOSTS: pushHosts.default([
    'fcm.googleapis.com',
    'jmt17.google.com',
    '*.push.services.mozilla.com',
    '*.push.apple.com',
    '*.notify.windows.com',
  ]),
  // Rails.
  RAILS: list.pipe(z.array(z.enum(['sandbox', ...allDefinitions.map(({ setting }) => setting)]))).optional(),
  SANDBOX_DELAY_MS: wholeNumber(0, 600_000).default(1000),
  NAME_LOOKUPS: rails.optional(),
  SANDBOX_URL: httpUrl.optional(),
  SANDBOX_TOKEN: z.string().min(16).optional(),
  RECONCILIATION_RESOLVES: flag.default(false),
  STATEMENT_COLUMNS: statementColumns.optional(),
  ...railSettings,
  // Lifetimes.
  SESSION_TTL_DAYS: wholeNumber(1, 3650).default(30),
  SESSION_IDLE_DAYS: wholeNumber(1, 3650).default(7),
  ACCESS_TOKEN_TTL_SECONDS: wholeNumber(1, 86_400).default(3600),
  REFRESH_TOKEN_TTL_DAYS: wholeNumber(1, 3650).default(30),
  OAUTH_REFRESH_LEEWAY_SECONDS: wholeNumber(0, 300).default(0),
  APPROVAL_TTL_HOURS: wholeNumber(1, 8760).default(72),
  EVENT_RETENTION_DAYS: wholeNumber(1, 3650).default(7),
  DELIVERY_BODY_RETENTION_DAYS: wholeNumber(31, 3650).optional(),
  EXPIRED_PERIODS: z.enum(['drop', 'detach']).default('drop'),
  // Limits.
  RATE_LIMIT_ENABLED: flag.default(true),
  RATE_LIMIT_PER_MINUTE: wholeNumber(1, 10_000_000).optional(),
  STREAM_PING_SECONDS: wholeNumber(1, 300).default(25),
})

/** Settings that cannot be configured. */
const fixed = {
  DATABASE_STATEMENT_TIMEOUT_MS: 7_000,
  REQUEST_TIMEOUT_MS: 10_000,
  RAIL_CONCURRENCY: 100,
  STREAMS_PER_ACCOUNT: 20,
  DASHBOARD_TOKEN_TTL_SECONDS: 900,
  OAUTH_METADATA_TIMEOUT_MS: 3_000,
  /** Empty: the system's DNS servers. */
  OAUTH_METADATA_DNS_SERVERS: [] as readonly string[],
  TOPUP_TTL_SECONDS: 300,
  REQUEST_LOG_RETENTION_DAYS: 7,
  REFUSAL_RETENTION_DAYS: 90,
  /** Counted from the end of the session. */
  SESSION_RETENTION_DAYS: 30,
  SHED_LOAD: true,
}

export const variableNames: readonly string[] = Object.keys(environment.shape)

/** Settings whose value is JSON, or `@` and the path of a JSON file. */
export const documentNames: readonly string[] = ['FEES', 'STATEMENT_COLUMNS'] satisfies (keyof typeof environment.shape)[]

type Environment = z.output<typeof environment>

const publicUrlOf = (env: Environment): string => env.PUBLIC_URL ?? `http://localhost:${env.PORT}`

const mailDeliveryOf = ({ SMTP_URL, NODE_ENV }: Environment, publicUrl: string) => {
  if (SMTP_URL !== undefined) return 'smtp' as const
  return NODE_ENV !== 'production' && isLoopbackUrl(publicUrl) ? ('sandbox' as const) : ('off' as const)
}

const derive = (env: Environment) => {
  const publicUrl = publicUrlOf(env)
  const scale = env.NODE_ENV === 'production' ? 1 : 100
  const rateLimitPerMinute = env.RATE_LIMIT_PER_MINUTE ?? 600 * scale
  return {
    publicUrl,
    signUp: env.SIGN_UP ?? 'open',
    operatorUrl: env.OPERATOR_URL ?? httpUrlOf(env.OPERATOR_HOST, env.OPERATOR_PORT),
    /** How long a process keeps serving requests after it receives the signal to stop. */
    shutdownDelayMs: env.SHUTDOWN_DELAY_MS ?? (env.NODE_ENV === 'production' ? 5_000 : 0),
    rateLimitPerMinute,
    /** Limit per IP address, on routes that issue credentials. */
    rateLimitPublicPerMinute: Math.ceil(rateLimitPerMinute / 10),
    /** Maximum number of payment prompts. Null: no limit. */
    promptLimits: env.RATE_LIMIT_ENABLED
      ? { perPhoneMinute: 3 * scale, perPhoneDay: 20 * scale, perAccountMinute: 20 * scale }
      : null,
    /** The sandbox sends no e-mail: a page on this machine shows the messages. */
    mailDelivery: mailDeliveryOf(env, publicUrl),
    /** True only where no one can mistake a simulated identity provider for a real one: on this machine, outside production. */
    maySimulateIdentities: env.NODE_ENV !== 'production' && isLoopbackUrl(publicUrl),
    /** Allows an OAuth client that is being developed on this machine. */
    metadataLoopback: env.NODE_ENV === 'development' && isLoopbackUrl(publicUrl),
  }
}

/** Validated settings, in the units that their names give. Missing keys are null until `development-keys.ts` generates them. */
export type Config = Readonly<Environment & typeof fixed & ReturnType<typeof derive>>

const providerUrls = ['GOOGLE_ISSUER', 'GITHUB_URL', 'OPERATOR_URL'] as const

const textOf = (env: object, name: string): string | undefined => {
  const value: unknown = Reflect.get(env, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** `variables`: the environment variables before parsing. */
function* railContradictions(env: Environment, variables: Readonly<Record<string, string>>): Generator<string> {
  if (env.RAILS?.includes('sandbox') && env.RAILS.length > 1) yield 'RAILS is either sandbox or real rails, not both'
  const chosen = allDefinitions.filter(({ setting }) => env.RAILS?.includes(setting))
  for (const { setting, required, refusedInCallbacks, replaced, payouts } of chosen) {
    for (const name of [...required, 'OPERATOR_URL'])
      if (textOf(env, name) === undefined) yield `${name} must be set when RAILS has ${setting}`
    for (const { name, value, by } of replaced)
      if (value.test(variables[name] ?? '') && textOf(env, by) === undefined)
        yield `${name}=${variables[name]} no longer has an effect: set ${by}, or remove it`
    const word = refusedInCallbacks.find((each) => env.OPERATOR_URL?.toLowerCase().includes(each))
    if (word !== undefined) yield `OPERATOR_URL contains "${word}", which ${setting} rejects in callback URLs`
    for (const [rail, { namesNeed }] of Object.entries(payouts))
      if (namesNeed !== null && env.NAME_LOOKUPS?.some((named) => named === rail) && textOf(env, namesNeed) === undefined)
        yield `${namesNeed} must be set when NAME_LOOKUPS has ${rail}`
  }
}

function* contradictions(env: Environment): Generator<string> {
  for (const name of ['GOOGLE', 'GITHUB'] as const)
    if (Boolean(env[`${name}_CLIENT_ID`]) !== Boolean(env[`${name}_CLIENT_SECRET`]))
      yield `${name}_CLIENT_ID and ${name}_CLIENT_SECRET go together`
  if ((env.SMTP_URL === undefined) !== (env.MAIL_FROM === undefined)) yield 'SMTP_URL and MAIL_FROM go together'
  const publicUrl = publicUrlOf(env)
  const host = new URL(publicUrl).hostname
  const domain = env.SESSION_COOKIE_DOMAIN?.toLowerCase().replace(/^\./, '')
  if (domain !== undefined && host !== domain && !host.endsWith(`.${domain}`))
    yield `SESSION_COOKIE_DOMAIN must be the host of PUBLIC_URL (${host}) or a domain above it: browsers reject any other cookie`
  if (env.VAPID_KEYS && !env.VAPID_SUBJECT && !isLoopbackUrl(publicUrl) && !vapidSubject.safeParse(publicUrl).success)
    yield `VAPID_SUBJECT must be set: push services reject PUBLIC_URL (${publicUrl}) as the subject of notifications`
  if (env.PORT !== 0 && env.PORT === env.OPERATOR_PORT)
    yield 'PORT and OPERATOR_PORT must differ: the private listener needs its own port'
}

const isSafe = (url: string): boolean => url.startsWith('https://') || isLoopbackUrl(url)

function* unsafeUrls(env: Environment): Generator<string> {
  if (!env.PUBLIC_URL?.startsWith('https://')) yield 'PUBLIC_URL must be an https:// origin in production'
  for (const name of [...providerUrls, ...allDefinitions.flatMap(({ addresses }) => addresses)]) {
    const url = textOf(env, name)
    if (url !== undefined && !isSafe(url))
      yield `${name} must be https:// in production: it receives credentials, codes and payment orders`
  }
  for (const [chain, url] of env.EVM_RPC_URLS)
    if (!isSafe(url)) yield `EVM_RPC_URLS must be https:// in production (chain ${chain}): its answer decides who signs in`
  for (const url of env.CORS_ORIGINS)
    if (!url.startsWith('https://'))
      yield `CORS_ORIGINS must be https:// in production (${url}): its pages may call the API with the session's cookie`
}

function* unsafeKeys({ ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY, RECEIPT_KEYS, VAPID_KEYS }: Environment): Generator<string> {
  // Push notifications are off without a VAPID key.
  const rings = { ENCRYPTION_KEYS, TOKEN_SECRETS, ORDER_KEY, RECEIPT_KEYS, ...(VAPID_KEYS && { VAPID_KEYS }) }
  const seen = new Map<string, string>()
  for (const [name, ring] of Object.entries(rings)) {
    if (!ring) {
      yield `${name} must be set in production (id:base64 of 32 random bytes)`
      continue
    }
    for (const { id, bytes } of ring.all.values()) {
      if (!looksRandom(bytes))
        yield `${name} has a weak key ("${id}"): use 32 random bytes for each key (openssl rand -base64 32)`
      const before = seen.get(bytes.toString('hex'))
      if (before !== undefined) yield `${name} has a key "${id}" that is the same as ${before}: use each key only once`
      seen.set(bytes.toString('hex'), `${name} "${id}"`)
    }
  }
}

const databaseUrls = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL', 'REDIS_URL'] as const
/** Compose's default password, and passwords from common images and tutorials. */
const wellKnown = new Set(['payments', 'postgres', 'password', 'secret', 'changeme', 'redis'])

const serversOf = (url: string): string[] =>
  url.startsWith('redis') ? [new URL(url).hostname] : [parseDatabaseAddress(url).host ?? []].flat()

/** A host name without a dot is a container on the same network as this service. */
const isOtherMachine = (server: string): boolean =>
  server !== '' && !isLoopbackUrl(`http://${server}`) && (server.includes('.') || server.includes(':'))

const isEncrypted = (url: string): boolean =>
  url.startsWith('rediss:') || /[?&]sslmode=(require|verify-ca|verify-full)(&|$)/.test(url)

function* unfitForProduction(env: Environment): Generator<string> {
  if (env.NODE_ENV !== 'production') return
  yield* unsafeKeys(env)
  yield* unsafeUrls(env)
  if (!env.DATABASE_URL) yield 'DATABASE_URL must be set in production'
  for (const name of databaseUrls) {
    const url = env[name]
    if (url !== undefined && wellKnown.has(decodedPart(new URL(url).password) ?? ''))
      yield `${name} has a well-known password: choose another (POSTGRES_PASSWORD in Compose)`
    const server = url !== undefined && !isEncrypted(url) ? serversOf(url).find(isOtherMachine) : undefined
    if (server !== undefined)
      yield `${name} must be encrypted in production, because ${server} is another machine: ${name === 'REDIS_URL' ? 'use rediss://' : 'add ?sslmode=verify-full'}`
  }
  if (!env.RAILS)
    yield `RAILS must be set in production: ${allDefinitions.map(({ setting }) => setting).join(',')}, or sandbox, which moves no money`
  if (!env.SIGN_UP)
    yield 'SIGN_UP must be set in production: invited, closed, or open to let anyone with a wallet or a Google account sign up'
  if (!env.RATE_LIMIT_ENABLED)
    yield 'RATE_LIMIT_ENABLED must not be false in production: attackers could guess credentials without limit'
  for (const network of (env.TRUST_PROXY ?? []).filter(coversEveryone))
    yield `TRUST_PROXY must not trust everyone in production (${network}): a client could forge its address`
}

/** Treats an empty variable as unset. Throws a StartupError that names each invalid variable. */
export const loadConfig = (variables: Record<string, string | undefined>): Config => {
  const input = Object.fromEntries(Object.entries(variables).flatMap(([name, value]) => (value ? [[name, value]] : [])))
  const parsed = environment.safeParse(input, { error: settingSentence })
  if (!parsed.success) {
    throw new StartupError(
      parsed.error.issues.map((issue) => `${issue.path[0]?.toString() ?? 'configuration'}: ${issue.message}`).join('; '),
    )
  }
  const env = parsed.data
  const problems = [...railContradictions(env, input), ...contradictions(env), ...unfitForProduction(env)]
  if (problems.length > 0) throw new StartupError(problems.join('; '))
  return { ...env, ...fixed, ...derive(env) }
}
