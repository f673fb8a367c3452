import type { Failure } from '../lib/failure-codes.ts'
import type { Minor } from '../lib/money.ts'
import type { RailName } from '../lib/rail-names.ts'

/** What a rail can move at all. `wholeUnits`: amounts are multiples of 100 minor units. */
export type RailLimits = { minMinor: Minor; maxMinor: Minor; wholeUnits: boolean }

/** Where the provider's deliveries for one attempt arrive; each URL carries the attempt's id and a secret of ours. */
export type CallbackUrls = { result: string; timeout: string }

/** One payout, sent at most once. `attemptId` is a UUID of ours; `reference` 12 digits, never used again. */
export type PayoutInstruction = {
  attemptId: string
  rail: RailName
  amountMinor: Minor
  currency: string
  destination: string
  bankCode: string | null
  beneficiaryName: string
  accountReference: string | null
  narrative: string | null
  reference: string
  at: Date
  callbacks: CallbackUrls
  /** Asked once more right before the request leaves, when a token may have been waited for. No: it is `not_sent`. */
  mayStillSend?: () => boolean
}

/** A top-up: the payer is asked on the phone to pay in. */
export type CollectionInstruction = {
  attemptId: string
  amountMinor: Minor
  currency: string
  phoneNumber: string
  reference: string
  at: Date
  callbacks: CallbackUrls
  /** As a payout's. */
  mayStillSend?: () => boolean
}

/** What the provider is known by, kept with the attempt so that it can be asked later. */
export type ProviderReference = { request: string | null; conversation: string | null }

/**
 * The answer to sending. `lost`: it may have arrived, so it is never sent again. `not_sent`: proof that it never reached the
 * provider (no token, connection refused, spike arrest): sending again is safe. `refused`: the provider's word that nothing moves.
 */
export type Submission =
  | { kind: 'accepted'; provider: ProviderReference; evidence?: Evidence }
  | ({ kind: 'refused' } & Failure)
  | { kind: 'not_sent'; code: string; message: string }
  | { kind: 'lost'; message: string }

/**
 * What the provider says happened. Only `succeeded`, `failed` and `returned` are evidence; `pending` and `unknown` end nothing.
 * `amountMinor` is what the provider says it moved (null when it doesn't say): a difference is for a person to look at. `receipt` is
 * null only where the proof names none (the STK query): the callback may still bring it. Messages carry no phone or account number.
 */
export type Evidence =
  | { kind: 'succeeded'; receipt: string | null; amountMinor: Minor | null }
  | ({ kind: 'failed' } & Failure)
  | { kind: 'returned'; receipt: string | null; message: string }
  | { kind: 'pending' }
  | { kind: 'unknown'; code: string; message: string }

export type Attempt = {
  attemptId: string
  rail: RailName | 'MPESA_STK'
  amountMinor: Minor
  reference: string
  provider: ProviderReference
  at: Date
  callbacks: CallbackUrls
}

/** Which of an attempt's URLs a delivery came to. */
export type DeliveryKind = 'result' | 'timeout'

/** A parsed delivery: the evidence in it, and what it names, to be held against the attempt that its path names. */
export type Delivery = { evidence: Evidence; provider: ProviderReference }

/** What a payout rail must do. It sees no database; it never throws for what the provider does, only for bugs. */
export type PayoutRail = {
  readonly limits: Readonly<Partial<Record<RailName, RailLimits>>>
  pay: (instruction: PayoutInstruction) => Promise<Submission>
  /** Asks what became of an attempt. `pending` also when the provider's answer will come as a delivery. */
  query: (attempt: Attempt) => Promise<Evidence>
  /**
   * Throws nothing: a body that can't be understood is `unknown`. The attempt is needed because an answer to our own question comes
   * to the same URL: a question that was refused must not be read as a payment that failed.
   */
  readDelivery: (
    kind: DeliveryKind,
    body: unknown,
    attempt: Pick<Attempt, 'attemptId' | 'rail' | 'reference' | 'provider'>,
  ) => Delivery
}

/** Money that moved, as the provider lists it: positive where it came in. */
export type Movement = { receipt: string; at: Date; amountMinor: Minor; references: readonly string[] }

/** What a collection rail (top-ups) must do. */
export type CollectionRail = {
  readonly limits: RailLimits
  /** Everything that was paid in from `start` until before `end`; undefined when the provider does not list it whole. */
  listPaidIn: (period: { start: Date; end: Date }) => Promise<Movement[] | undefined>
  collect: (instruction: CollectionInstruction) => Promise<Submission>
  query: (attempt: Attempt) => Promise<Evidence>
  readDelivery: (kind: DeliveryKind, body: unknown) => Delivery
}

export type GateState = { state: 'up' | 'throttled' | 'down'; since: Date | null; underWay: number }

/** Whether a rail takes calls now. Asked before an attempt is recorded: what is not sent now stays due, and costs no try. */
export type Gate = {
  /** How many more calls may begin now. */
  free: () => number
  read: () => GateState
  /** Counts a call and how it went. */
  run: (call: () => Promise<Submission>) => Promise<Submission>
}

/** Every rail of a deployment, by name: what the modules are given. A rail that is not configured is missing. */
export type Rails = {
  payout: Readonly<Partial<Record<RailName, PayoutRail>>>
  collection: CollectionRail | null
  /** Whether each takes calls now. A rail without one always does. */
  gates: Readonly<Partial<Record<RailName | 'MPESA_STK', Gate>>>
}
