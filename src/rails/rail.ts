import type { z } from 'zod'
import type { Failure } from '../errors/failures.ts'
import type { Bank } from '../lib/banks.ts'
import type { Clock } from '../lib/clock.ts'
import type { DepositInstructions } from '../lib/deposit-code.ts'
import type { Minor } from '../lib/money.ts'
import type {
  AnyRail,
  DepositOf,
  DepositRail,
  PayoutOf,
  PromptOf,
  Provider,
  RailName,
  RailOf,
  SendingRail,
} from '../lib/rail-names.ts'

export const longestRequestMs = 30_000

/** `wholeUnits`: amounts are multiples of 100 minor units. */
export type RailLimits = { minMinor: Minor; maxMinor: Minor; wholeUnits: boolean }

export type CallbackUrls = { result: string; timeout: string }

/**
 * The adapter takes it on an open connection, right before the first byte; on false nothing is sent. `fingerprint`: a hash of the
 * order in the provider's form. `withinMs`: the longest time until it is taken.
 */
export type SendPermission = { withinMs: number; take: (fingerprint: Buffer) => Promise<boolean> }

/** `orderId` (a UUID) and `reference` (12 digits) are the same for every send of the order, and unique to it. */
type Instruction = {
  orderId: string
  amountMinor: Minor
  currency: string
  reference: string
  at: Date
  callbacks: CallbackUrls
  permission?: SendPermission
}

export type PayoutInstruction = Instruction & {
  rail: RailName
  destination: string
  bankCode: string | null
  beneficiaryName: string
  accountReference: string | null
  narrative: string | null
  /** The paying account by our name for it. An unexplained movement leads to it. */
  payer: string
}

export type CollectionInstruction = Instruction & { phoneNumber: string }

export type ProviderReference = { request: string | null; conversation: string | null }

/**
 * `lost`: the order may have arrived. `not_sent`: proof that it never did (no token, connection refused, spike arrest), so a
 * resend is safe. `refused`: the provider states that no money moves. `duplicate`: it has an order with the same id.
 */
export type Submission =
  | { kind: 'accepted'; provider: ProviderReference; evidence?: Evidence }
  | ({ kind: 'refused' } & Failure)
  | { kind: 'not_sent'; code: string; message: string }
  | { kind: 'lost'; message: string; duplicate?: true }

/** `providerStatus`: the provider's own word for the outcome. */
type Worded = { providerStatus?: string }

/**
 * Only `succeeded`, `failed` and `returned` end an attempt. `amountMinor`: the reported amount, or null. `receipt`: null only for
 * the STK query (the callback may bring it). Messages have no phone or account number. `moved`: money moved, with unreadable
 * amount or receipt. `isUnread`: money came back, with unreadable amount.
 */
export type Evidence =
  | { kind: 'succeeded'; receipt: string | null; amountMinor: Minor | null; payeeName?: string }
  | ({ kind: 'failed' } & Failure & Worded)
  | ({ kind: 'returned'; receipt: string | null; amountMinor: Minor | null; isUnread?: true; message: string } & Worded)
  | { kind: 'pending' }
  | ({ kind: 'unknown'; code: string; message: string; moved?: true } & Worded)

export type Attempt = Pick<Instruction, 'orderId' | 'amountMinor' | 'reference' | 'at' | 'callbacks'> & {
  rail: AnyRail
  provider: ProviderReference
}

export type DeliveryKind = 'result' | 'timeout'

/** A delivery comes to its attempt's secret address. A different id is recorded, unless another order of ours has it. */
export type Delivery = {
  evidence: Evidence
  provider: ProviderReference
  /** Whether it answers our query, and so may decide an earlier report that left doubt. */
  answersQuery?: true
  /** The receiver, if the provider names one. It must be the payee if nothing else shows that this was our order. */
  receiver?: string
}

export type NameQuery = { rail: RailName; destination: string; bankCode: string | null; isPaybill: boolean }

/** `nameless`: the provider gave no name. `unreachable`: a retry may succeed. */
export type NameAnswer = { kind: 'named'; name: string } | { kind: 'nameless' } | { kind: 'unreachable' }

/** Asks the provider for the holder of a destination. Moves no money, and never throws. */
export type LookUp = (query: NameQuery) => Promise<NameAnswer>

/** An adapter has no access to the database. It throws only for bugs, never for a provider's behaviour. */
export type PayoutAdapter = {
  /** Gets the token before an attempt is recorded, because the attempt's time to be sent is short. Never throws. */
  ready: () => Promise<void>
  pay: (instruction: PayoutInstruction) => Promise<Submission>
  /** Null if the provider has no name lookup. */
  lookUp: LookUp | null
  /** `pending` includes an answer that will come as a delivery. */
  query: (attempt: Attempt) => Promise<Evidence>
  /** An unreadable delivery is `unknown`. Refused queries come to the same URL, and are not failed payments. */
  readDelivery: (
    kind: DeliveryKind,
    body: unknown,
    attempt: Pick<Attempt, 'orderId' | 'rail' | 'reference' | 'provider'>,
  ) => Delivery
}

export type Movement = { receipt: string; at: Date; amountMinor: Minor; references: readonly string[] }

/** Allows resending a lost order. `provenFor`: the account that needs a passed test of refused duplicates. Null: the emulator. */
export type Repeats = { provenFor: string | null }

export type PayoutRail = PayoutAdapter & {
  readonly banks: readonly Bank[] | null
  readonly repeats: Repeats | null
  readonly account: string
}

export type CollectionAdapter = {
  ready: () => Promise<void>
  /** Payments received from `start` until before `end`. Undefined unless the provider returns the whole list. */
  listPaidIn: (period: { start: Date; end: Date }) => Promise<Movement[] | undefined>
  collect: (instruction: CollectionInstruction) => Promise<Submission>
  query: (attempt: Attempt) => Promise<Evidence>
  readDelivery: (kind: DeliveryKind, body: unknown) => Delivery
}

/** `holdsCharges`: the provider takes its charges from this account, which falls below zero until they are settled. */
export type AccountBalance = { account: string; currency: string; availableMinor: Minor; holdsCharges: boolean }

export type OrganisationAccount = {
  readonly numbers: readonly string[]
  requestBalances: (number: string, callbacks: CallbackUrls) => Promise<Submission>
  readBalances: (body: unknown) => AccountBalance[] | undefined
}

/** Whether a rail accepts calls now, checked before an attempt is recorded: unsent work stays due, and is not a try. */
export type RailGate = {
  free: () => number
  read: () => { state: 'up' | 'throttled' | 'down'; since: Date | null; underWay: number }
  run: (call: () => Promise<Submission>) => Promise<Submission>
  /** The provider answered another call: a rail that was down may be tried at once. */
  answered: () => void
}

/** Our addresses for a provider's deposit notifications, each with a secret of ours. */
export type DepositUrls = { confirmation: string; validation: string }

/** `reference`: as the payer typed it. */
export type DepositNotification = { receipt: string; at: Date; amountMinor: Minor; reference: string; payerName: string | null }

export type DepositAdapter = {
  instructions: (code: string) => DepositInstructions
  /** Tells the provider our addresses; repeatable. Null if they are entered at the provider by hand. */
  register: ((urls: DepositUrls) => Promise<Submission>) | null
  /** Null if the body is not a deposit, undefined if it is unreadable. Never throws. */
  readNotification: (body: unknown) => DepositNotification | null | undefined
}

export type ProviderRails<P extends Provider> = {
  payout: Readonly<Record<PayoutOf<P>, PayoutAdapter>>
  collection: Readonly<Record<PromptOf<P>, CollectionAdapter>>
  /** Null if deposits are switched off. */
  deposits: Readonly<Record<DepositOf<P>, DepositAdapter | null>>
  account: OrganisationAccount | null
  identity: string
  /** The organisation's numbers that each rail pays from. The statement of another number does not list these payments. */
  numbers: Readonly<Partial<Record<RailOf<P>, readonly string[]>>>
}

export type SomeRails = Pick<ProviderRails<Provider>, 'account' | 'identity' | 'numbers'> & {
  readonly [Part in 'payout' | 'collection' | 'deposits']: Partial<ProviderRails<Provider>[Part]>
}

export type NoToken = { code: string; message: string }
export type HeldToken = { value: string; until: Date }
/** `credentials`: the token's. `refused`: the token that the provider refused last, which is never returned. Never throws. */
export type ShareToken = (asked: {
  provider: Provider
  credentials: readonly string[]
  refused: string | undefined
  fetch: () => Promise<HeldToken | NoToken>
}) => Promise<HeldToken | NoToken>

export type Rails = {
  payout: Readonly<Partial<Record<RailName, PayoutRail>>>
  collection: CollectionAdapter | null
  /** `registersItself`: the provider is the emulator, which gets our addresses at each start. */
  deposits: Readonly<Partial<Record<DepositRail, DepositAdapter & { registersItself: boolean }>>>
  accounts: Readonly<Partial<Record<Provider, OrganisationAccount>>>
  numbers: Readonly<Partial<Record<AnyRail, readonly string[]>>>
  gates: Readonly<Record<SendingRail, RailGate>>
  shareTokens: (share: ShareToken) => void
}

export type SettingsOf<Definition extends { settings: z.ZodRawShape }> = z.output<z.ZodObject<Definition['settings']>>

export type AdapterDeps = { clock: Clock; shareToken?: ShareToken }

/** `problem`: one sentence about what is missing. Null: the requirement is met. */
export type RailCheck = { requirement: string; problem: string | null }

export type Adapter<P extends Provider, Settings, Options> = {
  options: (settings: Settings) => Options
  create: (options: Options, deps: AdapterDeps) => ProviderRails<P>
  check: (options: Options, deps: AdapterDeps) => AsyncIterable<RailCheck>
}
