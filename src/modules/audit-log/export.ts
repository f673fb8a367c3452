import { type Db, statement } from '../../db/client.ts'
import { columnsOf } from '../../db/columns.ts'
import { auditLog } from '../../db/tables/events.ts'
import type { Position } from '../../events/read.ts'
import { firstId } from '../../lib/ids.ts'
import { type AuditRecord, presentAudit } from './queries.ts'
import type { AuditEntry } from './schema.ts'

export const exportStart: Position = { transaction: '0', id: firstId }

export const parseExportCursor = (text: string): Position | undefined => {
  const [, transaction, id] = /^(\d{1,19}):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/.exec(text) ?? []
  return transaction === undefined || id === undefined ? undefined : { transaction, id }
}

/** In commit order. In the order of ids, an export would skip entries that commit late. */
const nextEntries = statement('audit.export')`
  select ${columnsOf(auditLog, 'a', ['transaction', 'inputs'])}, a.transaction::text as position, g.label as "grantLabel"
   from audit_log a left join grants g on g.id = a.grant_id
   where (a.transaction, a.id) > ($1::xid8, $2::uuid) and a.transaction < (select events_settled_before())
   order by a.transaction, a.id limit $3`

type Row = Omit<AuditRecord, 'transaction'> & { position: string }

const pageSize = 1_000

/** Exports the log, oldest entry first. Each entry has a cursor from which a later export continues. */
export async function* exportAudit(db: Db, from: Position, maxRows: number): AsyncGenerator<AuditEntry & { cursor: string }> {
  let position = from
  for (let left = maxRows; left > 0; ) {
    const take = Math.min(pageSize, left)
    const rows = await db.query<Row>(nextEntries, [position.transaction, position.id, take])
    for (const { position: transaction, ...row } of rows) {
      position = { transaction, id: row.id }
      yield { ...presentAudit({ ...row, transaction: BigInt(transaction) }), cursor: `${transaction}:${row.id}` }
    }
    if (rows.length < take) return
    left -= rows.length
  }
}
