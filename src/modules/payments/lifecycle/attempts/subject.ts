import type { Tx } from '../../../../db/client.ts'
import type { Actor } from '../../../../events/audit.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { Minor } from '../../../../lib/money.ts'
import type { CallbackUrls, Evidence, Submission } from '../../../../rails/rail.ts'
import type { Deps } from '../../../deps.ts'
import type { AttemptRecord } from './queries.ts'

/** What an attempt adds to its subject's instruction. */
export type Sending = { attemptId: Uuid; reference: string; at: Date; callbacks: CallbackUrls }

/** What is to be sent. The destination is opened inside `send` and lives no longer than the call. Never throws for what a provider does. */
export type Outgoing = { rail: AttemptRecord['rail']; amountMinor: Minor; send: (sending: Sending) => Promise<Submission> }

/** Nothing left the house, and why. */
export const notSent = (code: string): Submission => ({ kind: 'not_sent', code, message: 'Nothing was sent.' })

/** Who says it: the rail's answer to sending, its delivery, its answer to a question, its silence for too long, or an operator. */
export type Witness = { kind: 'submission' | 'delivery' | 'query' | 'silence' } | { kind: 'operator'; actor: Actor }

export const actorOf = (witness: Witness): Actor =>
  witness.kind === 'operator' ? witness.actor : { accountId: null, origin: null, way: `rail:${witness.kind}` }

/**
 * What became of a piece of evidence. `mismatch`: it is not about what was sent (another amount, a receipt of somebody else's).
 * `contradiction`: it speaks against what is recorded as final. Neither moves money; both are for a person.
 */
export type Verdict = 'applied' | 'repeated' | 'inconclusive' | 'mismatch' | 'contradiction' | 'disputed'

/** What a rail is asked to do something for: a payment or a top-up. */
export type AttemptSubject = {
  /** Takes the owning ledger account's lock: it guards the subject and its attempts, and comes before every other lock. */
  lock: (tx: Tx, id: Uuid) => Promise<void>
  /** When it is to be sent, or that it is not (any more). The row is its place in the queue. */
  setDue: (tx: Tx, id: Uuid, at: Date | null) => Promise<void>
  /** Under that lock: looks at everything again. Null when there is nothing to send (any more). */
  prepare: (tx: Tx, deps: Deps, id: Uuid) => Promise<Outgoing | null>
  /** Under that lock, any number of times, in any order. Never asked about `pending`. */
  settle: (tx: Tx, deps: Deps, id: Uuid, evidence: Evidence, witness: Witness) => Promise<Verdict>
}

export type Subjects = Readonly<Record<AttemptRecord['kind'], AttemptSubject>>
