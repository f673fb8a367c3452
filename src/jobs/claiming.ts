import { isUnavailable } from '../db/errors.ts'
import type { Uuid } from '../lib/ids.ts'
import type { Capacity } from './worker.ts'

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
