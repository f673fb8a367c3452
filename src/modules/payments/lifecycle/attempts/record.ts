import { sha256 } from '../../../../auth/secrets.ts'
import type { Tx } from '../../../../db/client.ts'
import { secondsAfter } from '../../../../lib/clock.ts'
import { newId, type Uuid } from '../../../../lib/ids.ts'
import type { Deps } from '../../deps.ts'
import { callbackUrls, newCallbackSecret, newReference, sealSecret } from './callback-secret.ts'
import { type AttemptRecord, insertAttempts, type NewAttempt } from './queries.ts'
import { claimWithinSeconds, sendWithinSeconds } from './schedule.ts'
import type { Outgoing, Sending } from './subject.ts'

/** An attempt that is recorded and not yet sent. */
export type Recorded = { outgoing: Outgoing; sending: Sending }

const newAttempt = (deps: Pick<Deps, 'vault'>, { subjectId, amountMinor }: Outgoing): NewAttempt & { secret: string } => {
  const id = newId()
  const secret = newCallbackSecret()
  const sealed = sealSecret(deps.vault, id, secret)
  return {
    id,
    subjectId,
    amountMinor,
    reference: newReference(),
    secret,
    secretHash: sha256(secret),
    secretCiphertext: sealed.ciphertext,
    secretKeyId: sealed.keyId,
  }
}

type Lane = Pick<AttemptRecord, 'kind' | 'rail'>

/** Records one attempt for each, in one statement, and repeats it for those whose random reference was taken. */
export const recordAttempts = async (
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'config' | 'vault'>,
  lane: Lane,
  outgoing: readonly Outgoing[],
): Promise<Recorded[]> => {
  const { at } = tx
  const recorded: Recorded[] = []
  let open = outgoing
  for (let tries = 1; open.length > 0; tries += 1) {
    if (tries > 5) throw new Error('no free reference was found')
    const attempts = new Map(open.map((each) => [each.subjectId, newAttempt(deps, each)]))
    const common = { ...lane, createdAt: at, nextCheckAt: secondsAfter(at, claimWithinSeconds) }
    const inserted = await insertAttempts(tx, common, [...attempts.values()])
    const left: Outgoing[] = []
    for (const each of open) {
      const attempt = attempts.get(each.subjectId)
      if (attempt && inserted.has(attempt.id)) recorded.push({ outgoing: each, sending: sendingOf(deps, attempt, at) })
      else left.push(each)
    }
    open = left
  }
  return recorded
}

const sendingOf = (
  deps: Pick<Deps, 'clock' | 'config'>,
  attempt: { id: Uuid; reference: string; secret: string },
  at: Date,
): Sending => ({
  attemptId: attempt.id,
  reference: attempt.reference,
  at,
  callbacks: callbackUrls(deps.config.operatorUrl, attempt.id, attempt.secret),
  mayStillSend: () => deps.clock.now() <= secondsAfter(at, sendWithinSeconds),
})
