import type { Principal } from '../../auth/principal.ts'
import type { Derivations } from '../../auth/vault.ts'
import type { Config } from '../../config.ts'
import { lockNames } from '../../db/account-lock.ts'
import { statement, type Tx } from '../../db/client.ts'
import { insertOnce, insertRow, nullsOf } from '../../db/prepare-write.ts'
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
import type { KeyUse } from '../../queue/idempotency-keys.ts'
import { keyUserOf, type RecordAnswer } from '../../queue/record-keys.ts'
import { prompts } from '../../rails/definitions.ts'
import type { RailLimits } from '../../rails/rail.ts'
import { requireBelowBound } from '../bounds.ts'
import { type AccountRecord, getAccount } from '../identity/accounts/queries.ts'
import type { Parts } from '../parts.ts'
import { presentTopup } from './outcome.ts'
import type { TopupRecord } from './queries.ts'
import type { InitiateTopup } from './schema.ts'

type Needs = Pick<Parts, 'config' | 'derivations' | 'rails' | 'vault'>

/** Equal for two prompts to one phone. Without our secrets, the fingerprint does not reveal the number. */
export const phoneFingerprint = (derivations: Derivations, phone: string): Buffer => derivations.mac('topup.phone', phone)

/** Limits on prompts, because each prompt rings a phone, which may be a stranger's. */
const promptLimitsOf = ({ perPhoneMinute, perPhoneDay, perAccountMinute }: NonNullable<Config['promptLimits']>) => [
  { of: 'phone', seconds: 60, max: perPhoneMinute, message: `A phone is asked at most ${perPhoneMinute} times a minute.` },
  { of: 'phone', seconds: 86_400, max: perPhoneDay, message: `A phone is asked at most ${perPhoneDay} times a day.` },
  { of: 'account', seconds: 60, max: perAccountMinute, message: `An account asks at most ${perAccountMinute} phones a minute.` },
]

const countWindows = statement('topups.count_windows')`
  select count(t.id)::int as prompts, min(t.created_at) as first
   from unnest($1::text[], $2::timestamptz[]) with ordinality as w(of, since, place) left join lateral (
     select id, created_at from topups where w.of = 'phone' and phone_fingerprint = any($3::bytea[]) and created_at > w.since
     union select id, created_at from topups where w.of = 'account' and account_id = $4 and created_at > w.since and deposit_code is null
     union select id, created_at from topups where w.of = 'account' and initiator_account_id = $5 and created_at > w.since and deposit_code is null) as t on true
   group by w.place order by w.place`

type Counted = ReturnType<typeof promptLimitsOf>[number] & { prompts: number; first: Date | null }

/** Empty without limits, and for deposits. Locks the phone, so that each simultaneous prompt counts those before it. */
const countPrompts = async (
  tx: Tx,
  { config: { promptLimits: limits }, derivations }: Needs,
  { workspace, accountId }: Principal,
  number: string | undefined,
): Promise<Counted[]> => {
  if (!limits || number === undefined) return []
  const windows = promptLimitsOf(limits)
  const since = windows.map(({ seconds }) => secondsAfter(tx.at, -seconds))
  const fingerprints = derivations.macs('topup.phone', number).map(({ mac }) => mac)
  const values = [windows.map((window) => window.of), since, fingerprints, workspace.balanceAccountId, accountId]
  const [, counts] = await Promise.all([
    lockNames(tx, phoneFingerprint(derivations, number).toString('hex')),
    tx.query<Pick<Counted, 'prompts' | 'first'>>(countWindows, values),
  ])
  return windows.flatMap((window, index) => (counts[index] ? [{ ...window, ...counts[index] }] : []))
}

const refuseManyPrompts = (counted: readonly Counted[], at: Date): void => {
  const full = counted.find(({ prompts, max }) => prompts >= max)
  if (!full) return
  const { message, first, seconds } = full
  const waitMs = secondsAfter(first ?? at, seconds).getTime() - at.getTime()
  throw new Refusal('rate_limited', { message, headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) } })
}

export const phoneContext = (topup: { id: Uuid; workspaceId: Uuid }): string[] => ['topup', topup.id, topup.workspaceId]

const checkMayTopUp = (principal: Principal, credited: AccountRecord): void => {
  if (principal.grantFrozen) throw new Refusal('grant_frozen')
  if (!principal.capabilities.topups || !credited.topupsEnabled)
    throw new Refusal('capability_disabled', { details: { capability: 'topups' } })
  if (credited.status !== 'active') throw new Refusal('account_frozen')
}

const depositDays = 7

const amountProblem = (amountMinor: Minor, { wholeUnits, minMinor, maxMinor }: RailLimits, currency: string): string | null => {
  if (wholeUnits && amountMinor % 100n !== 0n) return 'must be whole shillings: a multiple of 100 minor units'
  if (amountMinor >= minMinor && amountMinor <= maxMinor) return null
  return `must be from ${displayAmount(minMinor, currency)} to ${displayAmount(maxMinor, currency)}`
}

/** With an idempotency key, the row also records the answer. */
const withAnswer = (topup: TopupRecord): TopupRecord =>
  topup.idempotencyKey === null ? topup : { ...topup, snapshot: presentTopup(topup) }

type Base = Omit<TopupRecord, 'expiresAt'>

/** Creates a prompt. The payer gets it right after the commit. */
const insertPrompt = (tx: Tx, deps: Needs, base: Base, input: InitiateTopup, counted: readonly Counted[]): TopupRecord => {
  const { at } = tx
  const { amount_minor: amountMinor, phone_number: phoneNumber } = input
  if (amountMinor === undefined || phoneNumber === undefined)
    throw new Error('a prompt was asked for without a phone or an amount')
  if (!deps.rails.collection) throw new Refusal('provider_not_configured', { message: 'Top-ups are not configured here.' })
  const message = amountProblem(amountMinor, prompts[collectionRail].limits, deps.config.CURRENCY)
  if (message !== null) throw invalidFields({ path: 'amount_minor', message })
  refuseManyPrompts(counted, at)
  const phone = deps.vault.seal(phoneNumber, phoneContext(base))
  const topup = withAnswer({
    ...base,
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

/** Maximum number of random account numbers to try: one of a hundred million may be taken. */
const maxDraws = 10

const insertDeposit = async (tx: Tx, deps: Needs, base: Base, rail: DepositRail, amount?: Minor): Promise<TopupRecord> => {
  const adapter = deps.rails.deposits[rail]
  if (!adapter) throw new Refusal('provider_not_configured', { message: `Deposits by ${rail} are not configured here.` })
  await requireBelowBound(tx, 'depositCodes', base.workspaceId)
  const deposit = { ...base, amountMinor: amount ?? null, expiresAt: daysAfter(tx.at, depositDays) }
  for (let count = 1; count <= maxDraws; count += 1) {
    const depositCode = newDepositCode()
    const topup = withAnswer({ ...deposit, depositCode, instructions: adapter.instructions(depositCode) })
    if (await insertOnce(tx, topups, topup, topups.depositCode)) return topup
  }
  throw new Error('no account number for a deposit was free')
}

export const initiateTopup = async (
  tx: Tx,
  deps: Needs,
  { principal, input, once }: { principal: Principal; input: InitiateTopup; once: KeyUse | null },
): Promise<RecordAnswer> => {
  const { at } = tx
  const id = newId()
  const { id: workspaceId, balanceAccountId } = principal.workspace
  const { method } = input
  const [credited, counted] = await Promise.all([
    getAccount(tx, balanceAccountId),
    countPrompts(tx, deps, principal, isDepositRail(method) ? undefined : input.phone_number),
  ])
  checkMayTopUp(principal, credited)
  const base: Base = {
    ...nullsOf(topups),
    id,
    workspaceId,
    accountId: balanceAccountId,
    status: 'pending',
    currency: deps.config.CURRENCY,
    method,
    initiatorAccountId: principal.accountId,
    grantId: principal.grant?.id ?? null,
    traceparent: currentTraceparent(),
    metadata: input.metadata ?? {},
    idempotencyKey: once?.key ?? null,
    requestHash: once?.bodyHash ?? null,
    createdAt: at,
    updatedAt: at,
  }
  const topup = isDepositRail(method)
    ? await insertDeposit(tx, deps, base, method, input.amount_minor)
    : insertPrompt(tx, deps, base, input, counted)
  audit(tx, principal, 'topup.initiate', {
    subject: id,
    after: {
      id: formatId('topup', id),
      method,
      amount_minor: topup.amountMinor === null ? null : formatMinor(topup.amountMinor),
      phone_number_mask: topup.phoneMask,
    },
  })
  return { id, text: JSON.stringify(presentTopup(topup)), usedBy: keyUserOf(principal) }
}
