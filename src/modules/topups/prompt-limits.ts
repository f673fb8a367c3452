import { and, gt, sql } from 'drizzle-orm'
import type { Derivations } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import { first, statement, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { topups } from '../../db/tables/topups.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'

export type PromptLimits = NonNullable<Config['promptLimits']>

const minuteSeconds = 60
const daySeconds = 86_400

/** Equal for two prompts to one phone. Without our secrets it does not reveal the phone number. */
export const phoneFingerprint = (derivations: Derivations, phone: string): Buffer => derivations.mac('topup.phone', phone)

const lockPhone = statement('topups.lock_phone', `select pg_advisory_xact_lock(hashtextextended(encode($1::bytea, 'hex'), 0))`)
const countPhone = prepare(
  'topups.count_phone',
  { fingerprints: 'bytea[]', minute: 'timestamptz', day: 'timestamptz' },
  (orm, at) =>
    orm
      .select({
        minute: sql<number>`count(*) filter (where ${topups.createdAt} > ${at.minute})::int`,
        day: sql<number>`count(*)::int`,
        minuteSince: sql<Date | null>`min(${topups.createdAt}) filter (where ${topups.createdAt} > ${at.minute})`,
        daySince: sql<Date | null>`min(${topups.createdAt})`,
      })
      .from(topups)
      .where(and(sql`${topups.phoneFingerprint} = any(${at.fingerprints})`, gt(topups.createdAt, at.day))),
)
const countAccount = statement(
  'topups.count_account',
  `select count(*)::int as minute, min(created_at) as minute_since from (
     select id, created_at from topups where account_id = $1 and created_at > $3
     union select id, created_at from topups where initiator_account_id = $2 and created_at > $3) as recent`,
)

const tooMany = (message: string, at: Date, since: Date | null, windowSeconds: number): Refusal => {
  const free = since ? secondsAfter(since, windowSeconds).getTime() - at.getTime() : windowSeconds * 1000
  return new Refusal('rate_limited', { message, headers: { 'retry-after': String(Math.max(1, Math.ceil(free / 1000))) } })
}

type Phone = { minute: number; day: number; minuteSince: Date | null; daySince: Date | null }
type Account = { minute: number; minute_since: Date | null }

export type PromptCounts = { phone: Phone | undefined; account: Account | undefined }

/** The prompts of the last day. Of several at once, each counts the one before: the phone is locked here, and the caller has locked its accounts. */
export const countPrompts = async (
  tx: Tx,
  derivations: Derivations,
  prompt: { phone: string; accountId: Uuid; initiatorAccountId: Uuid },
): Promise<PromptCounts> => {
  const { at } = tx
  const minute = secondsAfter(at, -minuteSeconds)
  const fingerprints = derivations.macs('topup.phone', prompt.phone).map(({ mac }) => mac)
  const [, phone, [account]] = await Promise.all([
    tx.query(lockPhone, [phoneFingerprint(derivations, prompt.phone)]),
    first(tx, countPhone, { fingerprints, minute, day: secondsAfter(at, -daySeconds) }),
    tx.query<Account>(countAccount, [prompt.accountId, prompt.initiatorAccountId, minute]),
  ])
  return { phone, account }
}

/**
 * Refuses a prompt that would be one too many: to a phone, by any caller, or for an account. The phone may be a stranger's, and rings each
 * time.
 */
export const refuseManyPrompts = ({ phone, account }: PromptCounts, limits: PromptLimits, at: Date): void => {
  if (phone && phone.minute >= limits.perPhoneMinute)
    throw tooMany(`A phone is asked at most ${limits.perPhoneMinute} times a minute.`, at, phone.minuteSince, minuteSeconds)
  if (phone && phone.day >= limits.perPhoneDay)
    throw tooMany(`A phone is asked at most ${limits.perPhoneDay} times a day.`, at, phone.daySince, daySeconds)
  if (account && account.minute >= limits.perAccountMinute)
    throw tooMany(`An account asks at most ${limits.perAccountMinute} phones a minute.`, at, account.minute_since, minuteSeconds)
}
