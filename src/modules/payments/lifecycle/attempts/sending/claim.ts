import { lockBatch } from '../../../../../db/account-lock.ts'
import { inTx, type Tx } from '../../../../../db/client.ts'
import type { Uuid } from '../../../../../lib/ids.ts'
import { contended, type Outcome } from '../../../../../queue/account-queue.ts'
import type { Deps } from '../../../deps.ts'
import type { ChainAnswers } from '../../../evaluation/contract-wallets.ts'
import type { AttemptRecord } from '../queries.ts'
import type { AttemptSubject, PrepareDeps } from '../subject.ts'
import { type Recorded, recordAttempts } from './record.ts'

type ClaimDeps = PrepareDeps & Pick<Deps, 'config' | 'db' | 'orderNames'>

/** A payment or a top-up that is due, and the account that owns it. `answers`: of the chains about the approvals that it rests on. */
export type Due = { id: Uuid; tenant: Uuid; answers: ChainAnswers }

export type SendLane = { subject: AttemptSubject; rail: AttemptRecord['rail'] }

const recordAll = async (
  tx: Tx,
  deps: PrepareDeps & Pick<Deps, 'config' | 'orderNames'>,
  { subject, rail }: SendLane,
  due: readonly Due[],
): Promise<Recorded[]> => {
  const ids = [...new Set(due.map(({ id }) => id))]
  const answers = new Map(due.flatMap((each) => [...each.answers]))
  const outgoing = await subject.prepare(tx, deps, ids, answers)
  return recordAttempts(tx, deps, { kind: subject.kind, rail }, outgoing)
}

export const tenantsOf = (due: readonly { tenant: Uuid }[]): Uuid[] => [...new Set(due.map(({ tenant }) => tenant))]

/**
 * Records an attempt for each task in one transaction. For each: the attempt to send, or null where there is nothing to send now. A task
 * that is named twice is sent once.
 */
export const claimDue = async (
  deps: ClaimDeps,
  lane: SendLane,
  due: readonly Due[],
  wait: boolean,
): Promise<Outcome<Recorded | null>[]> => {
  const { recorded, busy } = await inTx(deps.db, async (tx) => {
    const busy = await lockBatch(tx, { exclusive: tenantsOf(due) }, wait)
    const free = due.filter(({ tenant }) => !busy.has(tenant))
    return { recorded: free.length === 0 ? [] : await recordAll(tx, deps, lane, free), busy }
  })
  const sendable = new Map(recorded.map((each) => [each.outgoing.subjectId, each]))
  return due.map(({ id, tenant }) => {
    if (busy.has(tenant)) return contended
    const own = sendable.get(id) ?? null
    sendable.delete(id)
    return own
  })
}
