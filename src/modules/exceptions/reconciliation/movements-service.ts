import { and, desc, eq, gte, isNull, lte, sql } from 'drizzle-orm'
import { type Db, first, statement, type Tx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertOnce, updateRow } from '../../../db/prepare-write.ts'
import { providerMovements, reconciliationDifferences, reconciliations } from '../../../db/tables/rails.ts'
import { audit } from '../../../events/audit.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { presenter } from '../../../http/presenter.ts'
import { conflict, invalidFields } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor, type Minor, sumOf } from '../../../lib/money.ts'
import type { Provider } from '../../../lib/rail-names.ts'
import { receiptKey } from '../../../lib/text.ts'
import { nameOfOperator, type Operator } from '../../operators.ts'
import { findReceiptHolders, receiptTaken } from '../../suspense/receipts-service.ts'
import { balanceSource, closeOpen, isByService } from './differences.ts'
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

const lockMovements = statement('movements.lock')`select pg_advisory_xact_lock(hashtextextended('movements:' || $1, 0))`

/** Serializes comparisons with people who name movements, so that each movement is counted once. */
export const lockProvider = (tx: Tx, provider: Provider): Promise<unknown> => tx.query(lockMovements, [provider])

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

export const countIn = (tx: Tx, reconciliationId: Uuid, movements: readonly Pick<MovementRecord, 'id'>[]): void => {
  for (const { id } of movements) updateRow(tx, providerMovements, { id }, { reconciliationId })
}

/** The open balance difference whose period includes the movement's time. */
const differenceAt = prepare('movements.difference', { provider: 'text', movedAt: 'timestamptz' }, (orm, param) =>
  orm
    .select({
      id: reconciliationDifferences.id,
      reconciliationId: reconciliations.id,
      comparedAt: reconciliations.createdAt,
      statedMinor: reconciliationDifferences.statedMinor,
      bookedMinor: reconciliationDifferences.bookedMinor,
    })
    .from(reconciliationDifferences)
    .innerJoin(reconciliations, eq(reconciliations.id, reconciliationDifferences.reconciliationId))
    .where(
      and(
        isNull(reconciliationDifferences.resolvedAt),
        eq(reconciliationDifferences.kind, 'balance_differs'),
        eq(reconciliations.provider, param.provider),
        eq(reconciliations.source, balanceSource),
        isByService,
        lte(reconciliations.periodStart, param.movedAt),
        gte(reconciliations.periodEnd, param.movedAt),
      ),
    )
    .orderBy(desc(reconciliationDifferences.id))
    .limit(1)
    .for('update', { of: reconciliationDifferences }),
)
const namedSince = prepare('movements.named_since', { reconciliationId: 'uuid', since: 'timestamptz' }, (orm, param) =>
  orm
    .select({ amountMinor: providerMovements.amountMinor })
    .from(providerMovements)
    .where(and(eq(providerMovements.reconciliationId, param.reconciliationId), gte(providerMovements.createdAt, param.since))),
)

type Seen = { reconciliationId: Uuid; comparedAt: Date; statedMinor: Minor | null; bookedMinor: Minor | null }

/** Whether the movements named since the difference, including this one, add up to it. */
const isExplained = async (tx: Tx, { reconciliationId, comparedAt: since, statedMinor, bookedMinor }: Seen): Promise<boolean> => {
  return sumOf(await tx.run(namedSince, { reconciliationId, since })) === (statedMinor ?? 0n) - (bookedMinor ?? 0n)
}

/** The movement explains an earlier difference, or else the next comparison expects it. */
export const nameMovement = async (tx: Tx, operator: Operator, named: NameMovement): Promise<MovementRecord> => {
  const { provider, direction, kind, note, account = null, provider_receipt: receipt = null } = named
  if (kind === 'charges' && direction === 'in') throw invalidFields({ path: 'direction', message: 'of charges is out' })
  if (named.moved_at > tx.at) throw invalidFields({ path: 'moved_at', message: 'is in the future' })
  const id = newId()
  await lockProvider(tx, provider)
  const [holder] = receipt === null ? [] : await findReceiptHolders(tx, [{ rail: provider, direction, receipt, except: id }])
  if (holder) throw receiptTaken(receipt, holder)
  const amountMinor = direction === 'in' ? named.amount_minor : -named.amount_minor
  const seen = await first(tx, differenceAt, { provider, movedAt: named.moved_at })
  const movement: MovementRecord = {
    ...{ id, provider, account, kind, receipt, amountMinor, note, movedAt: named.moved_at },
    ...{ namedBy: nameOfOperator(operator), reconciliationId: seen?.reconciliationId ?? null, createdAt: tx.at },
  }
  if (!(await insertOnce(tx, providerMovements, movement)))
    throw conflict('This movement is already recorded.', 'already_recorded')
  const { id: _, reconciliation_id: __, ...after } = presentMovement(movement)
  audit(tx, operator, 'admin.name_movement', { subject: id, after })
  if (seen && (await isExplained(tx, seen))) await closeOpen(tx, operator, seen.id, note)
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

/** Separates the lines of movements that a person has named, because these belong to no customer. */
export const withoutNamed = async (
  db: Db,
  provider: Provider,
  lines: readonly StatementLine[],
): Promise<{ lines: readonly StatementLine[]; named: readonly StatementLine[] }> => {
  const receipts = lines.flatMap(({ receipt }) => (receipt === null ? [] : [receiptKey(receipt)]))
  const known = await db.run(byReceipts, { provider, receipts })
  const amounts = new Map(known.map(({ receipt, amountMinor }) => [receiptKey(receipt ?? ''), amountMinor]))
  const isNamed = ({ receipt, amountMinor }: StatementLine) =>
    receipt !== null && amounts.get(receiptKey(receipt)) === amountMinor
  if (amounts.size === 0) return { lines, named: [] }
  return { lines: lines.filter((line) => !isNamed(line)), named: lines.filter(isNamed) }
}
