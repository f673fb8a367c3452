import type { Check } from '../db/check.ts'
import type { Db } from '../db/client.ts'
import { readSealedRows, readSealsAfter, type Seal } from '../events/seal.ts'
import { genesis, sealHash } from '../events/seal-chain.ts'

const batch = 100

const faultOf = async (db: Db, before: Seal | undefined, seal: Seal): Promise<string | undefined> => {
  if (seal.sequence !== (before?.sequence ?? 0) + 1) return 'a seal before it is missing'
  if (!seal.previousHash.equals(before?.hash ?? genesis)) return 'it is not chained to the seal before it'
  const rows = await readSealedRows(db, before, seal)
  if (rows.length !== seal.rows) return `it sealed ${seal.rows} rows, and there are ${rows.length}`
  return sealHash(seal.previousHash, rows).equals(seal.hash) ? undefined : 'a row that it sealed was changed'
}

/** Computes the whole chain again. A seal that doesn't hold is named with the rows it covers; the ones after it are held against it. */
const findBrokenSeals = async (db: Db): Promise<string[]> => {
  const broken: string[] = []
  let before: Seal | undefined
  for (let more = true; more; ) {
    const seals = await readSealsAfter(db, before?.sequence ?? 0, batch)
    for (const seal of seals) {
      const fault = await faultOf(db, before, seal)
      if (fault !== undefined) broken.push(`seal ${seal.sequence} (through ${seal.id}): ${fault}`)
      before = seal
    }
    more = seals.length === batch
  }
  return broken
}

export const auditChainChecks: readonly Check[] = [
  {
    invariant: 'I8',
    promise: 'the audit log is what was sealed: no row was changed, added or taken out since',
    find: findBrokenSeals,
  },
  {
    invariant: 'I8',
    promise: 'the audit log is sealed up to ten minutes ago',
    find: async (db, { now }) => {
      const rows = await db.query<{ subject: string }>(
        `select count(*) || ' rows since ' || min(at) as subject from audit_log
         where at < $1::timestamptz - interval '10 minutes' and (transaction, id) > (
           select through_transaction, through_id from audit_seals
           union all select '0'::xid8, '00000000-0000-0000-0000-000000000000'::uuid order by 1 desc, 2 desc limit 1)
         having count(*) > 0`,
        [now],
      )
      return rows.map(({ subject }) => subject)
    },
  },
  {
    invariant: 'I8',
    promise: "the order of commits is this server's own: a database that was restored elsewhere has caught up with its rows",
    find: async (db) => {
      const rows = await db.query<{ subject: string }>(
        `select 'rows of transaction ' || newest || ', and this server is at ' || pg_snapshot_xmax(pg_current_snapshot()) as subject
         from (select greatest((select transaction from audit_log order by transaction desc limit 1), (select transaction from events order by transaction desc limit 1)) as newest) as n
         where newest >= pg_snapshot_xmax(pg_current_snapshot())`,
      )
      return rows.map(({ subject }) => subject)
    },
  },
]
