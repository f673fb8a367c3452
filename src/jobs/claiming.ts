import type { Database } from '../db/client.ts'
import { isUnavailable } from '../db/errors.ts'
import type { Statement } from '../db/statement.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Capacity, Claimed, Task } from './worker.ts'

/** Picks rows from the tenants in turn while there is capacity. */
export const pickFairly = <Row extends { tenant: Uuid }>(
  due: readonly Row[],
  capacity: Pick<Capacity, 'free' | 'ofTenant'>,
): { picked: Row[]; more: boolean } => {
  const byTenant = Map.groupBy(due, ({ tenant }) => tenant)
  const queues = [...byTenant].map(([tenant, rows]) => rows.slice(0, Math.max(0, capacity.ofTenant(tenant))))
  const picked: Row[] = []
  for (let turn = 0; picked.length < capacity.free && queues.some((rows) => rows.length > turn); turn += 1) {
    for (const rows of queues) {
      const row = rows[turn]
      if (row && picked.length < capacity.free) picked.push(row)
    }
  }
  return { picked, more: picked.length < due.length }
}

/** Writes rows together. If a write fails, retries each half, so that one bad row does not block the others. */
export const writeIsolated = async <Row, Done>(
  rows: readonly Row[],
  write: (part: readonly Row[]) => Promise<readonly Done[]>,
  onFailure: (row: Row, error: unknown) => void,
): Promise<readonly Done[]> => {
  const [row] = rows
  if (row === undefined) return []
  try {
    return await write(rows)
  } catch (error) {
    if (isUnavailable(error)) throw error
    const half = Math.ceil(rows.length / 2)
    if (rows.length > 1)
      return [
        ...(await writeIsolated(rows.slice(0, half), write, onFailure)),
        ...(await writeIsolated(rows.slice(half), write, onFailure)),
      ]
    onFailure(row, error)
    return []
  }
}

export type ClaimLimits = { now: Date } & Pick<Capacity, 'except' | 'free'>

/**
 * `due` reads the wanted rows. `lease` takes the rows in $2 that are still due at $1 and postpones each, so that it is due again
 * if this process crashes. Rows that another transaction is changing are skipped until the next round.
 */
export const claimLeased = async <Row extends { id: Uuid; tenant: Uuid }>(
  db: Database,
  { due, lease }: { due: (wanted: ClaimLimits) => Promise<readonly Row[]>; lease: Statement },
  { now, except, free }: ClaimLimits,
  work: (row: Row) => Promise<void>,
): Promise<Claimed> => {
  const rows = await due({ now, except, free })
  const failed = new Map<string, unknown>()
  const take = (part: readonly Row[]) => db.query<{ id: Uuid }>(lease, [now, part.map(({ id }) => id)])
  const leased = new Set((await writeIsolated(rows, take, ({ id }, error) => failed.set(id, error))).map(({ id }) => id))
  const tasks = rows
    .filter(({ id }) => leased.has(id))
    .map((row): Task => ({ key: row.id, tenant: row.tenant, run: () => work(row) }))
  return { tasks, more: rows.length === free, failed }
}
