import type { Tx } from '../../../../db/client.ts'
import type { Actor } from '../../../../events/audit.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { Minor } from '../../../../lib/money.ts'
import type { CallbackUrls, Evidence, SendPermission, Submission } from '../../../../rails/rail.ts'
import type { Deps } from '../../deps.ts'
import type { ChainAnswers } from '../../evaluation/authority.ts'
import type { AttemptRecord } from './queries.ts'

/** What an attempt adds to its subject's instruction. */
export type Order = { attemptId: Uuid; orderId: Uuid; reference: string; at: Date; callbacks: CallbackUrls }

export type Sending = Order & { permission: SendPermission }

/** The sends of an order before this one. */
export type Earlier = { sends: number; generation: number }

/** What is to be sent. The destination is opened inside `send` and exists only during the call. Never throws because of a provider. */
export type Outgoing = {
  subjectId: Uuid
  /** The owning account: whose money moves. */
  accountId: Uuid
  /** What the order's names follow from. */
  seed: readonly string[]
  /** How often it was sent before, each time without arriving, and under which generation of names. */
  earlier: Earlier
  amountMinor: Minor
  /** The trace of the request that created it. */
  traceparent: string | null
  send: (sending: Sending) => Promise<Submission>
}

/** Our own proof that the rail was not called, and the reason. */
export const notSent = (code: string): Submission => ({ kind: 'not_sent', code, message: 'Nothing was sent.' })

/** The source of evidence: the rail's answer to sending, its delivery, its answer to a query, its silence for too long, or an operator. */
export type EvidenceSource = { kind: 'submission' | 'delivery' | 'query' | 'silence' } | { kind: 'operator'; actor: Actor }

export const actorOf = (source: EvidenceSource): Actor =>
  source.kind === 'operator' ? source.actor : { accountId: null, origin: null, way: `rail:${source.kind}` }

/**
 * The result of a piece of evidence. `mismatch`: it does not match what was sent (another amount, a receipt that belongs to something
 * else). `contradiction`: it contradicts a final record. Neither moves money; both need a person. `superseded`: it is about an attempt that
 * has a later one. `suspense`: such an attempt moved money all the same.
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

/** What a rail or a person reports of a payment or a top-up. Never `pending`. */
export type Report = { id: Uuid; evidence: Evidence; source: EvidenceSource }

/** Payments or top-ups under their locks, read once. */
export type OpenSubjects = {
  /** When it is to be sent again. Does nothing when it has ended. */
  sendAgainAt: (id: Uuid, due: Date) => Promise<void>
  /** May be called any number of times, in any order; one call names each subject and each receipt once. Results are in the same order. */
  settle: (reports: readonly Report[]) => Promise<Verdict[]>
}

/** What is needed to check a due subject once more, and to send it. */
export type PrepareDeps = Pick<Deps, 'logger' | 'rails' | 'vault'>

/** What a rail is called for: a payment or a top-up. */
export type AttemptSubject = {
  kind: AttemptRecord['kind']
  /** Takes the owning ledger accounts' locks, which guard the subjects and their attempts, then the subjects' locks. */
  open: (tx: Tx, ids: readonly Uuid[]) => Promise<OpenSubjects>
  /**
   * Under the locks of their owning ledger accounts: checks everything again and takes these out of the queue. A subject that may no longer
   * be sent is ended here and is not among the results. `answers`: of the chains of contract wallets, asked before the transaction.
   */
  prepare: (tx: Tx, deps: PrepareDeps, ids: readonly Uuid[], answers: ChainAnswers) => Promise<Outgoing[]>
  /**
   * The same order once more, after its answer was lost. Takes the same locks, and checks everything again: undefined when the subject may not
   * be sent. Null where the provider would take it for another order.
   */
  again: ((tx: Tx, deps: PrepareDeps, id: Uuid, answers: ChainAnswers) => Promise<Outgoing | undefined>) | null
}

export type Subjects = Readonly<Record<AttemptRecord['kind'], AttemptSubject>>

/** What sending an order needs, for the first time and again. */
export type OrderDeps = Pick<
  Deps,
  'alerts' | 'clock' | 'config' | 'contractWallets' | 'db' | 'logger' | 'orderNames' | 'rails' | 'vault' | 'witness'
>
