import { and, gt, sql } from 'drizzle-orm'
import type { Principal } from '../../auth/principal.ts'
import type { Derivations } from '../../auth/vault.ts'
import { first, statement, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertOnce, insertRow } from '../../db/prepare-write.ts'
import { topups } from '../../db/tables/topups.ts'
import { audit } from '../../events/audit.ts'
import { wakeAfterCommit } from '../../jobs/jobs.ts'
import { daysAfter, secondsAfter } from '../../lib/clock.ts'
import { newDepositCode } from '../../lib/deposit-code.ts'
import { invalidFields, Refusal } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { displayAmount, formatMinor, type Minor } from '../../lib/money.ts'
import { collectionRail, type DepositRail, isDepositRail } from '../../lib/rail-names.ts'
import { mask } from '../../lib/text.ts'
import { currentTraceparent } from '../../lib/tracing.ts'
import type { Once } from '../../queue/idempotency-keys.ts'
import { keyUserOf, type RecordAnswer } from '../../queue/record-keys.ts'
import { prompts } from '../../rails/definitions.ts'
import type { RailLimits } from '../../rails/rail.ts'
import { type AccountRecord, getAccount } from '../identity/accounts/queries.ts'
import type { Parts } from '../parts.ts'
import { presentTopup } from './outcome.ts'
import type { TopupRecord } from './queries.ts'
import type { InitiateTopup } from './schema.ts'

type Asked = Pick<Parts, 'config' | 'derivations' | 'rails' | 'vault'>

const minuteSeconds = 60
const daySeconds = 86_400

/** Equal for two prompts to one phone. Without our secrets it does not reveal the number. */
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
  `select count(*)::int as minute, min(created_at) as "minuteSince" from (
     select id, created_at from topups where account_id = $1 and created_at > $3
     union select id, created_at from topups where initiator_account_id = $2 and created_at > $3) as recent`,
)

const tooMany = (message: string, at: Date, since: Date | null, windowSeconds: number): Refusal => {
  const free = since ? secondsAfter(since, windowSeconds).getTime() - at.getTime() : windowSeconds * 1000
  return new Refusal('rate_limited', { message, headers: { 'retry-after': String(Math.max(1, Math.ceil(free / 1000))) } })
}

/** Null without limits, and for a deposit. The phone is locked: of several at once, each counts the one before. */
const countPrompts = async (
  tx: Tx,
  { config: { promptLimits: limits }, derivations }: Asked,
  { workspace, accountId }: Principal,
  number: string | undefined,
) => {
  if (!limits || number === undefined) return null
  const { at } = tx
  const minute = secondsAfter(at, -minuteSeconds)
  const fingerprints = derivations.macs('topup.phone', number).map(({ mac }) => mac)
  const [, phone, [account]] = await Promise.all([
    tx.query(lockPhone, [phoneFingerprint(derivations, number)]),
    first(tx, countPhone, { fingerprints, minute, day: secondsAfter(at, -daySeconds) }),
    tx.query<{ minute: number; minuteSince: Date | null }>(countAccount, [workspace.owningAccountId, accountId, minute]),
  ])
  return { limits, phone, account }
}

type PromptCounts = Awaited<ReturnType<typeof countPrompts>>

/** To a phone, which may be a stranger's and rings each time, or for an account. */
const refuseManyPrompts = ({ limits, phone, account }: NonNullable<PromptCounts>, at: Date): void => {
  if (phone && phone.minute >= limits.perPhoneMinute)
    throw tooMany(`A phone is asked at most ${limits.perPhoneMinute} times a minute.`, at, phone.minuteSince, minuteSeconds)
  if (phone && phone.day >= limits.perPhoneDay)
    throw tooMany(`A phone is asked at most ${limits.perPhoneDay} times a day.`, at, phone.daySince, daySeconds)
  if (account && account.minute >= limits.perAccountMinute)
    throw tooMany(`An account asks at most ${limits.perAccountMinute} phones a minute.`, at, account.minuteSince, minuteSeconds)
}

export const phoneContext = (topup: { id: Uuid; workspaceId: Uuid }): string[] => ['topup', topup.id, topup.workspaceId]

const checkMayTopUp = (principal: Principal, credited: AccountRecord): void => {
  if (principal.grant?.frozen) throw new Refusal('grant_frozen')
  if (!principal.capabilities.topups || !credited.topupsEnabled)
    throw new Refusal('capability_disabled', { details: { capability: 'topups' } })
  if (credited.status !== 'active') throw new Refusal('account_frozen')
}

const nothingYet = {
  amountMinor: null,
  phoneCiphertext: null,
  phoneKeyId: null,
  phoneMask: null,
  phoneFingerprint: null,
  depositCode: null,
  instructions: null,
  snapshot: null,
  receivedMinor: null,
  providerReceipt: null,
  failureCode: null,
  failureMessage: null,
  providerCode: null,
  dispatchDueAt: null,
  completedAt: null,
} as const

const depositDays = 7

const amountProblem = (amountMinor: Minor, { wholeUnits, minMinor, maxMinor }: RailLimits, currency: string): string | null => {
  if (wholeUnits && amountMinor % 100n !== 0n) return 'must be whole shillings: a multiple of 100 minor units'
  if (amountMinor >= minMinor && amountMinor <= maxMinor) return null
  return `must be from ${displayAmount(minMinor, currency)} to ${displayAmount(maxMinor, currency)}`
}

/** With its key, a row is also the record of its answer. */
const withAnswer = (topup: TopupRecord): TopupRecord =>
  topup.idempotencyKey === null ? topup : { ...topup, snapshot: presentTopup(topup) }

type Begun = Omit<TopupRecord, 'expiresAt'>

/** The payer gets it right after the commit. */
const insertPrompt = (tx: Tx, deps: Asked, begun: Begun, input: InitiateTopup, counts: PromptCounts): TopupRecord => {
  const { at } = tx
  const { amount_minor: amountMinor, phone_number: phoneNumber } = input
  if (amountMinor === undefined || phoneNumber === undefined)
    throw new Error('a prompt was asked for without a phone or an amount')
  if (!deps.rails.collection) throw new Refusal('provider_not_configured', { message: 'Top-ups are not configured here.' })
  const message = amountProblem(amountMinor, prompts[collectionRail].limits, deps.config.CURRENCY)
  if (message !== null) throw invalidFields({ path: 'amount_minor', message })
  if (counts) refuseManyPrompts(counts, at)
  const phone = deps.vault.seal(phoneNumber, phoneContext(begun))
  const topup = withAnswer({
    ...begun,
    amountMinor,
    phoneCiphertext: phone.ciphertext,
    phoneKeyId: phone.keyId,
    phoneMask: mask(phoneNumber),
    phoneFingerprint: phoneFingerprint(deps.derivations, phoneNumber),
    dispatchDueAt: at,
    expiresAt: secondsAfter(at, deps.config.TOPUP_TTL_SECONDS),
  })
  insertRow(tx, topups, topup)
  wakeAfterCommit(tx, 'topups')
  return topup
}

/** One of a hundred million account numbers is taken by chance alone. */
const mostDraws = 10

/** Under an account number of its own, at which the payer pays in. */
const insertDeposit = async (tx: Tx, deps: Asked, begun: Begun, rail: DepositRail, amount?: Minor): Promise<TopupRecord> => {
  const adapter = deps.rails.deposits[rail]
  if (!adapter) throw new Refusal('provider_not_configured', { message: `Deposits by ${rail} are not configured here.` })
  const common = { ...begun, amountMinor: amount ?? null, expiresAt: daysAfter(tx.at, depositDays) }
  for (let count = 1; count <= mostDraws; count += 1) {
    const depositCode = newDepositCode()
    const topup = withAnswer({ ...common, depositCode, instructions: adapter.instructions(depositCode) })
    if (await insertOnce(tx, topups, topup, topups.depositCode)) return topup
  }
  throw new Error('no account number for a deposit was free')
}

export const initiateTopup = async (
  tx: Tx,
  deps: Asked,
  { principal, input, once }: { principal: Principal; input: InitiateTopup; once: Once | null },
): Promise<RecordAnswer> => {
  const { at } = tx
  const id = newId()
  const { id: workspaceId, owningAccountId } = principal.workspace
  const { method } = input
  const [credited, counts] = await Promise.all([
    getAccount(tx, owningAccountId),
    countPrompts(tx, deps, principal, isDepositRail(method) ? undefined : input.phone_number),
  ])
  checkMayTopUp(principal, credited)
  const begun: Begun = {
    id,
    workspaceId,
    accountId: owningAccountId,
    status: 'pending',
    currency: deps.config.CURRENCY,
    method,
    initiatorAccountId: principal.accountId,
    grantId: principal.grant?.id ?? null,
    traceparent: currentTraceparent(),
    metadata: input.metadata ?? {},
    ...nothingYet,
    idempotencyKey: once?.key ?? null,
    requestHash: once?.bodyHash ?? null,
    createdAt: at,
    updatedAt: at,
  }
  const topup = isDepositRail(method)
    ? await insertDeposit(tx, deps, begun, method, input.amount_minor)
    : insertPrompt(tx, deps, begun, input, counts)
  audit(tx, principal, 'topup.initiate', {
    subject: id,
    after: {
      id: formatId('topup', id),
      method,
      amount_minor: topup.amountMinor === null ? null : formatMinor(topup.amountMinor),
      phone_number_mask: topup.phoneMask,
    },
  })
  return { id, text: JSON.stringify(presentTopup(topup)), by: keyUserOf(principal) }
}
