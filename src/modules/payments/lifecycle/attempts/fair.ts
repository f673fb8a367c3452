import type { Room } from '../../../../jobs/lane.ts'
import type { Uuid } from '../../../../lib/ids.ts'

/** Round robin over the tenants: one task each, then the next one of each, while there is room. */
export const pickFairly = <Row extends { tenant: Uuid }>(
  due: readonly Row[],
  room: Pick<Room, 'free' | 'ofTenant'>,
): { picked: Row[]; more: boolean } => {
  const byTenant = Map.groupBy(due, ({ tenant }) => tenant)
  const queues = [...byTenant].map(([tenant, rows]) => rows.slice(0, Math.max(0, room.ofTenant(tenant))))
  const picked: Row[] = []
  for (let turn = 0; picked.length < room.free && queues.some((rows) => rows.length > turn); turn += 1) {
    for (const rows of queues) {
      const row = rows[turn]
      if (row && picked.length < room.free) picked.push(row)
    }
  }
  return { picked, more: picked.length < due.length }
}
