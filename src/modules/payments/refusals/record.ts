import { lt } from 'drizzle-orm'
import type { Logger } from 'pino'
import type { Config } from '../../../config.ts'
import { lockBatch } from '../../../db/account-lock.ts'
import { type Database, type Db, inTx, type Tx } from '../../../db/client.ts'
import { describeError } from '../../../db/errors.ts'
import { prepareInsertAll } from '../../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { paymentRefusals } from '../../../db/tables/payment-refusals.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Clock, daysAfter, isoTime } from '../../../lib/clock.ts'
import { Refusal } from '../../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor } from '../../../lib/money.ts'
import { contended, createAccountQueue, type Outcome } from '../../../queue/account-queue.ts'
import type { RefusalFacts, Refusals } from './facts.ts'
import { countRefusals, mostRecent, type RefusalRecord, readLabels, readPayees } from './queries.ts'
import type { RefusedPayment } from './schema.ts'

export const presentRefusal = ({ refusal, payee, label }: RefusalRecord, currency: string): RefusedPayment => ({
  id: formatId('payment_refusal', refusal.id),
  workspace_id: formatId('workspace', refusal.workspaceId),
  initiated_by: {
    account_id: formatId('account', refusal.initiatorAccountId),
    grant_id: refusal.grantId && formatId('grant', refusal.grantId),
    label,
  },
  beneficiary:
    refusal.beneficiaryId && payee
      ? { id: formatId('beneficiary', refusal.beneficiaryId), display_name: payee.name, destination_mask: payee.mask }
      : null,
  amount_minor: formatMinor(refusal.amountMinor),
  currency,
  account_reference: refusal.accountReference,
  error: refusal.error,
  message: refusal.message,
  // Stored as it was presented.
  decision: refusal.decision as RefusedPayment['decision'],
  request_id: refusal.requestId,
  created_at: isoTime(refusal.createdAt),
})

const insert = prepareInsertAll('payment_refusals.insert', paymentRefusals)

type RecordDeps = { clock: Clock; config: Config; db: Database; logger: Logger }

const ownerOf = ({ principal }: RefusalFacts): Uuid => principal.workspace.owningAccountId
const askingOf = ({ principal }: RefusalFacts): Uuid => principal.grant?.id ?? principal.accountId

type Payees = Awaited<ReturnType<typeof readPayees>>

const recordOf = (facts: RefusalFacts, payees: Payees, labels: ReadonlyMap<Uuid, string>, at: Date): RefusalRecord => {
  const { principal, beneficiaryId, ...rest } = facts
  const { workspace, grant, accountId, origin } = principal
  // A refused request may name what belongs to another tenant, or nothing.
  const payee = payees.find(({ id, workspaceId }) => id === beneficiaryId && workspaceId === workspace.id) ?? null
  return {
    payee,
    label: (grant && labels.get(grant.id)) ?? null,
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
  const [lockedElsewhere, recent, payees, labels] = await Promise.all([
    lockBatch(tx, { exclusive: entries.map(ownerOf) }, wait),
    countRefusals(tx, [...new Set(entries.map(askingOf))], since),
    readPayees(tx, [...new Set(entries.flatMap(({ beneficiaryId }) => beneficiaryId ?? []))]),
    readLabels(tx, [...new Set(entries.flatMap(({ principal }) => principal.grant?.id ?? []))]),
  ])
  const records: RefusalRecord[] = []
  const outcomes = entries.map((facts): Outcome<undefined> => {
    if (lockedElsewhere.has(ownerOf(facts))) return contended
    const count = recent.get(askingOf(facts)) ?? 0
    if (count < mostRecent) {
      recent.set(askingOf(facts), count + 1)
      records.push(recordOf(facts, payees, labels, tx.at))
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

export const createRefusals = (deps: RecordDeps): Refusals => {
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
    recording: async (factsOf, submit) => {
      try {
        return await submit()
      } catch (error) {
        if (error instanceof Refusal) record(factsOf(error))
        throw error
      }
    },
    settled: async () => void (await Promise.all(writing)),
  }
}

const removal = prepareRemoval('payment_refusals.prune', paymentRefusals, {
  key: paymentRefusals.id,
  when: (before) => lt(paymentRefusals.createdAt, before),
  by: [paymentRefusals.createdAt],
})

export const pruneRefusals = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })
