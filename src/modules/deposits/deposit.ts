import { and, eq, sql } from 'drizzle-orm'
import type { Vault } from '../../auth/vault.ts'
import { type Database, type Db, first, inTx, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertOnce, updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { deposits } from '../../db/tables/deposits.ts'
import { railAttempts } from '../../db/tables/payments.ts'
import { topups } from '../../db/tables/topups.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { readDepositCode } from '../../lib/deposit-code.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { collectionRail, type DepositRail, depositRailOf, type Provider, providerOf } from '../../lib/rail-names.ts'
import { receiptForms, receiptKey } from '../../lib/text.ts'
import type { DepositNotification, ListedPayment } from '../../rails/rail.ts'
import { sweepOf } from '../for-each-row.ts'
import { deliveryOperator } from '../operators.ts'
import type { Parts } from '../parts.ts'
import { applyEvidence, lockAttempt } from '../sending/evidence.ts'
import { alertConflict, claimReceipts, findHolders, type ReceiptHolder, yieldsTo } from '../suspense/receipts-service.ts'
import { recordSuspense } from '../suspense/service.ts'
import { credit } from '../topups/outcome.ts'
import { isCreditable, lockTopupWithAccount, type TopupRecord } from '../topups/queries.ts'

type DepositRecord = typeof deposits.$inferSelect

const findDeposit = selectRow('deposits.by_id', deposits, ['id'])
const lockDeposit = selectRow('deposits.lock', deposits, ['id'], { lock: 'update' })
export const lockDepositOfSuspense = selectRow('deposits.lock_by_suspense', deposits, ['suspenseId'], { lock: 'update' })

const topupByCode = selectRow('topups.by_deposit_code', topups, ['depositCode'])

const attemptByReference = prepare('rail_attempts.topup_by_reference', { reference: 'text' }, (orm, param) =>
  orm
    .select({ attemptId: railAttempts.id, topupId: railAttempts.subjectId })
    .from(railAttempts)
    .where(and(eq(railAttempts.reference, param.reference), sql`${railAttempts.send} = 1`, eq(railAttempts.kind, 'topup'))),
)

/** `attemptId`: the attempt of the prompt, if the reference belongs to a prompt. */
export const findTarget = async (db: Db, reference: string): Promise<{ topupId: Uuid; attemptId?: Uuid } | undefined> => {
  const code = readDepositCode(reference)
  if (code !== undefined) {
    const topup = await topupByCode(db, { depositCode: code })
    return topup && { topupId: topup.id }
  }
  const digits = reference.replace(/\s/g, '')
  if (!/^\d{12}$/.test(digits)) return undefined
  return first(db, attemptByReference, { reference: digits })
}

type End = { state: 'credited' | 'suspense' | 'known'; topupId?: Uuid; suspenseId?: Uuid }

/** Ends a deposit. Its suspense item stays linked, because it shows who paid. */
export const endDeposit = (tx: Tx, id: Uuid, end: End): void => void updateRow(tx, deposits, { id }, { ...end, settledAt: tx.at })

/** Settles a prompt that was paid to the same paybill. The notification is its evidence; it is credited at most once. */
const settlePrompt = async (tx: Tx, deposit: DepositRecord, prompt: { topupId: Uuid; attemptId: Uuid }): Promise<void> => {
  const locked = await lockAttempt(tx, { id: prompt.attemptId, kind: 'topup', subjectId: prompt.topupId })
  if ((await lockDeposit(tx, { id: deposit.id }))?.state !== 'received') return
  const { receipt, amountMinor } = deposit
  const evidence = { kind: 'succeeded', receipt, amountMinor } as const
  await applyEvidence(tx, [{ locked, evidence, source: { kind: 'delivery' } }])
  endDeposit(tx, deposit.id, { state: 'known', topupId: prompt.topupId })
}

const toSuspense = async (
  tx: Tx,
  { id, rail, receipt, amountMinor }: DepositRecord,
  reason: 'unknown_reference' | 'account_closed',
): Promise<void> => {
  const about = { rail, subjectKind: 'deposit', subjectId: id, receipt, amountMinor }
  const suspenseId = await recordSuspense(tx, { ...about, direction: 'in', reason, book: true })
  if (suspenseId === undefined) throw new Error('a deposit is in suspense twice')
  endDeposit(tx, id, { state: 'suspense', suspenseId })
}

/** Records a second amount under one receipt for a person, without booking it. Undefined if it is equal or already recorded. */
const recordConflict = async (
  tx: Tx,
  { id: subjectId, rail, receipt, amountMinor }: Pick<DepositRecord, 'id' | 'rail' | 'receipt' | 'amountMinor'>,
  holder: ReceiptHolder,
  deliveryId?: Uuid,
): Promise<Uuid | undefined> => {
  if (holder.amountMinor === null || holder.amountMinor === amountMinor) return undefined
  await alertConflict(tx, holder, { rail, receipt, amountMinor })
  const about = { rail, subjectKind: 'deposit', subjectId, receipt, amountMinor, ...(deliveryId && { deliveryId }) }
  const once = { isRepeated: true, book: false, alerted: true }
  return recordSuspense(tx, { ...about, direction: 'in', reason: 'amount_mismatch', ...once })
}

/** Ends a deposit whose receipt is taken. The deposit links to a suspense item with the receipt, which shows who paid. */
const endAsDuplicate = async (tx: Tx, deposit: DepositRecord, holder: ReceiptHolder): Promise<void> => {
  const { id } = deposit
  await recordConflict(tx, deposit, holder)
  if (holder.kind === 'suspense') endDeposit(tx, id, { state: 'suspense', suspenseId: holder.id })
  else endDeposit(tx, id, { state: 'known' })
}

/** Lock order: account, receipt, deposit, suspense item. An earlier statement may have put the receipt into suspense. */
const settle = async (tx: Tx, id: Uuid): Promise<void> => {
  const unlocked = await findDeposit(tx, { id })
  if (unlocked?.state !== 'received') return
  const target = await findTarget(tx, unlocked.reference)
  if (target?.attemptId) return settlePrompt(tx, unlocked, { topupId: target.topupId, attemptId: target.attemptId })
  const topup: TopupRecord | undefined = target && (await lockTopupWithAccount(tx, target.topupId))
  const name = { rail: unlocked.rail, direction: 'in', receipt: unlocked.receipt } as const
  // Excludes only this deposit, not its top-up: two deposits with one receipt may name the same top-up.
  const [holder] = await findHolders(tx, [{ ...name, except: id }])
  const deposit = await lockDeposit(tx, { id })
  if (deposit?.state !== 'received') return
  const isOpen = topup !== undefined && (await isCreditable(tx, topup))
  const { receipt, amountMinor } = deposit
  const owner = { kind: 'deposit', id } as const
  if (holder && !(isOpen && yieldsTo(holder, { owner, amountMinor }))) return endAsDuplicate(tx, deposit, holder)
  if (!isOpen) return toSuspense(tx, deposit, topup ? 'account_closed' : 'unknown_reference')
  const credits = { accountId: topup.accountId, topupId: topup.id }
  const taken = (await claimReceipts(tx, [{ ...name, owner, amountMinor, credits }])).get(id)
  if (taken) return endAsDuplicate(tx, deposit, taken)
  await credit(tx, { topup, actor: deliveryOperator }, { receipt, amountMinor, reference: { type: 'deposit', id } })
  endDeposit(tx, id, { state: 'credited', topupId: topup.id, ...(holder && { suspenseId: holder.id }) })
}

export const settleDeposit = (db: Database, id: Uuid): Promise<void> => inTx(db, (tx) => settle(tx, id))

export const settleDeposits = sweepOf(
  'deposits.settle',
  { id: deposits.id, due: deposits.receivedAt, where: [sql`${deposits.state} = 'received'`] },
  (deps, { id }) => settleDeposit(deps.db, id),
)

const withReceipts = prepare('deposits.with_receipts', { provider: 'text', receipts: 'text[]' }, (orm, param) =>
  orm
    .select({ id: deposits.id, rail: deposits.rail, receipt: deposits.receipt, amountMinor: deposits.amountMinor })
    .from(deposits)
    .where(and(eq(deposits.provider, param.provider), sql`${deposits.receipt} = any(${param.receipts})`)),
)

const knownReceipts = async (db: Db, provider: Provider, report: readonly { receipt: string }[]): Promise<string[]> => {
  const receipts = report.flatMap(({ receipt }) => receiptForms(receipt))
  return (await db.run(withReceipts, { provider, receipts })).map(({ receipt }) => receiptKey(receipt))
}

/** Records a repeated deposit notification with another amount. `deliveryId`: the delivery of that notification. */
export const recordConflictingNotification = async (
  tx: Tx,
  rail: DepositRail,
  { receipt, amountMinor }: DepositNotification,
  deliveryId: Uuid,
): Promise<Uuid | undefined> => {
  const known = await first(tx, withReceipts, { provider: providerOf(rail), receipts: receiptForms(receipt) })
  if (!known) return undefined
  const holder = { kind: 'deposit', id: known.id, amountMinor: known.amountMinor, isOpen: false } as const
  return recordConflict(tx, { ...known, amountMinor }, holder, deliveryId)
}

export const depositContext = (id: Uuid): readonly string[] => ['deposit', id]

type DepositReport = { source: 'notice'; body: string } | { source: 'list' | 'statement' }

const sealed = (vault: Vault, id: Uuid, report: DepositReport) => {
  if (report.source !== 'notice') return {}
  const { ciphertext, keyId } = vault.seal(report.body, depositContext(id))
  return { bodyCiphertext: ciphertext, bodyKeyId: keyId }
}

type Recording = Pick<Parts, 'clock' | 'config' | 'db' | 'vault'>

/** Stores a deposit once, however often the provider reports it. Returns undefined for a repeated report. */
export const recordDeposit = async (
  { clock, config, db, vault }: Recording,
  rail: DepositRail,
  { receipt, at, amountMinor, reference, payerName }: DepositNotification,
  report: DepositReport,
): Promise<Uuid | undefined> => {
  const provider = providerOf(rail)
  if ((await knownReceipts(db, provider, [{ receipt }])).length > 0) return undefined
  const id = newId()
  const isNew = await insertOnce(db, deposits, {
    ...{ id, rail, provider, receipt, amountMinor, reference, payerName, source: report.source, paidAt: at },
    currency: config.CURRENCY,
    state: 'received',
    receivedAt: clock.now(),
    ...sealed(vault, id, report),
  })
  return isNew ? id : undefined
}

const issuedCodes = prepare('topups.issued_codes', { codes: 'text[]' }, (orm, param) =>
  orm
    .select({ code: sql<string>`${topups.depositCode}` })
    .from(topups)
    .where(sql`${topups.depositCode} = any(${param.codes})`),
)

/**
 * Books each deposit right after storing it: a concurrent comparison would report an unbooked deposit as a difference. Lists print
 * account numbers of payees too, one in ten of which reads as a code, so only issued codes make a line a deposit.
 */
export const recordListedDeposits = async (
  deps: Recording,
  provider: Provider,
  listed: readonly ListedPayment[],
  source: 'list' | 'statement',
): Promise<void> => {
  const rail = depositRailOf(provider)
  if (!rail) return
  const cameIn = listed.filter(({ amountMinor }) => amountMinor > 0n)
  const codesOf = ({ references }: ListedPayment) => references.flatMap((reference) => readDepositCode(reference) ?? [])
  const codes = cameIn.flatMap(codesOf)
  const issued = new Set(codes.length > 0 ? (await deps.db.run(issuedCodes, { codes })).map(({ code }) => code) : [])
  const named = cameIn.flatMap((payment) => {
    const { receipt, at, amountMinor } = payment
    const reference = codesOf(payment).find((code) => issued.has(code))
    return reference === undefined ? [] : [{ receipt, at, amountMinor, reference, payerName: null }]
  })
  if (named.length === 0) return
  const known = new Set(await knownReceipts(deps.db, provider, named))
  for (const notification of named.filter(({ receipt }) => !known.has(receiptKey(receipt)))) {
    const id = await recordDeposit(deps, rail, notification, { source })
    if (id !== undefined) await settleDeposit(deps.db, id)
  }
}

/** Whether anyone may pay in. A reference stays valid after its first deposit. */
const hasDepositCodes = async (db: Db): Promise<boolean> => {
  const [row] = await db.query<{ yes: boolean }>('select exists (select from topups where deposit_code is not null) as yes')
  return row?.yes ?? false
}

const lookbackSeconds = 3 * 3_600

/** Finds deposits with lost notifications in the provider's list of the last hours. The daily comparison finds older ones. */
export const findLostDeposits = async (deps: Parts): Promise<void> => {
  const { collection } = deps.rails
  if (!collection || !(await hasDepositCodes(deps.db))) return
  const now = deps.clock.now()
  const period = { start: secondsAfter(now, -lookbackSeconds), end: now }
  // An entry that cannot be read delays no other deposit. The daily comparison reports it.
  const listed = await collection.listPaidIn({ ...period, skipsUnreadable: true })
  if (listed === undefined) throw new Error('the provider did not list what was paid in')
  await recordListedDeposits(deps, providerOf(collectionRail), listed, 'list')
}
