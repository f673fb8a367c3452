import { setTimeout as wait } from 'node:timers/promises'
import { inTx, statement } from '../../db/client.ts'
import { joinTurn } from '../../db/join-turn.ts'
import { statesBefore } from '../../db/transitions.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { fieldsOf } from '../../lib/lists.ts'
import { continueTrace } from '../../lib/tracing.ts'
import type { ProviderReference } from '../../rails/rail.ts'
import { notSent, secondsToNextQuery } from '../attempts/attempt.ts'
import type { Parts } from '../parts.ts'
import { createPermissions, type Recorded, type SendLane } from './claim.ts'
import { recordSubmission } from './submission.ts'

const retryWaitsMs = [100, 500, 1_000, 3_000, 5_000]

/**
 * Only this process knows the rail's answer, and STK and B2B cannot be queried without its ids, so it waits for a database that restarts.
 */
const untilWritten = async (write: () => Promise<unknown>): Promise<void> => {
  for (const waitMs of retryWaitsMs) {
    try {
      await write()
      return
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'unavailable')) throw error
      await wait(waitMs)
    }
  }
  await write()
}

const accept = statement(
  'attempts.accept',
  `update rail_attempts a set
     state = case when a.state = any($4::text[]) then 'submitted' else a.state end,
     next_check_at = case when a.state = any($4::text[]) then $5 else a.next_check_at end,
     provider_request = coalesce(a.provider_request, x.request), provider_conversation = coalesce(a.provider_conversation, x.conversation),
     updated_at = $6
   from unnest($1::uuid[], $2::text[], $3::text[]) as x(id, request, conversation) where a.id = x.id`,
)

type Accepted = ProviderReference & { attemptId: Uuid }

const mostInStatement = 256

export type Sender = (lane: SendLane, recorded: Recorded) => Promise<void>

/**
 * Calls rails and records their answers. An answer that only says "accepted" changes the attempt alone: answers that arrive while one
 * statement is under way are written together in the next.
 */
export const createSender = (deps: Parts): Sender => {
  const permissionFor = createPermissions(deps)
  const recordTaken = joinTurn<Accepted, void>({
    query: async (taken) => {
      const at = deps.clock.now()
      const values = [
        ...fieldsOf(taken, 'attemptId', 'request', 'conversation'),
        statesBefore('attempt', 'submitted'),
        secondsAfter(at, secondsToNextQuery(0)),
        at,
      ]
      await untilWritten(() => deps.db.query(accept, values))
      return taken.map(() => undefined)
    },
    inFlight: 1,
    maxKeys: mostInStatement,
  })

  const send: Sender = async (lane, { outgoing, order }) => {
    const { attemptId } = order
    const permission = permissionFor(lane, order)
    const submission = permission.withinMs > 0 ? await outgoing.send({ ...order, permission }) : notSent('too_late')
    deps.logger.info(
      {
        subject: lane.kind,
        id: outgoing.subjectId,
        attempt: attemptId,
        rail: lane.rail,
        submission: submission.kind,
        ...('code' in submission && { code: submission.code }),
      },
      'a rail was called',
    )
    if (submission.kind === 'accepted' && !submission.evidence) return recordTaken({ attemptId, ...submission.provider })
    const isRailDown = (deps.rails.gates[lane.rail]?.read().state ?? 'up') !== 'up'
    const sent = { id: attemptId, subjectId: outgoing.subjectId }
    await untilWritten(() => inTx(deps.db, (tx) => recordSubmission(tx, lane.kind, sent, submission, isRailDown)))
  }
  return (lane, recorded) =>
    continueTrace(
      recorded.outgoing.traceparent,
      `job ${lane.kind}s.${lane.rail}`,
      { subject: recorded.outgoing.subjectId, attempt: recorded.order.attemptId },
      () => send(lane, recorded),
    )
}
