import type { Tx } from '../../../../db/client.ts'
import type { Actor } from '../../../../events/audit.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { Minor } from '../../../../lib/money.ts'
import type { CallbackUrls, Evidence, Submission } from '../../../../rails/rail.ts'
import type { Deps } from '../../../deps.ts'
import type { AttemptRecord } from './queries.ts'

/** What an attempt adds to its subject's instruction. */
export type Sending = { attemptId: Uuid; reference: string; at: Date; callbacks: CallbackUrls; mayStillSend: () => boolean }

/** What is to be sent. The destination is opened inside `send` and lives no longer than the call. Never throws for what a provider does. */
export type Outgoing = {
  subjectId: Uuid
  amountMinor: Minor
  /** The trace of the request that made it. */
  traceparent: string | null
  send: (sending: Sending) => Promise<Submission>
}

/** Proof of our own that the rail was not called, and why. */
export const notSent = (code: string): Submission => ({ kind: 'not_sent', code, message: 'Nothing was sent.' })

/** Where evidence comes from: the rail's answer to sending, its delivery, its answer to a question, its silence for too long, or an operator. */
export type Witness = { kind: 'submission' | 'delivery' | 'query' | 'silence' } | { kind: 'operator'; actor: Actor }

export const actorOf = (witness: Witness): Actor =>
  witness.kind === 'operator' ? witness.actor : { accountId: null, origin: null, way: `rail:${witness.kind}` }

/**
 * What became of a piece of evidence. `mismatch`: it is not about what was sent (another amount, a receipt that stands for something
 * else). `contradiction`: it speaks against what is recorded as final. Neither moves money; both are for a person. `superseded`: it is
 * about an attempt that another one has followed. `suspense`: such an attempt moved money all the same.
 */
export type Verdict =
  | 'applied'
  | 'repeated'
  | 'inconclusive'
  | 'mismatch'
  | 'contradiction'
  | 'disputed'
  | 'superseded'
  | 'suspense'

/** A payment or a top-up under its locks, read once. */
export type OpenSubject = {
  /** When it is to be sent again. Does nothing when it has ended. */
  sendAgainAt: (due: Date) => Promise<void>
  /** Any number of times, in any order. Never given `pending`. */
  settle: (evidence: Evidence, witness: Witness) => Promise<Verdict>
}

/** What it takes to settle a payment or a top-up. */
export type SettleDeps = Pick<Deps, 'alerts' | 'appendEvents' | 'config'>
/** What it takes to look at what is due once more, and to send it. */
export type PrepareDeps = Pick<Deps, 'appendEvents' | 'config' | 'logger' | 'rails' | 'vault'>

/** What a rail does something for: a payment or a top-up. */
export type AttemptSubject = {
  kind: AttemptRecord['kind']
  /** Takes the owning ledger account's lock, which guards the subject and its attempts, then the subject's. */
  open: (tx: Tx, deps: SettleDeps, id: Uuid) => Promise<OpenSubject>
  /**
   * Under the locks of their owning ledger accounts: looks at everything again and takes these out of the queue. What may not be sent
   * any more is ended here and is not among the answers.
   */
  prepare: (tx: Tx, deps: PrepareDeps, ids: readonly Uuid[]) => Promise<Outgoing[]>
}

export type Subjects = Readonly<Record<AttemptRecord['kind'], AttemptSubject>>
