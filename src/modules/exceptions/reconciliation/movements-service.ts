import { and, asc, eq, gt, gte, isNull, lte, sql } from 'drizzle-orm'
import { lockNames } from '../../../db/account-lock.ts'
import { type Db, first, type Tx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertOnce, updateRow } from '../../../db/prepare-write.ts'
import { providerMovements, reconciliationDifferences, reconciliations } from '../../../db/tables/rails.ts'
import { audit } from '../../../events/audit.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { presenter } from '../../../http/presenter.ts'
import { conflict, invalidFields } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor, sumOf } from '../../../lib/money.ts'
import type { Provider } from '../../../lib/rail-names.ts'
import { receiptKey } from '../../../lib/text.ts'
import { nameOfOperator, type Operator } from '../../operators.ts'
import { findHolders, receiptTaken } from '../../suspense/receipts-service.ts'
import { balanceSource, isByService } from './differences.ts'
import { closeDifference } from './resolve-difference.ts'
import { type NameMovement, ProviderMovement } from './schema.ts'
import type { StatementLine } from './statement-rules.ts'

export type MovementRecord = typeof providerMovements.$inferSelect

const list = prepare('movements.list', { before: 'uuid?', take: 'rows' }, 'pool', (orm, param) =>
  newestFirst(orm.select().from(providerMovements), { id: providerMovements.id }, param),
)

export const listMovements = (db: Db, page: PageRequest): Promise<MovementRecord[]> => db.run(list, { ...page })

const shown = presenter(ProviderMovement)

export const presentMovement = (movement: MovementRecord): ProviderMovement => {
  const { amountMinor } = movement
  const isIn = amountMinor > 0n
  return shown(movement, {
    direction: isIn ? 'in' : 'out',
    amount_minor: formatMinor(isIn ? amountMinor : -amountMinor),
    provider_receipt: movement.receipt,
  })
}

/** Serializes comparisons with people who record movements, so that each movement is counted once. */
export const lockProvider = (tx: Tx, provider: Provider): Promise<unknown> => lockNames(tx, `movements:${provider}`)

const uncounted = prepare('movements.uncounted', { provider: 'text', until: 'timestamptz' }, (orm, param) =>
  orm
    .select()
    .from(providerMovements)
    .where(
      and(
        eq(providerMovements.provider, param.provider),
        isNull(providerMovements.reconciliationId),
        lte(providerMovements.movedAt, param.until),
      ),
    ),
)

/** Movements that no balance comparison has counted. */
export const readUncounted = (tx: Tx, provider: Provider, until: Date): Promise<MovementRecord[]> =>
  tx.run(uncounted, { provider, until })

export const markCounted = (tx: Tx, reconciliationId: Uuid, movements: readonly Pick<MovementRecord, 'id'>[]): void => {
  for (const { id } of movements) updateRow(tx, providerMovements, { id }, { reconciliationId })
}

/** The balance comparison whose period has this time, or the first one if it is later, with its difference. */
const comparisonAt = prepare('movements.comparison', { provider: 'text', movedAt: 'timestamptz' }, (orm, param) =>
  orm
    .select({
      reconciliationId: reconciliations.id,
      periodStart: reconciliations.periodStart,
      comparedAt: reconciliations.createdAt,
      differenceId: reconciliationDifferences.id,
      statedMinor: reconciliationDifferences.statedMinor,
      bookedMinor: reconciliationDifferences.bookedMinor,
    })
    .from(reconciliations)
    .leftJoin(
      reconciliationDifferences,
      and(
        eq(reconciliationDifferences.reconciliationId, reconciliations.id),
        eq(reconciliationDifferences.kind, 'balance_differs'),
      ),
    )
    .where(
      and(
        eq(reconciliations.provider, param.provider),
        eq(reconciliations.source, balanceSource),
        isByService,
        gt(reconciliations.periodEnd, param.movedAt),
      ),
    )
    .orderBy(asc(reconciliations.id))
    .limit(1),
)

/**
 * The comparison whose result includes the movement already: it reported a difference, resolved or not, from which the next one
 * starts, or it is the first one, which starts from everything before it.
 */
const findCountingComparison = async (tx: Tx, provider: Provider, movedAt: Date) => {
  const compared = await first(tx, comparisonAt, { provider, movedAt })
  return compared && (compared.differenceId !== null || movedAt < compared.periodStart) ? compared : undefined
}

const recordedSince = prepare('movements.named_since', { reconciliationId: 'uuid', since: 'timestamptz' }, (orm, param) =>
  orm
    .select({ amountMinor: providerMovements.amountMinor })
    .from(providerMovements)
    .where(and(eq(providerMovements.reconciliationId, param.reconciliationId), gte(providerMovements.createdAt, param.since))),
)

type Counting = NonNullable<Awaited<ReturnType<typeof findCountingComparison>>>

/** Whether the movements recorded since the difference, including this one, add up to it. */
const addsUp = async (tx: Tx, { reconciliationId, comparedAt: since, statedMinor, bookedMinor }: Counting): Promise<boolean> =>
  sumOf(await tx.run(recordedSince, { reconciliationId, since })) === (statedMinor ?? 0n) - (bookedMinor ?? 0n)

/** The movement is part of an earlier comparison, whose difference it may explain, or else the next comparison expects it. */
export const recordMovement = async (tx: Tx, operator: Operator, input: NameMovement): Promise<MovementRecord> => {
  const { provider, direction, kind, note, account = null, provider_receipt: receipt = null } = input
  if (kind === 'charges' && direction === 'in') throw invalidFields({ path: 'direction', message: 'of charges is out' })
  if (input.moved_at > tx.at) throw invalidFields({ path: 'moved_at', message: 'is in the future' })
  const id = newId()
  await lockProvider(tx, provider)
  const [holder] = receipt === null ? [] : await findHolders(tx, [{ rail: provider, direction, receipt, except: id }])
  if (holder) throw receiptTaken(receipt, holder)
  const amountMinor = direction === 'in' ? input.amount_minor : -input.amount_minor
  const counting = await findCountingComparison(tx, provider, input.moved_at)
  const movement: MovementRecord = {
    ...{ id, provider, account, kind, receipt, amountMinor, note, movedAt: input.moved_at },
    ...{ namedBy: nameOfOperator(operator), reconciliationId: counting?.reconciliationId ?? null, createdAt: tx.at },
  }
  if (!(await insertOnce(tx, providerMovements, movement)))
    throw conflict('This movement is already recorded.', 'already_recorded')
  const { id: _, reconciliation_id: __, ...after } = presentMovement(movement)
  audit(tx, operator, 'admin.name_movement', { subject: id, after })
  const differenceId = counting?.differenceId
  if (differenceId && (await addsUp(tx, counting))) await closeDifference(tx, operator, differenceId, note)
  return movement
}

const byReceipts = prepare('movements.by_receipts', { provider: 'text', receipts: 'text[]' }, (orm, param) =>
  orm
    .select({ receipt: providerMovements.receipt, amountMinor: providerMovements.amountMinor })
    .from(providerMovements)
    .where(
      and(eq(providerMovements.provider, param.provider), sql`upper(${providerMovements.receipt}) = any(${param.receipts})`),
    ),
)

/** Separates the lines of movements that a person has recorded, because these belong to no customer. */
export const separateRecorded = async (
  db: Db,
  provider: Provider,
  lines: readonly StatementLine[],
): Promise<{ lines: readonly StatementLine[]; recorded: readonly StatementLine[] }> => {
  const receipts = lines.flatMap(({ receipt }) => (receipt === null ? [] : [receiptKey(receipt)]))
  const known = await db.run(byReceipts, { provider, receipts })
  const amounts = new Map(known.map(({ receipt, amountMinor }) => [receiptKey(receipt ?? ''), amountMinor]))
  const isRecorded = ({ receipt, amountMinor }: StatementLine) =>
    receipt !== null && amounts.get(receiptKey(receipt)) === amountMinor
  if (amounts.size === 0) return { lines, recorded: [] }
  return { lines: lines.filter((line) => !isRecorded(line)), recorded: lines.filter(isRecorded) }
}
