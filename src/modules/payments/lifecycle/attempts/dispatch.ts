import { setTimeout as wait } from 'node:timers/promises'
import { sha256 } from '../../../../auth/secrets.ts'
import { inTx, type Tx } from '../../../../db/client.ts'
import { secondsAfter } from '../../../../lib/clock.ts'
import { Refusal } from '../../../../lib/errors.ts'
import { newId, type Uuid } from '../../../../lib/ids.ts'
import type { Submission } from '../../../../rails/rail.ts'
import type { Deps } from '../../../deps.ts'
import { callbackUrls, newCallbackSecret, newReference, sealSecret } from './callback-secret.ts'
import { type AttemptRecord, attemptStatesOf, insertAttempt } from './queries.ts'
import { sendGraceSeconds } from './schedule.ts'
import type { Outgoing, Sending, Subjects } from './subject.ts'
import { recordSubmission } from './submission.ts'

const insertWithReference = async (
  tx: Tx,
  deps: Deps,
  kind: AttemptRecord['kind'],
  subjectId: Uuid,
  outgoing: Outgoing,
): Promise<Sending> => {
  const at = deps.clock.now()
  const attemptId = newId()
  const secret = newCallbackSecret()
  const sealed = sealSecret(deps.vault, attemptId, secret)
  const attempt = {
    id: attemptId,
    kind,
    subjectId,
    rail: outgoing.rail,
    amountMinor: outgoing.amountMinor,
    secretHash: sha256(secret),
    secretCiphertext: sealed.ciphertext,
    secretKeyId: sealed.keyId,
    nextCheckAt: secondsAfter(at, sendGraceSeconds),
    createdAt: at,
  }
  for (let tries = 1; tries <= 5; tries += 1) {
    const reference = newReference()
    if (await insertAttempt(tx, { ...attempt, reference })) {
      return { attemptId, reference, at, callbacks: callbackUrls(deps.config.operatorUrl, attemptId, secret) }
    }
  }
  throw new Error('no free reference was found')
}

type Recorded = { sending: Sending; outgoing: Outgoing }

/** Null when an attempt is there already: it may have been sent, so nothing is sent again without proof that it was not. */
const recordAttempt = async (
  tx: Tx,
  deps: Deps,
  subjects: Subjects,
  kind: AttemptRecord['kind'],
  id: Uuid,
): Promise<Recorded | null> => {
  const subject = subjects[kind]
  await subject.lock(tx, id)
  await subject.setDue(tx, id, null)
  const states = await attemptStatesOf(tx, id)
  if (states.some((state) => state !== 'not_sent')) return null
  const outgoing = await subject.prepare(tx, deps, id)
  return outgoing && { outgoing, sending: await insertWithReference(tx, deps, kind, id, outgoing) }
}

const retryWaitsMs = [100, 500, 1_000, 3_000, 5_000]

/** The rail's answer is known here alone, and STK and B2B can't be asked without the ids in it: a database that restarts is waited for. */
const untilWritten = async (write: () => Promise<void>): Promise<void> => {
  for (const waitMs of retryWaitsMs) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'unavailable')) throw error
      await wait(waitMs)
    }
  }
  return write()
}

/**
 * Sends a subject to its rail, at most once: the attempt is committed, then the rail is called, then its answer is recorded. A
 * process that dies in between leaves a recorded attempt, which is taken for sent.
 */
export const dispatch = async (deps: Deps, subjects: Subjects, kind: AttemptRecord['kind'], id: Uuid): Promise<void> => {
  const recorded = await inTx(deps.db, (tx) => recordAttempt(tx, deps, subjects, kind, id))
  if (!recorded) return
  const { sending, outgoing } = recorded
  const submission: Submission = await outgoing.send(sending)
  const code = 'code' in submission ? submission.code : undefined
  deps.logger.info(
    { subject: kind, id, attempt: sending.attemptId, rail: outgoing.rail, submission: submission.kind, code },
    'a rail was called',
  )
  await untilWritten(() => inTx(deps.db, (tx) => recordSubmission(tx, deps, subjects[kind], sending.attemptId, submission)))
}
