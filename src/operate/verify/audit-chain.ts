import { setImmediate as turn } from 'node:timers/promises'
import { type Check, type CheckFacts, type CheckScope, maxBreaches, sqlChecks } from '../../db/check.ts'
import type { Db } from '../../db/client.ts'
import {
  type Grown,
  readLastSealBefore,
  readSealedLeaves,
  readSealNodes,
  readSealsAfter,
  readSealThrough,
  readSealTree,
  rootOfRows,
  type Seal,
} from '../../events/seal.ts'

/** Number of seals whose rows are read together: about 1,300 rows, as many as a few pages of other checks. */
const sealsPerBatch = 20
const batchesPerReport = 8

/** The next seals, each with its rows and the tree up to it, and the stored nodes of these trees. */
const readBatch = async (db: Db, before: Seal | undefined) => {
  const seals = await readSealsAfter(db, before?.sequence ?? 0, sealsPerBatch)
  const [rows, add] = await Promise.all([readSealedLeaves(db, before, seals), readSealTree(db, (seals[0]?.sequence ?? 1) - 1)])
  const trees = seals.map((seal) => add(seal.rowsRoot))
  const nodes = await readSealNodes(
    db,
    trees.flatMap((tree) => tree.completed),
  )
  const stored = new Map(nodes.map(({ level, place, hash }) => [`${level}/${place}`, Buffer.from(hash)]))
  return { seals, rows, trees, stored }
}

type Verdict = { fault: string } | { isOurs: boolean }

const verdictOn = (
  facts: CheckFacts,
  before: Seal | undefined,
  seal: Seal,
  rows: readonly Uint8Array[],
  tree: Grown,
): Verdict => {
  if (seal.sequence !== (before?.sequence ?? 0) + 1) return { fault: 'a seal before it is missing' }
  if (rows.length > seal.rows) return { fault: `it covers ${seal.rows} rows, but more exist` }
  if (rows.length < seal.rows) return { fault: `it covers ${seal.rows} rows, but ${rows.length} exist` }
  if (!rootOfRows(rows).equals(seal.rowsRoot)) return { fault: 'a sealed row was changed' }
  if (!tree.digest.equals(seal.digest)) return { fault: 'its digest is not the Merkle root of the seals up to it' }
  const mac = facts.sealMac(seal.keyId, seal.digest.toString('hex'))
  if (!mac) return { isOurs: false }
  return mac.equals(seal.hash) ? { isOurs: true } : { fault: 'its hash was not computed with our secret' }
}

/**
 * Recomputes the tree from its start, or from the last seal before the period. An invalid seal is reported together with the rows
 * that it covers. Later seals are compared with its stored values.
 * A seal whose key is no longer configured is valid if a later seal uses one of our secrets.
 */
const findBrokenSeals = async (db: Db, facts: CheckScope): Promise<string[]> => {
  const broken: string[] = []
  let unvouched: { first: string; seals: number } | undefined
  const { since, lastChecked } = facts
  let before = lastChecked ? await readSealThrough(db, lastChecked) : since ? await readLastSealBefore(db, since) : undefined
  let count = 0
  let nextBatch = readBatch(db, before)
  for (let more = true; more && broken.length < maxBreaches; ) {
    const { seals, rows, trees, stored } = await nextBatch
    const last = seals.at(-1)
    // Only before a further seal, which vouches for all earlier ones or is reported itself.
    const isReportDue = last !== undefined && (before?.sequence ?? 0) % (batchesPerReport * sealsPerBatch) === 0
    if (before && isReportDue && count > 0 && broken.length === 0) await facts.onProgress?.(before.id, count)
    more = seals.length === sealsPerBatch
    if (more) {
      nextBatch = readBatch(db, last)
      nextBatch.catch(() => undefined)
      await turn()
    }
    for (const [index, seal] of seals.entries()) {
      const name = `seal ${seal.sequence} (through ${seal.id})`
      const tree = trees[index] as Grown
      const verdict = verdictOn(facts, before, seal, rows[index] ?? [], tree)
      if ('fault' in verdict) broken.push(`${name}: ${verdict.fault}`)
      else if (verdict.isOurs) unvouched = undefined
      else
        unvouched = {
          first: unvouched?.first ?? `${name}: its secret ${seal.keyId} is not configured`,
          seals: (unvouched?.seals ?? 0) + 1,
        }
      if (!tree.completed.every(({ level, place, hash }) => stored.get(`${level}/${place}`)?.equals(hash)))
        broken.push(`${name}: a node of the proof tree was changed`)
      before = seal
      count += seal.rows
    }
  }
  if (!unvouched) return broken
  const { first, seals } = unvouched
  return [...broken, seals === 1 ? first : `${first}, and the same is true of the ${seals - 1} seals after it`]
}

/** Compares the log with a head that was stored elsewhere, if one is given. */
export const headCheck: Check = {
  invariant: 'I8',
  promise: 'the audit log still contains the head that was stored elsewhere',
  find: async (db, { head }) => {
    if (!head) return []
    const [seal] = await readSealsAfter(db, head.sequence - 1, 1)
    if (seal?.sequence !== head.sequence) return [`seal ${head.sequence} is missing`]
    return seal.hash.equals(head.hash) ? [] : [`seal ${head.sequence} differs from the stored one`]
  },
}

export const auditChainChecks: readonly Check[] = [
  {
    invariant: 'I8',
    promise: 'no row of the audit log was changed, added or removed after it was sealed',
    find: findBrokenSeals,
  },
  headCheck,
  ...sqlChecks({
    I8: {
      'rows of the audit log are sealed within ten minutes': `
        select count(*) || ' rows since ' || min(at) as subject from audit_log
          where at < $now - interval '10 minutes' and (transaction, id) > (
            select through_transaction, through_id from audit_seals
            union all select '0'::xid8, '00000000-0000-0000-0000-000000000000'::uuid order by 1 desc, 2 desc limit 1)
          having count(*) > 0`,
      "the order of commits is this server's own: a database that was restored elsewhere has caught up with its rows": `
        select 'rows of transaction ' || newest || ', and this server is at ' || pg_snapshot_xmax(pg_current_snapshot()) as subject
          from (select greatest((select transaction from audit_log order by transaction desc limit 1), (select transaction from events order by transaction desc limit 1)) as newest) as n
          where newest >= pg_snapshot_xmax(pg_current_snapshot())`,
      'every sweep is due within its interval, and no verification is dated in the future': `
        select name as subject from schedules where next_run_at > now() + make_interval(secs => every_seconds) + interval '1 minute'
        union all select name from verify_points where at > greatest($now, now()) + interval '1 minute'`,
    },
    I21: {
      'every trigger that protects a table is enabled': `
        select t.tgrelid::regclass || '.' || t.tgname as subject from pg_trigger t join pg_class c on c.oid = t.tgrelid
        where not t.tgisinternal and t.tgenabled in ('D', 'R') and c.relnamespace = current_schema()::regnamespace`,
    },
  }),
]
