import { z } from 'zod'
import {
  administrators,
  currency,
  databaseUrl,
  flag,
  issuer,
  keyRing,
  lastingKey,
  list,
  minorAmount,
  origin,
  pushHosts,
  rails,
  rpcUrls,
  whole,
} from './config/fields.ts'
import { networks } from './config/networks.ts'
import { contradictions, unfitForProduction } from './config/refusals.ts'
import { StartupError } from './lib/errors.ts'
import { isLoopbackUrl } from './lib/loopback.ts'
import { allDefinitions, railSettings } from './rails/definitions.ts'

const environment = z.object({
  NODE_ENV: z.enum(['development', 'production', 'test']).default('development'),
  HOST: z.string().default('127.0.0.1'),
  PORT: whole(0, 65_535).default(3000),
  PUBLIC_URL: origin.optional(),
  OPERATOR_HOST: z.string().default('127.0.0.1'),
  OPERATOR_PORT: whole(0, 65_535).default(3001),
  OPERATOR_URL: origin.optional(),
  OPERATOR_ALLOWED_HOSTS: list.default([]),
  CALLBACK_ALLOWED_IPS: list.optional(),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_DIRECT_URL: databaseUrl.optional(),
  DATABASE_READ_URL: databaseUrl.optional(),
  DATABASE_POOL_SIZE: whole(2, 200).default(10),
  MIGRATE: z.enum(['on', 'off']).default('on'),
  DATA_DIR: z.string().default('.data'),
  CURRENCY: currency.default('KES'),
  DUPLICATE_WINDOW_SECONDS: whole(0, 604_800).default(3600),
  /** How long an accepted payment waits for a rail that is down before it fails. */
  PAYMENT_WAIT_MINUTES: whole(5, 43_200).default(45),
  SESSION_COOKIE_DOMAIN: z.string().optional(),
  CORS_ORIGINS: list.pipe(z.array(origin)).default([]),
  TRUST_PROXY: networks.optional(),
  SHUTDOWN_DELAY_MS: whole(0, 600_000).optional(),
  ENCRYPTION_KEYS: keyRing.optional(),
  TOKEN_SECRETS: keyRing.optional(),
  RECEIPT_KEYS: keyRing.optional(),
  ORDER_KEY: lastingKey.optional(),
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  GOOGLE_ISSUER: issuer.optional(),
  GITHUB_CLIENT_ID: z.string().optional(),
  GITHUB_CLIENT_SECRET: z.string().optional(),
  GITHUB_URL: origin.optional(),
  EVM_RPC_URLS: rpcUrls.default(new Map()),
  SIWE_CHAIN_IDS: list.pipe(z.array(whole(1, Number.MAX_SAFE_INTEGER))).default([1, 8453]),
  RAILS: list.pipe(z.array(z.enum(['sandbox', ...allDefinitions.map(({ setting }) => setting)]))).optional(),
  NAME_LOOKUPS: rails.optional(),
  SANDBOX_DELAY_MS: whole(0, 600_000).default(1000),
  SANDBOX_URL: z.url({ protocol: /^https?$/ }).optional(),
  ...railSettings,
  VAPID_KEYS: lastingKey.optional(),
  VAPID_SUBJECT: z
    .string()
    .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, 'must be mailto: and an address, or an https URL')
    .optional(),
  PUSH_HOSTS: pushHosts.default([
    'fcm.googleapis.com',
    '*.push.services.mozilla.com',
    '*.push.apple.com',
    '*.notify.windows.com',
  ]),
  ADMIN_ACCOUNTS: administrators.default([]),
  /** An adjustment above this needs a second administrator. */
  ADJUSTMENT_CONFIRM_MINOR: minorAmount.default(1_000_000n),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  JOBS: z.enum(['inline', 'off']).default('inline'),
  STREAM_PING_SECONDS: whole(1, 300).default(25),
  SESSION_TTL_DAYS: whole(1, 3650).default(30),
  SESSION_IDLE_DAYS: whole(1, 3650).default(7),
  ACCESS_TOKEN_TTL_SECONDS: whole(1, 86_400).default(3600),
  REFRESH_TOKEN_TTL_DAYS: whole(1, 3650).default(30),
  OAUTH_REFRESH_LEEWAY_SECONDS: whole(0, 300).default(0),
  APPROVAL_TTL_HOURS: whole(1, 8760).default(72),
  EVENT_RETENTION_DAYS: whole(1, 3650).default(7),
  /** What providers' authentic deliveries said; kept as long as the books where it is not set. */
  DELIVERY_BODY_RETENTION_DAYS: whole(31, 3650).optional(),
  /** Periods of events and of delivered bodies whose retention is over are dropped, or only detached: then an operator archives them. */
  EXPIRED_PERIODS: z.enum(['drop', 'detach']).default('drop'),
  RATE_LIMIT_PER_MINUTE: whole(1, 10_000_000).optional(),
  /** Accepts the outcomes that a provider's statement offers for payments that are unknown, without a person. */
  RECONCILIATION_RESOLVES: flag.default(false),
  RATE_LIMIT_ENABLED: flag.default(true),
})

/** Values that no operator needs to choose: no variable changes them. */
export type Fixed = {
  DATABASE_STATEMENT_TIMEOUT_MS: number
  REQUEST_TIMEOUT_MS: number
  RAIL_CONCURRENCY: number
  STREAMS_PER_ACCOUNT: number
  DASHBOARD_TOKEN_TTL_SECONDS: number
  OAUTH_METADATA_TIMEOUT_MS: number
  /** Empty: those of the system. */
  OAUTH_METADATA_DNS_SERVERS: readonly string[]
  TOPUP_TTL_SECONDS: number
  REQUEST_LOG_RETENTION_DAYS: number
  REFUSAL_RETENTION_DAYS: number
  /** Counted from a session's end. */
  SESSION_RETENTION_DAYS: number
  SHED_LOAD: boolean
  /** Requests a minute of one address on routes that issue credentials: a tenth of `RATE_LIMIT_PER_MINUTE`. */
  rateLimitPublicPerMinute: number
  /** How many prompts to pay phones may get; null: no limit. */
  promptLimits: { perPhoneMinute: number; perPhoneDay: number; perAccountMinute: number } | null
  /** Whether the metadata document of an OAuth client may be on this machine: while it is developed here. */
  metadataLoopback: boolean
}
const fixed: Omit<Fixed, 'rateLimitPublicPerMinute' | 'promptLimits' | 'metadataLoopback'> = {
  DATABASE_STATEMENT_TIMEOUT_MS: 7_000,
  REQUEST_TIMEOUT_MS: 10_000,
  RAIL_CONCURRENCY: 100,
  STREAMS_PER_ACCOUNT: 20,
  DASHBOARD_TOKEN_TTL_SECONDS: 900,
  OAUTH_METADATA_TIMEOUT_MS: 3_000,
  OAUTH_METADATA_DNS_SERVERS: [],
  TOPUP_TTL_SECONDS: 300,
  REQUEST_LOG_RETENTION_DAYS: 7,
  REFUSAL_RETENTION_DAYS: 90,
  SESSION_RETENTION_DAYS: 30,
  SHED_LOAD: true,
}

/** Every variable that is read; `.env.example` explains each. */
export const variableNames: readonly string[] = Object.keys(environment.shape)

type Environment = z.output<typeof environment>

/** Every setting, checked and in the unit that its name says. Missing keys are null here: `development-keys.ts` generates them. */
export type Config = Readonly<
  Environment &
    Fixed & {
      publicUrl: string
      operatorUrl: string
      /** How long a process serves on after the signal to end. */
      shutdownDelayMs: number
      rateLimitPerMinute: number
    }
>

/** Reads the settings. An empty variable counts as not set; a bad one ends in a StartupError that names it. */
export const loadConfig = (variables: Record<string, string | undefined>): Config => {
  const input = Object.fromEntries(Object.entries(variables).flatMap(([name, value]) => (value ? [[name, value]] : [])))
  const parsed = environment.safeParse(input)
  if (!parsed.success) {
    throw new StartupError(
      parsed.error.issues.map((issue) => `${issue.path[0]?.toString() ?? 'configuration'}: ${issue.message}`).join('; '),
    )
  }
  const env = { ...parsed.data, ...fixed }
  const problems = [...contradictions(env, allDefinitions, input), ...unfitForProduction(env, allDefinitions)]
  if (problems.length > 0) throw new StartupError(problems.join('; '))
  const publicUrl = env.PUBLIC_URL ?? `http://localhost:${env.PORT}`
  const scale = env.NODE_ENV === 'production' ? 1 : 100
  const rateLimitPerMinute = env.RATE_LIMIT_PER_MINUTE ?? 600 * scale
  return {
    ...env,
    publicUrl,
    operatorUrl:
      env.OPERATOR_URL ??
      `http://${env.OPERATOR_HOST.includes(':') ? `[${env.OPERATOR_HOST}]` : env.OPERATOR_HOST}:${env.OPERATOR_PORT}`,
    shutdownDelayMs: env.SHUTDOWN_DELAY_MS ?? (env.NODE_ENV === 'production' ? 5_000 : 0),
    rateLimitPerMinute,
    rateLimitPublicPerMinute: Math.ceil(rateLimitPerMinute / 10),
    promptLimits: env.RATE_LIMIT_ENABLED
      ? {
          perPhoneMinute: 3 * scale,
          perPhoneDay: 20 * scale,
          perAccountMinute: 20 * scale,
        }
      : null,
    metadataLoopback: env.NODE_ENV === 'development' && isLoopbackUrl(publicUrl),
  }
}
