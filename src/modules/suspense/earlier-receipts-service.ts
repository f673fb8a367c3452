import { type Database, inTx, statement } from '../../db/client.ts'
import { upsertRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import type { Statement } from '../../db/statement.ts'
import { verifyPoints } from '../../db/tables/rails.ts'
import { type Clock, daysAfter } from '../../lib/clock.ts'
import { firstId, firstIdAt, type Uuid } from '../../lib/ids.ts'
import { raiseProviderAlert } from './provider-alerts-service.ts'
import { earlierHolders, type ReceiptClaim, writeClaims } from './receipts-service.ts'

const pageSize = 500

/** The receipts of each kind of row, with direction and amount. Credited money comes before money that waits in suspense. */
const sources = {
  payment: `select p.id, p.rail, x.* from (select * from payments where id > $1 order by id limit ${pageSize}) as p cross join lateral (values
      ('out', p.provider_receipt, p.amount_minor), ('return', case when p.status = 'returned' then p.provider_receipt end, p.amount_minor),
      ('out', p.late_success_receipt, p.late_success_amount_minor)) as x(direction, receipt, minor)`,
  topup: `select t.id, t.method as rail, 'in' as direction, case when t.deposit_code is null then t.provider_receipt end as receipt, t.received_minor as minor
    from topups t where t.id > $1 order by t.id limit ${pageSize}`,
  deposit: `select d.id, d.rail, 'in' as direction, case when d.state = 'credited' then d.receipt end as receipt, d.amount_minor as minor
    from deposits d where d.id > $1 order by d.id limit ${pageSize}`,
  suspense: `select s.id, s.rail, case when s.direction = 'out' then 'out' when s.subject_kind = 'payment' then 'return' else 'in' end as direction,
      case when s.transfer_id is not null and (s.resolved_at is null or s.outcome in ('assigned', 'adjusted')) then s.provider_receipt end as receipt,
      s.amount_minor as minor
    from suspense_items s where s.id > $1 order by s.id limit ${pageSize}`,
} as const
type Kind = keyof typeof sources
const kinds = Object.keys(sources) as Kind[]

const pages = Object.fromEntries(
  kinds.map((kind) => [
    kind,
    statement(`receipts.earlier_${kind}`)`
  select s.id, s.rail, s.direction, s.receipt, s.minor as "amountMinor", s.receipt is not null and (select count(*) from receipt_claims c
         where c.owner_id = s.id and c.direction = s.direction and c.receipt_key = upper(s.receipt)) = 0 as due
       from (${sources[kind]}) as s order by s.id`,
  ]),
) as Record<Kind, Statement>

type Row = { id: Uuid; rail: string; direction: ReceiptClaim['direction']; receipt: string; amountMinor: bigint; due: boolean }

/** If two rows have the same receipt, neither claims it, and a person is alerted. */
const claimPage = (db: Database, kind: Kind, after: Uuid): Promise<Uuid | undefined> =>
  inTx(db, async (tx) => {
    const rows = await tx.query<Row>(pages[kind], [after])
    const claims = rows.filter(({ due }) => due).map((row): ReceiptClaim => ({ ...row, owner: { kind, id: row.id } }))
    const held = await earlierHolders(tx, claims)
    for (const [index, { rail, receipt, amountMinor, owner }] of claims.entries()) {
      const subject = { subjectKind: kind, subjectId: owner.id }
      if (held[index] === 'another')
        await raiseProviderAlert(tx, { ...subject, rail, word: 'receipt_conflict', receipt, amountMinor })
    }
    const free = claims.filter((_, index) => held[index] === undefined)
    writeClaims(tx, free)
    return new Set(rows.map(({ id }) => id)).size < pageSize ? undefined : rows.at(-1)?.id
  })

const findPoint = selectRow('receipts.point', verifyPoints, ['name'])

/**
 * Claims the receipts of rows from earlier releases, including rows that they write while they are being replaced. Until then,
 * receipts are also searched among those rows. Continues from two days before the point that was reached.
 */
export const claimEarlierReceipts = async ({ db, clock }: { db: Database; clock: Clock }): Promise<void> => {
  for (const kind of kinds) {
    const name = `receipts.${kind}`
    const began = clock.now()
    let after = (await findPoint(db, { name }))?.through
    for (let next: Uuid | undefined = after ?? firstId; next !== undefined; ) {
      next = await claimPage(db, kind, next)
      after = next ?? firstIdAt(daysAfter(began, -2))
      const point = { name, through: after, totals: {}, at: clock.now() }
      await upsertRow(db, verifyPoints, point, { key: [verifyPoints.name], replaced: ['through', 'at'] })
    }
  }
}
