import { setTimeout as wait } from 'node:timers/promises'
import { mayStillBeSent } from '../../auth/authority-sql.ts'
import { type Db, inTx, statement, type Tx } from '../../db/client.ts'
import { coalesce } from '../../db/coalesce.ts'
import { serverSql } from '../../db/loss-detection.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { railAttempts } from '../../db/tables/payments.ts'
import { statesBefore } from '../../db/transitions.ts'
import { failure } from '../../errors/failures.ts'
import { type Clock, secondsAfter } from '../../lib/clock.ts'
import { isTemporary } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { fieldsOf } from '../../lib/lists.ts'
import { collectionRail } from '../../lib/rail-names.ts'
import type { SendLogFinding } from '../../lib/send-log.ts'
import { continueTrace } from '../../lib/tracing.ts'
import type { Evidence, ProviderReference, SendPermission, Submission } from '../../rails/rail.ts'
import {
  type AttemptRecord,
  claimWithinSeconds,
  moveAttempt,
  notSent,
  type Order,
  type Outgoing,
  secondsToNextQuery,
  secondsToNextTry,
  sendGraceSeconds,
  sendWithinSeconds,
} from '../attempts/attempt.ts'
import type { Parts } from '../parts.ts'
import { sendPaymentAt } from '../payments/prepare-send.ts'
import { sendTopupAt } from '../topups/send.ts'
import { type AttemptName, applyEvidence, type LockedAttempt, lockAttempt } from './evidence.ts'

export type SendSource = Pick<AttemptRecord, 'kind' | 'rail'>
export type Recorded = { outgoing: Outgoing; order: Order }

const claimRightToSend = statement('attempts.claim')`
  with here as materialized (select $8 = (${serverSql}) as "isTrusted"), claimed as (
     update rail_attempts a set state = 'sending', next_check_at = x.until, sender_id = x.sender, fingerprint = x.fingerprint, updated_at = $5
     from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::bytea[]) as x(id, until, sender, fingerprint)
     where a.id = x.id and a.state = any($7::text[]) and a.created_at > $6 and (select "isTrusted" from here)
       and not exists (select from rail_pauses r where r.rail = a.rail)
       and case a.kind when 'payment' then (select p.status = 'processing' and ${mayStillBeSent('p', '$5')} from payments p where p.id = a.subject_id)
         else (select status from topups where id = a.subject_id) = 'pending' end
     returning a.id)
   select array(select id from claimed) as ids, "isTrusted" from here`

const maxInStatement = 256

/** Claims the right to call the rail. One query checks every condition, so that a suspended process sends nothing. */
const createSendClaimer = (deps: Parts) =>
  coalesce<{ id: Uuid; until: Date; sender: Uuid | null; fingerprint: Buffer }, boolean>({
    query: async (claims) => {
      const server = deps.lossDetection.trusted()
      if (server === undefined) return claims.map(() => false)
      const at = deps.clock.now()
      const [row] = await deps.db.query<{ ids: Uuid[]; isTrusted: boolean }>(claimRightToSend, [
        ...fieldsOf(claims, 'id', 'until', 'sender', 'fingerprint'),
        at,
        secondsAfter(at, -claimWithinSeconds),
        statesBefore('attempt', 'sending'),
        server,
      ])
      const claimed = new Set(row?.ids)
      deps.db.recoveryPoint.track('sent', [...claimed])
      // Another database server answered.
      if (!row?.isTrusted) deps.lossDetection.doubt()
      return claims.map(({ id }) => claimed.has(id))
    },
    maxInFlight: 2,
    maxKeys: maxInStatement,
  })

/** Checks the time last, so that a process that was suspended sends nothing. */
export const permissionFrom = (clock: Clock, from: Date, take: SendPermission['take']): SendPermission => {
  const lastMs = secondsAfter(from, sendWithinSeconds).getTime()
  return {
    withinMs: lastMs - clock.now().getTime(),
    take: async (fingerprint) => (await take(fingerprint)) && clock.now().getTime() <= lastMs,
  }
}

/** Takes the right to send, then writes a line to the send log. A right without a line proves that nothing was sent. */
const createPermissions = (deps: Parts) => {
  const claim = createSendClaimer(deps)
  return ({ attemptId, at }: Order): SendPermission => {
    let claimed: Promise<boolean> | undefined
    return permissionFrom(deps.clock, at, async (fingerprint) => {
      const sender = deps.sends?.sender()
      const until = secondsAfter(deps.clock.now(), sendGraceSeconds)
      // Reused if the gateway refuses the token, because permission is then requested a second time.
      claimed ??= claim({ id: attemptId, until, sender: sender?.id ?? null, fingerprint }).then((isOurs) => {
        if (isOurs) sender?.append(attemptId)
        return isOurs
      })
      return claimed
    })
  }
}

const sendAgainAt = (tx: Tx, { subject }: LockedAttempt, due: Date): void =>
  subject.kind === 'payment' ? sendPaymentAt(tx, subject.record, due) : sendTopupAt(tx, subject.record, due)

const answerLost: Evidence = {
  kind: 'unknown',
  code: 'answer_lost',
  message: 'The answer to sending was lost; it may have arrived.',
}

/** Whether another process has sent the order again, which it may do after the attempt's second query (`repeatLost`). */
const mayHaveBeenRepeated = ({ rails }: Parts, { rail, state, checks }: AttemptRecord): boolean =>
  state === 'submitted' || (rail !== collectionRail && checks > 1 && Boolean(rails.payout[rail]?.repeats))

/** Runs again if its COMMIT was not answered, so an attempt that is `not_sent` or has a successor stays unchanged. */
const recordNotSent = async (tx: Tx, deps: Parts, locked: LockedAttempt, reason: string, isRailDown: boolean): Promise<void> => {
  const { attempt, superseded, tries } = locked
  if (superseded || attempt.state === 'not_sent') return
  const waitSeconds = secondsToNextTry(tries, isRailDown)
  // The payment became unknown after a restore: an earlier send that the database has lost may have arrived.
  if (attempt.state === 'resolved' && attempt.fingerprint === null) return
  // An attempt that was marked lost in the meantime may have been sent. Only evidence ends it.
  const isOpen = attempt.state === 'recorded' || attempt.state === 'sending'
  if (isOpen && waitSeconds !== undefined) {
    await moveAttempt(tx, attempt.id, 'not_sent', null)
    sendAgainAt(tx, locked, secondsAfter(tx.at, waitSeconds))
    return
  }
  // This process sent nothing, but the same order may be on its way from another one.
  if (!isOpen && mayHaveBeenRepeated(deps, attempt)) return
  const evidence = { kind: 'failed', ...failure('provider_unreachable', null, `${reason} Nothing was sent.`) } as const
  await applyEvidence(tx, [{ locked, evidence, source: { kind: 'submission' } }])
}

const accept = statement('attempts.accept')`
  update rail_attempts a set
     state = case when a.state = any($4::text[]) then 'submitted' else a.state end,
     next_check_at = case when a.state = any($4::text[]) then $5 else a.next_check_at end,
     provider_request = coalesce(a.provider_request, x.request), provider_conversation = coalesce(a.provider_conversation, x.conversation),
     updated_at = $6
   from unnest($1::uuid[], $2::text[], $3::text[]) as x(id, request, conversation) where a.id = x.id`

type AcceptedAttempt = ProviderReference & { id: Uuid }

export const recordAccepted = async (db: Db, at: Date, accepted: readonly AcceptedAttempt[]): Promise<void> => {
  const nextQuestionAt = secondsAfter(at, secondsToNextQuery(0))
  const named = fieldsOf(accepted, 'id', 'request', 'conversation')
  await db.query(accept, [...named, statesBefore('attempt', 'submitted'), nextQuestionAt, at])
}

/** Records the rail's answer to a send. A delivery that came earlier takes precedence. */
const recordSubmission = async (tx: Tx, deps: Parts, sent: AttemptName, submission: Submission, isRailDown: boolean) => {
  const locked = await lockAttempt(tx, sent)
  const settle = (evidence: Evidence) => applyEvidence(tx, [{ locked, evidence, source: { kind: 'submission' } }])
  switch (submission.kind) {
    case 'accepted':
      await recordAccepted(tx, tx.at, [{ ...submission.provider, id: sent.id }])
      if (submission.evidence) await settle(submission.evidence)
      return
    case 'refused':
      // The same order may be on its way from another process, as in `recordNotSent`.
      if (locked.attempt.state !== 'sending' && mayHaveBeenRepeated(deps, locked.attempt)) return
      await settle({ ...submission, kind: 'failed' })
      return
    case 'lost':
      await moveAttempt(tx, sent.id, 'lost', secondsAfter(tx.at, secondsToNextQuery(0)))
      // The provider has another order under these names, or this order from before the database lost writes.
      if (submission.duplicate) updateRow(tx, railAttempts, sent, { fingerprint: null, updatedAt: tx.at })
      await settle(answerLost)
      return
    case 'not_sent':
      return recordNotSent(tx, deps, locked, submission.message, isRailDown)
  }
}

/** Additional query intervals to wait for the send log of the sender's machine before an attempt counts as lost. */
const queriesBeforeLost = 1

const findingOf = ({ sends }: Parts, attempt: AttemptRecord): SendLogFinding => {
  const { id, senderId, checks } = attempt
  if (senderId === null) return 'may_be_sent'
  const finding = sends?.read(senderId, id) ?? 'elsewhere'
  return finding === 'elsewhere' && checks > queriesBeforeLost ? 'may_be_sent' : finding
}

/** An attempt was not sent if it lacks the right to send or is missing in its sender's send log. Otherwise it counts as lost. */
export const recordAbandoned = async (tx: Tx, deps: Parts, abandoned: AttemptName): Promise<AttemptRecord['state']> => {
  const locked = await lockAttempt(tx, abandoned)
  const { attempt } = locked
  const finding = attempt.state === 'sending' ? findingOf(deps, attempt) : undefined
  if ((attempt.state === 'recorded' || finding === 'not_sent') && (await moveAttempt(tx, attempt.id, 'not_sent', null))) {
    sendAgainAt(tx, locked, tx.at)
    return 'not_sent'
  }
  if (finding === 'may_be_sent' && (await moveAttempt(tx, attempt.id, 'lost', attempt.nextCheckAt))) {
    await applyEvidence(tx, [{ locked, evidence: answerLost, source: { kind: 'silence' } }])
    return 'lost'
  }
  return attempt.state
}

const retryWaitsMs = [100, 500, 1_000, 3_000, 5_000]

/** Retries, because only this process knows the rail's answer. STK and B2B cannot be queried without the ids in it. */
const untilWritten = async (write: () => Promise<unknown>): Promise<void> => {
  for (const waitMs of retryWaitsMs) {
    try {
      await write()
      return
    } catch (error) {
      if (!isTemporary(error)) throw error
      await wait(waitMs)
    }
  }
  await write()
}

/** Answers that report only acceptance change only the attempt, so they are written together. */
export const createSender = (deps: Parts) => {
  const permissionFor = createPermissions(deps)
  const recordAcceptance = coalesce<AcceptedAttempt, void>({
    query: async (accepted) => {
      const at = deps.clock.now()
      await untilWritten(() => recordAccepted(deps.db, at, accepted))
      return accepted.map(() => undefined)
    },
    maxInFlight: 1,
    maxKeys: maxInStatement,
  })

  const send = async (source: SendSource, { outgoing, order }: Recorded): Promise<void> => {
    const { attemptId } = order
    const permission = permissionFor(order)
    const submission = permission.withinMs > 0 ? await outgoing.send({ ...order, permission }) : notSent('too_late')
    deps.logger.info(
      {
        subject: source.kind,
        id: outgoing.subjectId,
        attempt: attemptId,
        rail: source.rail,
        submission: submission.kind,
        ...('code' in submission && { code: submission.code }),
      },
      'rail called',
    )
    if (submission.kind === 'accepted' && !submission.evidence) return recordAcceptance({ id: attemptId, ...submission.provider })
    const isRailDown = deps.rails.gates[source.rail].read().state !== 'up'
    const sent = { id: attemptId, kind: source.kind, subjectId: outgoing.subjectId }
    await untilWritten(() => inTx(deps.db, (tx) => recordSubmission(tx, deps, sent, submission, isRailDown)))
  }
  return (source: SendSource, recorded: Recorded): Promise<void> =>
    continueTrace(
      recorded.outgoing.traceparent,
      `job ${source.kind}s.${source.rail}`,
      { subject: formatId(source.kind, recorded.outgoing.subjectId), attempt: recorded.order.attemptId },
      () => send(source, recorded),
    )
}
