import { and, eq, isNull, lte } from 'drizzle-orm'
import { type Db, statement, type Tx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertOnce, updateRow } from '../../../db/prepare-write.ts'
import { providerMovements } from '../../../db/tables/rails.ts'
import { audit } from '../../../events/audit.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { presenter } from '../../../http/presenter.ts'
import { conflict, invalidFields } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { formatMinor, type Minor } from '../../../lib/money.ts'
import type { Provider } from '../../../lib/rail-names.ts'
import { receiptKey } from '../../../lib/text.ts'
import { nameOfOperator, type Operator } from '../../operators.ts'
import { findReceiptHolders, receiptTaken } from '../../suspense/receipts-service.ts'
import { closeOpen } from './differences.ts'
import { type NameMovement, ProviderMovement } from './schema.ts'
import type { StatementLine } from './statement-rules.ts'

export type MovementRecord = typeof providerMovements.$inferSelect

const list = prepare(
  'movements.list',
  { before: 'uuid?', take: 'rows' },
  (orm, at) => newestFirst(orm.select().from(providerMovements), { id: providerMovements.id }, at),
  'pool',
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

const lockMovements = statement('movements.lock', `select pg_advisory_xact_lock(hashtextextended('movements:' || $1, 0))`)

/** Keeps a comparison and a person who names a movement apart: each movement is taken into account once. */
export const lockProvider = (tx: Tx, provider: Provider): Promise<unknown> => tx.query(lockMovements, [provider])

const uncounted = prepare('movements.uncounted', { provider: 'text', until: 'timestamptz' }, (orm, at) =>
  orm
    .select()
    .from(providerMovements)
    .where(
      and(
        eq(providerMovements.provider, at.provider),
        isNull(providerMovements.reconciliationId),
        lte(providerMovements.movedAt, at.until),
      ),
    ),
)

/** Movements that no comparison of balances has taken into account. */
export const readUncounted = (tx: Tx, provider: Provider, until: Date): Promise<MovementRecord[]> =>
  tx.run(uncounted, { provider, until })

export const countIn = (tx: Tx, reconciliationId: Uuid, movements: readonly Pick<MovementRecord, 'id'>[]): void => {
  for (const { id } of movements) updateRow(tx, providerMovements, { id }, { reconciliationId })
}

/** The open difference between the balances of the time in which the money moved, and what was named for it since. */
const differenceAt = statement(
  'movements.difference',
  `select d.id, d.reconciliation_id as "reconciliationId", d.stated_minor - d.booked_minor as "differsMinor",
     (select coalesce(sum(m.amount_minor), 0)::bigint from provider_movements m
      where m.reconciliation_id = r.id and m.created_at >= r.created_at) as "namedMinor"
   from reconciliation_differences d join reconciliations r on r.id = d.reconciliation_id
   where r.provider = $1 and r.source = 'balance' and d.kind = 'balance_differs' and d.resolved_at is null
     and r.period_start <= $2 and r.period_end >= $2 order by d.id desc limit 1 for update of d`,
)

type Open = { id: Uuid; reconciliationId: Uuid; differsMinor: Minor; namedMinor: Minor }

/** One that a comparison has already seen as a difference explains that difference; any other one is expected by the next comparison. */
export const nameMovement = async (tx: Tx, operator: Operator, named: NameMovement): Promise<MovementRecord> => {
  const { provider, direction, kind, note, account = null, provider_receipt: receipt = null } = named
  if (kind === 'charges' && direction === 'in') throw invalidFields({ path: 'direction', message: 'of charges is out' })
  if (named.moved_at > tx.at) throw invalidFields({ path: 'moved_at', message: 'is in the future' })
  const id = newId()
  await lockProvider(tx, provider)
  const [holder] = receipt === null ? [] : await findReceiptHolders(tx, [{ rail: provider, direction, receipt, except: id }])
  if (holder) throw receiptTaken(receipt, holder)
  const amountMinor = direction === 'in' ? named.amount_minor : -named.amount_minor
  const [seen] = await tx.query<Open>(differenceAt, [provider, named.moved_at])
  const movement: MovementRecord = {
    ...{ id, provider, account, kind, receipt, amountMinor, note, movedAt: named.moved_at },
    ...{ namedBy: nameOfOperator(operator), reconciliationId: seen?.reconciliationId ?? null, createdAt: tx.at },
  }
  if (!(await insertOnce(tx, providerMovements, movement))) throw conflict('This movement is already named.')
  const { id: _, reconciliation_id: __, ...after } = presentMovement(movement)
  audit(tx, operator, 'admin.name_movement', { subject: id, after })
  if (seen && seen.namedMinor + amountMinor === seen.differsMinor) await closeOpen(tx, operator, seen.id, note)
  return movement
}

const byReceipts = statement(
  'movements.by_receipts',
  'select upper(receipt) as receipt, amount_minor as "amountMinor" from provider_movements where provider = $1 and upper(receipt) = any($2::text[])',
)

/** Lines of movements that a person has named are no money of anybody's. */
export const withoutNamed = async (
  db: Db,
  provider: Provider,
  lines: readonly StatementLine[],
): Promise<{ lines: readonly StatementLine[]; named: readonly StatementLine[] }> => {
  const receipts = lines.flatMap(({ receipt }) => (receipt === null ? [] : [receiptKey(receipt)]))
  const known = await db.query<{ receipt: string; amountMinor: Minor }>(byReceipts, [provider, receipts])
  const amounts = new Map(known.map(({ receipt, amountMinor }) => [receipt, amountMinor]))
  const isNamed = ({ receipt, amountMinor }: StatementLine) =>
    receipt !== null && amounts.get(receiptKey(receipt)) === amountMinor
  if (amounts.size === 0) return { lines, named: [] }
  return { lines: lines.filter((line) => !isNamed(line)), named: lines.filter(isNamed) }
}
