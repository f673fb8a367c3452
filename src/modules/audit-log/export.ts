import type { Db } from '../../db/client.ts'
import { statement } from '../../db/client.ts'
import { columnsOf } from '../../db/columns.ts'
import { auditLog } from '../../db/tables/events.ts'
import type { Uuid } from '../../lib/ids.ts'
import { presentAudit } from './present.ts'
import type { AuditRecord } from './queries.ts'
import type { AuditEntry } from './schema.ts'

/** Where an export goes on: the order of commits, so that nothing that is committed late is left out. */
export type ExportPlace = { transaction: string; id: Uuid }
export type Exported = AuditEntry & { cursor: string }

export const firstPlace: ExportPlace = { transaction: '0', id: '00000000-0000-0000-0000-000000000000' }

/** Undefined for a text that is no cursor of an export. */
export const readExportCursor = (text: string): ExportPlace | undefined => {
  const [, transaction, id] = /^(\d{1,19}):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/.exec(text) ?? []
  return transaction === undefined || id === undefined ? undefined : { transaction, id }
}

const later = statement(
  'audit.export',
  `select ${columnsOf(auditLog, 'a', ['transaction', 'inputs'])}, a.transaction::text as place, g.label as "grantLabel"
   from audit_log a left join grants g on g.id = a.grant_id
   where (a.transaction, a.id) > ($1::xid8, $2::uuid) and a.transaction < (select events_settled_before())
   order by a.transaction, a.id limit $3`,
)

type Row = Omit<AuditRecord, 'transaction'> & { place: string }

const pageSize = 1_000

/** The whole log after a place, oldest first, page by page. Every entry names the place after which an export goes on. */
export async function* exportAudit(db: Db, from: ExportPlace, most: number): AsyncGenerator<Exported> {
  let place = from
  for (let left = most; left > 0; ) {
    const rows = await db.query<Row>(later, [place.transaction, place.id, Math.min(pageSize, left)])
    for (const { place: transaction, ...row } of rows) {
      place = { transaction, id: row.id }
      yield { ...presentAudit({ ...row, transaction: BigInt(transaction) }), cursor: `${transaction}:${row.id}` }
    }
    left -= rows.length
    if (rows.length < Math.min(pageSize, left + rows.length)) return
  }
}
