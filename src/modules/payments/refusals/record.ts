import type { Principal } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import { lockBatch } from '../../../db/account-lock.ts'
import { type Db, inTx, type Tx } from '../../../db/client.ts'
import { describeError } from '../../../db/errors.ts'
import { prepareInsertAll } from '../../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { paymentRefusals } from '../../../db/tables/payment-refusals.ts'
import { errorRow, isErrorCode } from '../../../errors/catalogue.ts'
import { appendEvents } from '../../../events/append.ts'
import { presenter } from '../../../http/presenter.ts'
import { daysAfter } from '../../../lib/clock.ts'
import { Refusal } from '../../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { contended, createAccountQueue, type Outcome } from '../../../queue/account-queue.ts'
import { findBeneficiaries } from '../../beneficiaries/queries.ts'
import type { Parts } from '../../parts.ts'
import type { Decision } from '../../policies/schema.ts'
import { presentMaker } from '../../present-maker.ts'
import type { MayBeRefused, Refusals } from '../request.ts'
import { countRefusals, findGrants, mostRecent, type RefusalRecord, type RefusalRow } from './queries.ts'
import { RefusedPayment } from './schema.ts'

const shown = presenter(RefusedPayment)

export const presentRefusal = ({ refusal, payee, label }: RefusalRecord, currency: string): RefusedPayment =>
  shown(refusal, {
    initiated_by: presentMaker({ accountId: refusal.initiatorAccountId, grantId: refusal.grantId, label }),
    beneficiary:
      refusal.beneficiaryId && payee
        ? {
            id: formatId('beneficiary', refusal.beneficiaryId),
            display_name: payee.displayName,
            destination_mask: payee.destinationMask,
          }
        : null,
    currency,
    // Stored as it was presented.
    decision: refusal.decision as RefusedPayment['decision'],
  })

const isRecorded = ({ status, details }: Refusal): boolean =>
  status === 402 || status === 403 || (status === 409 && details?.reason === 'possible_duplicate')

/** A refused payment, before it has an id and a time. */
type RefusalFacts = Pick<RefusalRow, 'beneficiaryId' | 'amountMinor' | 'accountReference' | 'error' | 'message' | 'decision'> & {
  principal: Principal
}
type Asked = { beneficiary_id?: Uuid | undefined; account_reference?: string | null | undefined; amount_minor: Minor }
type Fault = { index?: number; error: string; message: string; decision?: Decision | undefined }

const withoutTrace = ({ trace: _, ...decision }: Decision) => decision

const factsOf = (principal: Principal, item: Asked, { error, message, decision }: Fault): RefusalFacts => ({
  principal,
  beneficiaryId: item.beneficiary_id ?? null,
  amountMinor: item.amount_minor,
  accountReference: item.account_reference ?? null,
  error,
  // Whoever may read payments reads this, and not all of them may read the balance: the amount that is available is left out.
  message: error === 'insufficient_funds' ? errorRow(error).sentence : message,
  decision: decision ? withoutTrace(decision) : null,
})

/** The payment, each item of a batch that was refused, or the batch as a whole where no item is to blame. */
const factsIn = (request: MayBeRefused, refusal: Refusal): RefusalFacts[] => {
  const { code: error, message, details } = refusal
  const { principal } = request
  if (!isRecorded(refusal)) return []
  if (!('dryRun' in request))
    return [factsOf(principal, request.input, { error, message, decision: details?.decision as Decision | undefined })]
  if (request.dryRun) return []
  const { items } = request.input
  const faults = (details?.items ?? []) as readonly Fault[]
  if (faults.length === 0) {
    const total = items.reduce((sum, entry) => sum + ('item' in entry ? entry.item.amount_minor : 0n), 0n)
    return [factsOf(principal, { amount_minor: total }, { error, message })]
  }
  return faults.flatMap(({ index = -1, error, message }) => {
    const entry = items[index]
    if (!entry || !('item' in entry) || !isErrorCode(error) || ![402, 403, 409].includes(errorRow(error).status)) return []
    return [factsOf(principal, entry.item, { error, message })]
  })
}

const insert = prepareInsertAll('payment_refusals.insert', paymentRefusals)

const ownerOf = ({ principal }: RefusalFacts): Uuid => principal.workspace.owningAccountId
const askingOf = ({ principal }: RefusalFacts): Uuid => principal.grant?.id ?? principal.accountId

type Known = { payees: Awaited<ReturnType<typeof findBeneficiaries>>; grants: Awaited<ReturnType<typeof findGrants>> }

const recordOf = (facts: RefusalFacts, { payees, grants }: Known, at: Date): RefusalRecord => {
  const { principal, beneficiaryId, ...rest } = facts
  const { workspace, grant, accountId, origin } = principal
  // A refused request may name what belongs to another tenant, or nothing.
  const payee = payees.find(({ id, workspaceId }) => id === beneficiaryId && workspaceId === workspace.id) ?? null
  return {
    payee,
    label: grants.find(({ id }) => id === grant?.id)?.label ?? null,
    refusal: {
      ...rest,
      id: newId(),
      workspaceId: workspace.id,
      accountId: ownerOf(facts),
      initiatorAccountId: accountId,
      grantId: grant?.id ?? null,
      beneficiaryId: payee?.id ?? null,
      requestId: origin.requestId ?? '',
      createdAt: at,
    },
  }
}

const write = async (
  tx: Tx,
  config: Config,
  { entries, wait, since }: { entries: readonly RefusalFacts[]; wait: boolean; since: Date },
): Promise<Outcome<undefined>[]> => {
  const [lockedElsewhere, recent, payees, grants] = await Promise.all([
    lockBatch(tx, { exclusive: entries.map(ownerOf) }, wait),
    countRefusals(tx, [...new Set(entries.map(askingOf))], since),
    findBeneficiaries(tx, [...new Set(entries.flatMap(({ beneficiaryId }) => beneficiaryId ?? []))]),
    findGrants(tx, [...new Set(entries.flatMap(({ principal }) => principal.grant?.id ?? []))]),
  ])
  const records: RefusalRecord[] = []
  const outcomes = entries.map((facts): Outcome<undefined> => {
    if (lockedElsewhere.has(ownerOf(facts))) return contended
    const count = recent.get(askingOf(facts)) ?? 0
    if (count < mostRecent) {
      recent.set(askingOf(facts), count + 1)
      records.push(recordOf(facts, { payees, grants }, tx.at))
    }
    return undefined
  })
  if (records.length === 0) return outcomes
  const rows = records.map(({ refusal }) => refusal)
  tx.defer(insert(tx.query, rows))
  const events = records.map((record) => ({
    type: 'payment.refused' as const,
    accountId: record.refusal.accountId,
    workspaceId: record.refusal.workspaceId,
    data: presentRefusal(record, config.CURRENCY),
  }))
  tx.defer(appendEvents(tx, events))
  return outcomes
}

export const createRefusals = (deps: Pick<Parts, 'clock' | 'config' | 'db' | 'logger'>): Refusals => {
  const queue = createAccountQueue<RefusalFacts, undefined>({
    name: 'refused payments',
    logger: deps.logger,
    work: (entries, wait) => {
      const since = daysAfter(deps.clock.now(), -1)
      return inTx(deps.db, (tx) => write(tx, deps.config, { entries, wait, since }))
    },
    mostShared: 1,
    mostWaiting: 1,
    mostQueued: 5_000,
  })
  const writing = new Set<Promise<void>>()
  const record = (all: readonly RefusalFacts[]): void => {
    for (const facts of all) {
      const written = queue
        .submit(ownerOf(facts), facts)
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
        if (error instanceof Refusal) record(factsIn(request, error))
        throw error
      }
    },
    settled: async () => void (await Promise.all(writing)),
  }
}

const removal = prepareRemoval('payment_refusals.prune', paymentRefusals.id, paymentRefusals.createdAt, {
  by: [paymentRefusals.createdAt],
})

export const pruneRefusals = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })
