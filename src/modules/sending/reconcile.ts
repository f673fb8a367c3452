import { eq, getTableColumns, sql } from 'drizzle-orm'
import { mayStillBeSent } from '../../auth/authority-sql.ts'
import { type Database, inTx, statement } from '../../db/client.ts'
import { coalesce } from '../../db/coalesce.ts'
import { serverSql } from '../../db/loss-detection.ts'
import { selectRow } from '../../db/select-rows.ts'
import { payments, railAttempts } from '../../db/tables/payments.ts'
import { writeIsolated } from '../../jobs/claiming.ts'
import type { Sweep } from '../../jobs/jobs.ts'
import { secondsAfter } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import { fieldsOf } from '../../lib/lists.ts'
import { collectionRail, type SendingRail, sendingRails } from '../../lib/rail-names.ts'
import type { Evidence, Repeats, SendPermission, Submission } from '../../rails/rail.ts'
import {
  type AttemptRecord,
  adapterOf,
  attemptForRail,
  findAttempt,
  orderForRail,
  queryTopupsForSeconds,
  repeatWithinSeconds,
  secondsToNextQuery,
  silenceSeconds,
} from '../attempts/attempt.ts'
import { sweepOf } from '../for-each-row.ts'
import type { Parts } from '../parts.ts'
import { askChains, type ChainAnswers } from '../payments/evaluation/authority.ts'
import { repeatPayment } from '../payments/prepare-send.ts'
import { applyEvidence, lockAttempt } from './evidence.ts'
import { permissionFrom, recordAbandoned, recordAccepted } from './send.ts'

const permitRepeat = statement('attempts.permit_repeat')`
  update rail_attempts a set asked_at = $2, updated_at = $2
   where a.id = $1 and a.state = 'lost' and a.fingerprint = $3 and a.created_at > $4 and $5 = (select ${serverSql})
     and exists (select from payments p where p.id = a.subject_id and p.status = 'unknown' and ${mayStillBeSent('p', '$2')})
     and not exists (select from rail_pauses r where r.rail = a.rail)
     and ($6::text is null or exists (select from duplicate_checks c where c.rail = a.rail and c.account = $6))
   returning a.id`

/**
 * `permitRepeat` requires that the answer is still lost, that the order is byte-identical and was sent within the hour, and that a
 * test showed duplicates to be refused. The order then counts as queried: it must not be called failed while it may arrive.
 */
const permissionFor = (deps: Parts, attempt: AttemptRecord, repeats: Repeats): SendPermission =>
  permissionFrom(deps.clock, deps.clock.now(), async (fingerprint) => {
    const server = deps.lossDetection.trusted()
    if (server === undefined) return false
    const at = deps.clock.now()
    const oldest = secondsAfter(at, -repeatWithinSeconds)
    return (await deps.db.query(permitRepeat, [attempt.id, at, fingerprint, oldest, server, repeats.provenFor])).length > 0
  })

/** The provider has the order if it accepts the repetition or refuses it as a duplicate. Any other answer proves nothing. */
const recordRepeat = async (db: Database, attempt: AttemptRecord, submission: Submission): Promise<void> => {
  const accepted = submission.kind === 'accepted' ? submission : null
  if (!accepted && !(submission.kind === 'lost' && submission.duplicate === true)) return
  await inTx(db, async (tx) => {
    const locked = await lockAttempt(tx, attempt)
    if (locked.attempt.state !== 'lost') return
    // Omits the conversation: if the provider refuses the repetition later, the conversation may belong only to the repetition.
    await recordAccepted(tx, tx.at, [{ id: attempt.id, request: accepted?.provider.request ?? null, conversation: null }])
    const evidence = accepted?.evidence
    if (evidence) await applyEvidence(tx, [{ locked, evidence, source: { kind: 'submission' } }])
  })
}

const readPayment = selectRow('payments.of_attempt', payments, ['id'])

/** Sends a lost order again, but only after an unanswered query. A prompt is never repeated: each prompt is a new order. */
const repeatLost = async (deps: Parts, attempt: AttemptRecord): Promise<void> => {
  if (attempt.state !== 'lost' || attempt.checks === 0 || attempt.rail === collectionRail) return
  const repeats = deps.rails.payout[attempt.rail]?.repeats
  const isOld = deps.clock.now() >= secondsAfter(attempt.createdAt, repeatWithinSeconds)
  if (!repeats || isOld || deps.rails.gates[attempt.rail].free() === 0) return
  const payment = await readPayment(deps.db, { id: attempt.subjectId })
  const answers: ChainAnswers = payment?.approvalId ? await askChains(deps, payment.approvalId) : new Map()
  const send = await inTx(deps.db, (tx) => repeatPayment(tx, deps, attempt.subjectId, answers))
  if (!send) return
  const permission = permissionFor(deps, attempt, repeats)
  const submission = await send({ ...orderForRail(deps, attempt), permission })
  const facts = { id: attempt.subjectId, attempt: attempt.id, rail: attempt.rail, submission: submission.kind }
  deps.logger.info(facts, 'order sent again after a lost answer')
  await recordRepeat(deps.db, attempt, submission)
}

/** Sets the time of the next query before this one is sent, so that a crash delays the query by only one interval. */
const postpone = statement('attempts.postpone')`
  update rail_attempts a set checks = a.checks + 1, asked_at = coalesce(a.asked_at, $4), checked_at = $4, next_check_at = x.next, updated_at = $4
   from unnest($1::uuid[], $2::int[], $3::timestamptz[]) as x(id, checks, next) where a.id = x.id and a.checks = x.checks
     and a.id in (select id from rail_attempts where id = any($1) and next_check_at <= $4 for update skip locked)
   returning a.id`

const maxAtOnce = 20

/** Claims the attempts of one turn in one query. False if another process has claimed the attempt. */
const createQueryClaimer = ({ db, clock }: Parts) =>
  coalesce<AttemptRecord, boolean | { error: unknown }>({
    query: async (attempts) => {
      const now = clock.now()
      const nextOf = ({ kind, createdAt, checks }: AttemptRecord): Date | null =>
        kind === 'topup' && now > secondsAfter(createdAt, queryTopupsForSeconds)
          ? null
          : secondsAfter(now, secondsToNextQuery(checks + 1))
      const failed = new Map<Uuid, { error: unknown }>()
      const take = (part: readonly AttemptRecord[]) =>
        db.query<{ id: Uuid }>(postpone, [...fieldsOf(part, 'id', 'checks'), part.map(nextOf), now])
      const rows = await writeIsolated(attempts, take, ({ id }, error) => failed.set(id, { error }))
      const claimed = new Set(rows.map(({ id }) => id))
      return attempts.map(({ id }) => failed.get(id) ?? claimed.has(id))
    },
    maxInFlight: 1,
    maxKeys: maxAtOnce,
  })

const noEvidence: Evidence = {
  kind: 'unknown',
  code: 'no_evidence',
  message: 'The provider accepted it and has not reported a result.',
}

const applyAnswer = (db: Database, unanswered: AttemptRecord, answer: Evidence): Promise<void> =>
  inTx(db, async (tx) => {
    const locked = await lockAttempt(tx, unanswered)
    const [verdict] = await applyEvidence(tx, [{ locked, evidence: answer, source: { kind: 'query' } }])
    const silent = tx.at >= secondsAfter(unanswered.createdAt, silenceSeconds)
    if (verdict === 'inconclusive' && silent)
      await applyEvidence(tx, [{ locked, evidence: noEvidence, source: { kind: 'silence' } }])
  })

/** Records that an attempt's sender did not report back. Returns the attempt, or null if it will be sent again. */
const settleAbandoned = async (deps: Parts, dueAttempt: AttemptRecord): Promise<AttemptRecord | null> => {
  const state = await inTx(deps.db, (tx) => recordAbandoned(tx, deps, dueAttempt))
  if (state !== 'not_sent') return (await findAttempt(deps.db, dueAttempt)) ?? dueAttempt
  deps.jobs.wake(dueAttempt.kind === 'payment' ? 'payments' : 'topups', { rails: [dueAttempt.rail] })
  return null
}

type Reconciling = Parts & { claim: ReturnType<typeof createQueryClaimer> }

const queryRail = async (deps: Reconciling, dueAttempt: AttemptRecord): Promise<void> => {
  const claimed = await deps.claim(dueAttempt)
  if (typeof claimed === 'object') throw claimed.error
  if (!claimed) return
  const isUnsent = dueAttempt.state === 'recorded' || dueAttempt.state === 'sending'
  const attempt = isUnsent ? await settleAbandoned(deps, dueAttempt) : dueAttempt
  if (!attempt) return
  const rail = adapterOf(deps.rails, attempt.rail)
  if (!rail)
    return deps.logger.warn(
      { attempt: attempt.id, rail: attempt.rail, subject: attempt.kind, id: attempt.subjectId },
      'the rail of an attempt in progress is no longer configured',
    )
  const answer = await rail.query(attemptForRail(deps, attempt))
  await applyAnswer(deps.db, attempt, answer)
  // The state before this query: an attempt that was lost only now is queried once more before it is sent again.
  await repeatLost(deps, dueAttempt)
}

const sweepOfRail = (rail: SendingRail) =>
  sweepOf(
    `attempts.reconcile.${rail}`,
    {
      id: railAttempts.id,
      due: railAttempts.nextCheckAt,
      where: [sql`${railAttempts.state} not in ('resolved', 'not_sent')`, eq(railAttempts.rail, rail)],
      fields: getTableColumns(railAttempts),
      batch: maxAtOnce,
      atOnce: maxAtOnce,
    },
    queryRail,
  )

/** A sweep for each rail, so that one whose queries are not answered delays no attempt of another. */
const sweeps = sendingRails.map((rail) => ({ name: `attempts.reconcile.${rail}`, sweep: sweepOfRail(rail) }))

export const reconcileSweeps = (deps: Parts): Sweep[] =>
  sweeps.map(({ name, sweep }) => ({ name, everySeconds: 5, run: () => sweep({ ...deps, claim: createQueryClaimer(deps) }) }))
