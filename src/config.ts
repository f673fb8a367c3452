import { z } from 'zod'
import { type KeyRing, parseKeyRing } from './lib/key-ring.ts'
import { StartupError } from './lib/startup-error.ts'

const flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1')
const whole = (min: number, max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().min(min).max(max))
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean),
)
const origin = z.url({ protocol: /^https?$/ }).transform((text, context) => {
  const url = new URL(text)
  if (url.pathname !== '/' || url.search || url.hash || url.username)
    context.addIssue({ code: 'custom', message: 'must be an origin: scheme, host and port alone' })
  return url.origin
})
/** An issuer may have a path; with or without a slash at its end it is the same one. */
const issuer = z
  .url({ protocol: /^https?$/ })
  .regex(/^[^?#]*$/, 'must have no query and no fragment')
  .transform((text) => text.replace(/\/+$/, ''))
const keyRing = z.string().transform((text, context): KeyRing => {
  try {
    return parseKeyRing(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'is not a key ring' })
    return z.NEVER
  }
})
const rpcUrls = list.transform((entries, context): ReadonlyMap<number, string> => {
  const urls = new Map<number, string>()
  for (const entry of entries) {
    const [chain = '', url = ''] = entry.split(/=(.*)/s)
    if (!/^\d+$/.test(chain) || !URL.canParse(url)) context.addIssue({ code: 'custom', message: 'each entry is chainId=url' })
    urls.set(Number(chain), url)
  }
  return urls
})
/** `0012=57,0007=11`: our code and the bank's own; not set, codes are passed on as they are. */
const bankCodes = list.transform((entries, context): Readonly<Record<string, string>> | 'as_given' => {
  const pairs = entries.map((entry) => entry.split('='))
  if (pairs.some((pair) => pair.length !== 2 || !pair[0] || !pair[1]))
    context.addIssue({ code: 'custom', message: "each entry is our code = the bank's code" })
  return Object.fromEntries(pairs as [string, string][])
})
const currency = z.string().regex(/^[A-Z]{3}$/, 'must be a three-letter ISO 4217 code')

const environment = z.object({
  NODE_ENV: z.enum(['development', 'production', 'test']).default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: whole(0, 65_535).default(3000),
  PUBLIC_URL: origin.optional(),
  OPERATOR_HOST: z.string().default('127.0.0.1'),
  OPERATOR_PORT: whole(0, 65_535).default(3001),
  OPERATOR_URL: origin.optional(),
  CALLBACK_ALLOWED_IPS: list.optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  DATABASE_POOL_SIZE: whole(2, 200).default(10),
  DATA_DIR: z.string().default('.data'),
  CURRENCY: currency.default('KES'),
  SESSION_COOKIE_DOMAIN: z.string().optional(),
  CORS_ORIGINS: list.pipe(z.array(origin)).default([]),
  TRUST_PROXY: z.string().optional(),
  ENCRYPTION_KEYS: keyRing.optional(),
  TOKEN_SECRETS: keyRing.optional(),
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  GOOGLE_ISSUER: issuer.optional(),
  GITHUB_CLIENT_ID: z.string().optional(),
  GITHUB_CLIENT_SECRET: z.string().optional(),
  GITHUB_URL: origin.optional(),
  GITHUB_API_URL: issuer.optional(),
  EVM_RPC_URLS: rpcUrls.default(new Map()),
  SIWE_CHAIN_IDS: list.pipe(z.array(whole(1, Number.MAX_SAFE_INTEGER))).default([1, 8453]),
  RAILS: list.pipe(z.array(z.enum(['sandbox', 'daraja', 'pesalink']))).optional(),
  SANDBOX_DELAY_MS: whole(0, 600_000).default(1000),
  DARAJA_URL: z.url().optional(),
  DARAJA_CONSUMER_KEY: z.string().optional(),
  DARAJA_CONSUMER_SECRET: z.string().optional(),
  DARAJA_SHORTCODE: z.string().optional(),
  DARAJA_B2C_SHORTCODE: z.string().optional(),
  DARAJA_PASSKEY: z.string().optional(),
  DARAJA_INITIATOR_NAME: z.string().optional(),
  DARAJA_INITIATOR_PASSWORD: z.string().optional(),
  DARAJA_CERTIFICATE: z.string().optional(),
  DARAJA_TRANSACTION_TYPE: z.enum(['CustomerPayBillOnline', 'CustomerBuyGoodsOnline']).default('CustomerPayBillOnline'),
  DARAJA_TILL_IDENTIFIER_TYPE: z.enum(['2', '4']).default('4'),
  DARAJA_TIMEOUT_MS: whole(100, 120_000).default(30_000),
  B2B_MIN_MINOR: z
    .string()
    .regex(/^\d{1,18}$/)
    .transform(BigInt)
    .default(1_000n),
  B2B_MAX_MINOR: z
    .string()
    .regex(/^\d{1,18}$/)
    .transform(BigInt)
    .default(25_000_000n),
  PESALINK_URL: z.url().optional(),
  PESALINK_API_KEY: z.string().optional(),
  PESALINK_MERCHANT_CODE: z.string().optional(),
  PESALINK_CONSUMER_SECRET: z.string().optional(),
  PESALINK_PRIVATE_KEY: z.string().optional(),
  PESALINK_ACCOUNT_NUMBER: z.string().optional(),
  PESALINK_ACCOUNT_NAME: z.string().optional(),
  PESALINK_COUNTRY_CODE: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .default('KE'),
  PESALINK_BANK_CODES: bankCodes.default('as_given'),
  PESALINK_FAILURE_CODES: list.default([]),
  PESALINK_CALLBACK_FIELD: z.string().optional(),
  PESALINK_TIMEOUT_MS: whole(100, 120_000).default(30_000),
  ADMIN_ACCOUNTS: list.default([]),
  /** An adjustment above this waits for a second administrator. */
  ADJUSTMENT_CONFIRM_MINOR: z
    .string()
    .regex(/^\d{1,18}$/)
    .transform(BigInt)
    .default(1_000_000n),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  JOBS: z.enum(['inline', 'off']).default('inline'),
  STREAM_PING_SECONDS: whole(1, 300).default(25),
  STREAMS_PER_ACCOUNT: whole(1, 10_000).default(20),
  SESSION_TTL_DAYS: whole(1, 3650).default(30),
  SESSION_IDLE_DAYS: whole(1, 3650).default(7),
  DASHBOARD_TOKEN_TTL_SECONDS: whole(1, 86_400).default(900),
  ACCESS_TOKEN_TTL_SECONDS: whole(1, 86_400).default(3600),
  REFRESH_TOKEN_TTL_DAYS: whole(1, 3650).default(30),
  OAUTH_REFRESH_LEEWAY_SECONDS: whole(0, 300).default(0),
  OAUTH_METADATA_TIMEOUT_MS: whole(100, 30_000).default(3000),
  OAUTH_METADATA_LOOPBACK: flag.default(false),
  APPROVAL_TTL_HOURS: whole(1, 8760).default(72),
  TOPUP_TTL_SECONDS: whole(30, 86_400).default(300),
  EVENT_RETENTION_DAYS: whole(1, 3650).default(7),
  RATE_LIMIT_PER_MINUTE: whole(1, 10_000_000).optional(),
  RATE_LIMIT_PUBLIC_PER_MINUTE: whole(1, 10_000_000).optional(),
  RATE_LIMIT_ENABLED: flag.default(true),
})

/** Every variable that is read; `.env.example` explains each. */
export const variableNames: readonly string[] = Object.keys(environment.shape)

type Environment = z.output<typeof environment>

/** Every setting, checked and in the unit its name says. Missing keys are null here: `development-keys.ts` makes them. */
export type Config = Readonly<
  Environment & { publicUrl: string; operatorUrl: string; rateLimitPerMinute: number; rateLimitPublicPerMinute: number }
>

const darajaNeeds = [
  'DARAJA_URL',
  'DARAJA_CONSUMER_KEY',
  'DARAJA_CONSUMER_SECRET',
  'DARAJA_SHORTCODE',
  'DARAJA_PASSKEY',
  'DARAJA_INITIATOR_NAME',
  'DARAJA_INITIATOR_PASSWORD',
  'DARAJA_CERTIFICATE',
  'OPERATOR_URL',
] as const
const pesalinkNeeds = [
  'PESALINK_URL',
  'PESALINK_API_KEY',
  'PESALINK_MERCHANT_CODE',
  'PESALINK_CONSUMER_SECRET',
  'PESALINK_PRIVATE_KEY',
  'PESALINK_ACCOUNT_NUMBER',
  'PESALINK_ACCOUNT_NAME',
  'OPERATOR_URL',
] as const
const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

export const isLoopbackUrl = (url: string): boolean => {
  const { hostname } = new URL(url)
  return loopback.has(hostname) || hostname.endsWith('.localhost')
}

function* missing(env: Environment): Generator<string> {
  const production = env.NODE_ENV === 'production'
  if (production && !env.ENCRYPTION_KEYS) yield 'ENCRYPTION_KEYS must be set in production (id:base64 of 32 random bytes)'
  if (production && !env.TOKEN_SECRETS) yield 'TOKEN_SECRETS must be set in production (id:base64 of 32 random bytes)'
  if (production && !env.PUBLIC_URL?.startsWith('https://')) yield 'PUBLIC_URL must be an https:// origin in production'
  if (production && !env.DATABASE_URL) yield 'DATABASE_URL must be set in production'
  if (production && env.OAUTH_METADATA_LOOPBACK)
    yield 'OAUTH_METADATA_LOOPBACK is for development: in production no client metadata is read from this machine'
  if (production && !env.RAILS) yield 'RAILS must be set in production: daraja,pesalink, or sandbox to say that no money moves'
  if (env.RAILS?.includes('sandbox') && env.RAILS.length > 1) yield 'RAILS is either sandbox or real rails, not both'
  for (const name of env.RAILS?.includes('daraja') ? darajaNeeds : [])
    if (!env[name]) yield `${name} must be set when RAILS has daraja`
  for (const name of env.RAILS?.includes('pesalink') ? pesalinkNeeds : [])
    if (!env[name]) yield `${name} must be set when RAILS has pesalink`
  if (Boolean(env.GOOGLE_CLIENT_ID) !== Boolean(env.GOOGLE_CLIENT_SECRET))
    yield 'GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET go together'
  if (Boolean(env.GITHUB_CLIENT_ID) !== Boolean(env.GITHUB_CLIENT_SECRET))
    yield 'GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET go together'
  for (const name of production ? (['GOOGLE_ISSUER', 'GITHUB_URL', 'GITHUB_API_URL'] as const) : []) {
    const url = env[name]
    if (url !== undefined && !url.startsWith('https://') && !isLoopbackUrl(url))
      yield `${name} must be https:// in production: sign-ins, codes and tokens go there`
  }
  if (env.PORT !== 0 && env.PORT === env.OPERATOR_PORT)
    yield 'PORT and OPERATOR_PORT must differ: what is private has a listener of its own'
  if (env.B2B_MIN_MINOR > env.B2B_MAX_MINOR) yield 'B2B_MIN_MINOR must not be above B2B_MAX_MINOR'
}

/** Reads the settings. An empty variable counts as not set; a bad one ends in a StartupError that names it. */
export const loadConfig = (variables: Record<string, string | undefined>): Config => {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''))
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    throw new StartupError(
      parsed.error.issues.map((issue) => `${issue.path[0]?.toString() ?? 'configuration'}: ${issue.message}`).join('; '),
    )
  }
  const env = parsed.data
  const problems = [...missing(env)]
  if (problems.length > 0) throw new StartupError(problems.join('; '))
  const scale = env.NODE_ENV === 'production' ? 1 : 100
  return {
    ...env,
    publicUrl: env.PUBLIC_URL ?? `http://localhost:${env.PORT}`,
    operatorUrl:
      env.OPERATOR_URL ??
      `http://${env.OPERATOR_HOST.includes(':') ? `[${env.OPERATOR_HOST}]` : env.OPERATOR_HOST}:${env.OPERATOR_PORT}`,
    rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE ?? 600 * scale,
    rateLimitPublicPerMinute: env.RATE_LIMIT_PUBLIC_PER_MINUTE ?? 60 * scale,
  }
}
