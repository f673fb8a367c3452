import { and, desc, eq, ilike, sql } from 'drizzle-orm'
import { changeParameters, inOrderOfChange } from '../../../db/changes.ts'
import { type Db, first } from '../../../db/client.ts'
import { amongIds, newestFirst, ownedBy } from '../../../db/list-queries.ts'
import { type Placeholders, prepare, type RowOf } from '../../../db/prepare.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { paymentBatches } from '../../../db/tables/payment-batches.ts'
import { payments } from '../../../db/tables/payments.ts'
import { presenter } from '../../../http/presenter.ts'
import type { Fact } from '../../../lib/approval-facts.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor, formatMinorOrNull, type Minor } from '../../../lib/money.ts'
import { factsOfLines } from '../../../policy/facts.ts'
import { lastPaidSql } from '../../beneficiaries/payee-queries.ts'
import type { Decision } from '../../policies/schema.ts'
import { listedSnapshot, type PaymentStatus } from '../queries.ts'
import { payeeOfLeaf } from './leaf-rules.ts'
import { PaymentBatch, type PaymentBatchLines } from './schema.ts'

export type BatchRow = Omit<typeof paymentBatches.$inferSelect, 'changed'>
type BatchCounts = Partial<Record<PaymentStatus, number>>
export type BatchRecord = { batch: BatchRow; counts: BatchCounts }

const selection = {
  batch: paymentBatches,
  counts: sql<BatchCounts>`(
    select coalesce(json_object_agg(c.status, c.count), '{}') from (
      select p.status, count(*)::int as count from payments p where p.batch_id = payment_batches.id group by p.status) as c)`,
}

// Uses the connection `pool`, because the query counts a batch's items and so reads many rows.
const byIds = prepare('payment_batches.by_ids', { ids: 'uuid[]', workspaceId: 'uuid?' }, 'pool', (orm, param) =>
  orm
    .select(selection)
    .from(paymentBatches)
    .where(
      and(sql`${paymentBatches.id} = any(${param.ids})`, param.workspaceId && eq(paymentBatches.workspaceId, param.workspaceId)),
    ),
)

export const findBatches = (db: Db, ids: readonly Uuid[]): Promise<readonly BatchRecord[]> => db.run(byIds, { ids })

export const findBatch = (db: Db, workspaceId: Uuid, id: Uuid): Promise<BatchRecord | undefined> =>
  first(db, byIds, { ids: [id], workspaceId })

const batchFilters = { workspaceId: 'uuid', status: 'text?', idempotencyKey: 'text?', pattern: 'text?' } as const

const batchCondition = (at: Placeholders<typeof batchFilters>) =>
  and(
    at.status && eq(paymentBatches.status, at.status),
    at.idempotencyKey && eq(paymentBatches.idempotencyKey, at.idempotencyKey),
    at.pattern && ilike(paymentBatches.name, at.pattern),
  )

export const batchList = prepare(
  'payment_batches.list',
  { ...batchFilters, before: 'uuid?', take: 'rows' },
  'pool',
  (orm, param) => {
    const ids = newestFirst(
      orm.select({ id: paymentBatches.id }).from(paymentBatches),
      { owner: paymentBatches.workspaceId, id: paymentBatches.id },
      param,
      ownedBy(paymentBatches.workspaceId, param.workspaceId),
      batchCondition(param),
    )
    return orm.select(selection).from(paymentBatches).where(amongIds(paymentBatches.id, ids)).orderBy(desc(paymentBatches.id))
  },
)

/** The counts are current, although a change of an item does not count as a change of its batch. */
export const changedBatches = prepare('payment_batches.changes', { ...batchFilters, ...changeParameters }, 'pool', (orm, param) =>
  inOrderOfChange(orm.select(selection).from(paymentBatches), paymentBatches, param, batchCondition(param)),
)

const lastBefore = lastPaidSql({
  ...{ payee: 'own', rail: 'payments.rail', reference: 'payments.account_reference' },
  among: 'q.id < payments.id',
  atMost: 1,
})
const paidBefore =
  sql<Minor | null>`(select (${sql.raw(lastBefore)})[1] from payees own where own.id = ${payments.payeeId})`.mapWith(
    payments.amountMinor,
  )

/** All lines of a batch in order, as its Merkle tree binds them, with the name check and last payment of each payee. */
export const linesOf = prepare('payment_batches.lines', { batchId: 'uuid' }, 'pool', (orm, param) =>
  orm
    .select({
      id: payments.id,
      row: payments.batchRow,
      leaf: payments.batchLeaf,
      snapshot: listedSnapshot,
      amountMinor: payments.amountMinor,
      beneficiaryId: payments.beneficiaryId,
      payeeId: payments.payeeId,
      verification: beneficiaries.verification,
      reportedName: beneficiaries.reportedName,
      lastAmountMinor: paidBefore,
    })
    .from(payments)
    .innerJoin(beneficiaries, eq(beneficiaries.id, payments.beneficiaryId))
    .where(eq(payments.batchId, param.batchId))
    .orderBy(payments.batchIndex),
)

/** Items in the order of each batch. */
export const itemsOf = prepare('payment_batches.items', { batchIds: 'uuid[]' }, 'pool', (orm, param) =>
  orm
    .select({ id: payments.id, batchId: payments.batchId })
    .from(payments)
    .where(sql`${payments.batchId} = any(${param.batchIds})`)
    .orderBy(payments.batchId, payments.batchIndex),
)

export const readItemIds = async (db: Db, batchId: Uuid): Promise<Uuid[]> =>
  (await db.run(itemsOf, { batchIds: [batchId] })).map(({ id }) => id)

const shown = presenter(PaymentBatch)

export const presentBatch = ({ batch, counts }: BatchRecord): PaymentBatch =>
  shown(batch, {
    fees_minor: formatMinor(batch.feesMinor ?? 0n),
    counts,
    initiated_by: {
      account_id: formatId('account', batch.initiatorAccountId),
      grant_id: batch.grantId && formatId('grant', batch.grantId),
    },
  })

const lineFacts = (lines: readonly RowOf<typeof linesOf>[]): Fact[][] =>
  factsOfLines(
    lines.map((line) => ({
      ...line,
      payeeName: payeeOfLeaf(line.leaf ?? '{}'),
      // `presentDecision` wrote the snapshot's decision when the payment was created.
      warnings: (line.snapshot.decision as Decision).warnings,
      isFirst: line.lastAmountMinor === null,
    })),
  )

export const presentLines = ({ batch }: BatchRecord, lines: readonly RowOf<typeof linesOf>[]): PaymentBatchLines => {
  const facts = lineFacts(lines)
  return {
    batch_id: formatId('payment_batch', batch.id),
    merkle_root: batch.merkleRoot,
    lines: lines.map(({ id, row, leaf, snapshot, verification, lastAmountMinor }, index) => ({
      payment_id: formatId('payment', id),
      row,
      leaf: leaf ?? '',
      verification,
      given_name: (snapshot.decision as Decision).warnings.find((warning) => warning.code === 'name_differs')?.given_name ?? null,
      last_amount_minor: formatMinorOrNull(lastAmountMinor),
      facts: facts[index] ?? [],
    })),
  }
}
