import type { Principal } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import { lockGroup } from '../../../db/account-lock.ts'
import { type Db, inTx, statement, type Tx } from '../../../db/client.ts'
import { describeError } from '../../../db/errors.ts'
import { insertRows } from '../../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { selectAmong } from '../../../db/select-rows.ts'
import { grants } from '../../../db/tables/grants.ts'
import { paymentRefusals } from '../../../db/tables/payment-refusals.ts'
import { type ErrorCode, errorRow } from '../../../errors/catalogue.ts'
import { appendEvents } from '../../../events/append.ts'
import { daysAfter } from '../../../lib/clock.ts'
import { Refusal } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { contended, createAccountQueue, type Outcome } from '../../../queue/account-queue.ts'
import { findBeneficiaries } from '../../beneficiaries/queries.ts'
import type { Parts } from '../../parts.ts'
import { withoutTrace } from '../../policies/present.ts'
import type { Decision } from '../../policies/schema.ts'
import type { Fault, RefusableRequest, Refusals } from '../request.ts'
import { presentRefusal, type RefusalRecord, type RefusalRow } from './queries.ts'

/** Maximum refusals recorded in 24 hours for a grant, or for a person without a grant. */
const maxRecent = 1_000

const countRecent = statement('payment_refusals.count_recent')`
  select requester, (select count(*) from (
     select from payment_refusals r where coalesce(r.grant_id, r.initiator_account_id) = requester and r.created_at > $2 limit ${maxRecent}) as recent)::int as count
   from unnest($1::uuid[]) as requester`

const findGrants = selectAmong('payment_refusals.grants', grants, 'id')

/** Whether a rule refused the request. Other errors concern its form, not the beneficiary or the amount. */
const isByTheRules = (status: number): boolean => status === 402 || status === 403 || status === 409

/** Data of a refusal. `beneficiaryId` is as requested: it may be missing or belong to another tenant. */
type RefusalFields = Omit<RefusalRow, 'id' | 'createdAt'>
type RefusedItem = { beneficiary_id?: Uuid | undefined; account_reference?: string | null | undefined; amount_minor: Minor }
type ItemError = { error: ErrorCode; message: string; decision?: Decision | undefined }

const refusalFieldsOf = (
  { workspace, accountId, grant, origin }: Principal,
  item: RefusedItem,
  { error, message, decision }: ItemError,
): RefusalFields => ({
  workspaceId: workspace.id,
  accountId: workspace.balanceAccountId,
  initiatorAccountId: accountId,
  grantId: grant?.id ?? null,
  beneficiaryId: item.beneficiary_id ?? null,
  amountMinor: item.amount_minor,
  accountReference: item.account_reference ?? null,
  error,
  // The available amount is omitted, because not every reader of refusals may read the balance.
  message: error === 'insufficient_funds' ? errorRow(error).sentence : message,
  decision: decision ? withoutTrace({ decision }).decision : null,
  requestId: origin.requestId ?? '',
})

/** One record for a payment, one for each refused item of a batch, or one for the whole batch if no item caused the refusal. */
const refusalsIn = (request: RefusableRequest, refusal: Refusal): RefusalFields[] => {
  const { code: error, status, message, details } = refusal
  const { principal } = request
  if (!isByTheRules(status) || (status === 409 && details?.reason !== 'possible_duplicate')) return []
  if (request.kind === 'payment')
    return [refusalFieldsOf(principal, request.input, { error, message, decision: details?.decision as Decision | undefined })]
  if (request.dryRun) return []
  const { items } = request.input
  const faults = (refusal.cause ?? []) as readonly Fault[]
  if (faults.length === 0) {
    const total = items.reduce((sum, entry) => sum + ('item' in entry ? entry.item.amount_minor : 0n), 0n)
    return [refusalFieldsOf(principal, { amount_minor: total }, { error, message })]
  }
  return faults.flatMap(({ index, refusal: { code, status, message } }) => {
    const entry = items[index]
    return entry && 'item' in entry && isByTheRules(status)
      ? [refusalFieldsOf(principal, entry.item, { error: code, message })]
      : []
  })
}

const requesterOf = ({ grantId, initiatorAccountId }: RefusalFields): Uuid => grantId ?? initiatorAccountId

const writeRefusals = async (
  tx: Tx,
  config: Config,
  { entries, wait, since }: { entries: readonly RefusalFields[]; wait: boolean; since: Date },
): Promise<Outcome<undefined>[]> => {
  const [lockedElsewhere, counted, payees, grants] = await Promise.all([
    lockGroup(tx, { exclusive: entries.map(({ accountId }) => accountId) }, wait),
    tx.query<{ requester: Uuid; count: number }>(countRecent, [[...new Set(entries.map(requesterOf))], since]),
    findBeneficiaries(tx, [...new Set(entries.flatMap(({ beneficiaryId }) => beneficiaryId ?? []))]),
    findGrants(tx, [...new Set(entries.flatMap(({ grantId }) => grantId ?? []))]),
  ])
  const recent = new Map(counted.map(({ requester, count }) => [requester, count]))
  const records: RefusalRecord[] = []
  const outcomes = entries.map((fields): Outcome<undefined> => {
    if (lockedElsewhere.has(fields.accountId)) return contended
    const count = recent.get(requesterOf(fields)) ?? 0
    if (count >= maxRecent) return undefined
    recent.set(requesterOf(fields), count + 1)
    const payee = payees.find(({ id, workspaceId }) => id === fields.beneficiaryId && workspaceId === fields.workspaceId) ?? null
    const label = grants.find(({ id }) => id === fields.grantId)?.label ?? null
    records.push({ refusal: { ...fields, id: newId(), beneficiaryId: payee?.id ?? null, createdAt: tx.at }, payee, label })
    return undefined
  })
  if (records.length === 0) return outcomes
  const rows = records.map(({ refusal }) => refusal)
  tx.defer(insertRows(tx, paymentRefusals, rows))
  const events = records.map((record) => ({
    type: 'payment.refused' as const,
    accountId: record.refusal.accountId,
    workspaceId: record.refusal.workspaceId,
    data: presentRefusal(record, config.CURRENCY),
  }))
  await appendEvents(tx, events)
  return outcomes
}

export const createRefusals = (deps: Pick<Parts, 'clock' | 'config' | 'db' | 'logger'>): Refusals => {
  const queue = createAccountQueue<RefusalFields, undefined>({
    name: 'refused payments',
    logger: deps.logger,
    work: (entries, wait) => {
      const since = daysAfter(deps.clock.now(), -1)
      return inTx(deps.db, (tx) => writeRefusals(tx, deps.config, { entries, wait, since }))
    },
    maxShared: 1,
    maxWaiting: 1,
    maxQueued: 5_000,
  })
  const writing = new Set<Promise<void>>()
  const record = (all: readonly RefusalFields[]): void => {
    for (const fields of all) {
      const written = queue
        .submit(fields.accountId, fields)
        .catch((error: unknown) => deps.logger.warn(describeError(error), 'a refused payment could not be recorded'))
        .finally(() => writing.delete(written))
      writing.add(written)
    }
  }
  return {
    recording: async (request, submit) => {
      try {
        return await submit()
      } catch (error) {
        if (error instanceof Refusal) record(refusalsIn(request, error))
        throw error
      }
    },
    settled: async () => void (await Promise.all(writing)),
  }
}

const removal = prepareRemoval('payment_refusals.prune', paymentRefusals.id, paymentRefusals.createdAt, {
  orderBy: [paymentRefusals.createdAt],
})

export const pruneRefusals = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })
