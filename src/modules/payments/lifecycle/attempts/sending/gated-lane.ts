import { eq } from 'drizzle-orm'
import { prepare } from '../../../../../db/prepare.ts'
import { railPauses } from '../../../../../db/tables/rails.ts'
import type { Lane } from '../../../../../jobs/lane.ts'
import type { Deps } from '../../../deps.ts'
import type { AttemptRecord } from '../queries.ts'

const pausesOf = prepare('rails.paused', { rail: 'text' }, (orm, at) =>
  orm.select({ cause: railPauses.cause }).from(railPauses).where(eq(railPauses.rail, at.rail)),
)

const readEveryMs = 1_000

/**
 * Takes nothing while the rail is down or paused by an operator, or while it is not known that the database still has what it had committed: due tasks stay due, and this does not count as a try. A rail that may work
 * again gets one trial call.
 */
export const gatedLane = (deps: Pick<Deps, 'db' | 'rails' | 'witness'>, rail: AttemptRecord['rail'], lane: Lane): Lane => {
  let paused = false
  let readAtMs = Number.NEGATIVE_INFINITY
  const isPaused = async (): Promise<boolean> => {
    const now = performance.now()
    if (now - readAtMs >= readEveryMs) {
      paused = (await deps.db.run(pausesOf, { rail })).length > 0
      readAtMs = now
    }
    return paused
  }
  return {
    ...lane,
    claim: async (room) => {
      if (deps.witness.trusted() === undefined) await deps.witness.check()
      if (deps.witness.trusted() === undefined) return { tasks: [], more: false }
      const free = Math.min(room.free, deps.rails.gates[rail]?.free() ?? room.free)
      if (free === 0 || (await isPaused())) return { tasks: [], more: false }
      return lane.claim({ ...room, free })
    },
  }
}
