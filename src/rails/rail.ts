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
 * The adapter takes it once it is connected, right before the first byte; on false nothing is sent. `fingerprint`: a hash of the order as the
 * provider gets it. `withinMs`: the longest time until it is taken.
 */
export type SendPermission = { withinMs: number; take: (fingerprint: Buffer) => Promise<boolean> }

/** `orderId` (a UUID) and `reference` (12 digits) stay the same however often the order is sent, and no other order has them. */
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
  /** The account that pays, as it is named here: a movement that no record explains leads to it. */
  payer: string
}

export type CollectionInstruction = Instruction & { phoneNumber: string }

export type ProviderReference = { request: string | null; conversation: string | null }

/**
 * `lost`: the order may have arrived. `not_sent`: proof that it never did (no token, connection refused, spike arrest), so sending again is safe.
 * `refused`: the provider states that no money moves. `duplicate`: the provider has an order with the same id.
 */
export type Submission =
  | { kind: 'accepted'; provider: ProviderReference; evidence?: Evidence }
  | ({ kind: 'refused' } & Failure)
  | { kind: 'not_sent'; code: string; message: string }
  | { kind: 'lost'; message: string; duplicate?: true }

/**
 * Only `succeeded`, `failed` and `returned` end an attempt. `amountMinor`: as the provider reports it, null when it reports none. `receipt` is null
 * only for the STK query: the callback may still bring it. Messages contain no phone or account number. `moved`: money moved, but how much, or
 * under which receipt, cannot be read. `isUnread`: money came back, and how much cannot be read. `word`: the provider's own for the outcome.
 */
export type Evidence =
  | { kind: 'succeeded'; receipt: string | null; amountMinor: Minor | null; payeeName?: string }
  | ({ kind: 'failed'; word?: string } & Failure)
  | { kind: 'returned'; receipt: string | null; amountMinor: Minor | null; isUnread?: true; message: string; word?: string }
  | { kind: 'pending' }
  | { kind: 'unknown'; code: string; message: string; moved?: true; word?: string }

export type Attempt = Pick<Instruction, 'orderId' | 'amountMinor' | 'reference' | 'at' | 'callbacks'> & {
  rail: AnyRail
  provider: ProviderReference
}

export type DeliveryKind = 'result' | 'timeout'

/** A delivery comes to its attempt's secret address: an id that differs is noted, unless another order of ours has it. */
export type Delivery = {
  evidence: Evidence
  provider: ProviderReference
  /** It answers a query of ours, and so may decide what a report has left in doubt. */
  answersQuery?: true
  /** Who was paid, where the provider says it: it must be the payee where nothing else shows that this was our order. */
  receiver?: string
}

export type NameQuery = { rail: RailName; destination: string; bankCode: string | null; isPaybill: boolean }

/** `nameless`: the provider gave no name. `unreachable`: it may be asked again. */
export type NameAnswer = { kind: 'named'; name: string } | { kind: 'nameless' } | { kind: 'unreachable' }

/** Asks the provider who a destination belongs to. It moves no money, and never throws. */
export type LookUp = (query: NameQuery) => Promise<NameAnswer>

/** An adapter has no access to the database. It throws only for bugs, never for what the provider does. */
export type PayoutAdapter = {
  /** Gets the token before an attempt is recorded, whose time to be sent is short. Never throws. */
  ready: () => Promise<void>
  pay: (instruction: PayoutInstruction) => Promise<Submission>
  /** Null where the provider is not asked for names. */
  lookUp: LookUp | null
  /** `pending` also when the provider's answer will come as a delivery. */
  query: (attempt: Attempt) => Promise<Evidence>
  /** What cannot be understood is `unknown`. A refused query of ours comes to the same URL, and is no failed payment. */
  readDelivery: (
    kind: DeliveryKind,
    body: unknown,
    attempt: Pick<Attempt, 'orderId' | 'rail' | 'reference' | 'provider'>,
  ) => Delivery
}

export type Movement = { receipt: string; at: Date; amountMinor: Minor; references: readonly string[] }

/** Allows sending a lost order again. `provenFor`: the account for which a test must show that duplicates are refused; null: the emulator. */
export type Repeats = { provenFor: string | null }

export type PayoutRail = PayoutAdapter & {
  readonly banks: readonly Bank[] | null
  readonly repeats: Repeats | null
  readonly account: string
}

export type CollectionAdapter = {
  ready: () => Promise<void>
  /** What was paid in from `start` until before `end`; undefined when the provider does not return the whole list. */
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

/** Whether a rail accepts calls now, checked before an attempt is recorded: what is not sent now stays due, and does not count as a try. */
export type RailGate = {
  free: () => number
  read: () => { state: 'up' | 'throttled' | 'down'; since: Date | null; underWay: number }
  run: (call: () => Promise<Submission>) => Promise<Submission>
  /** The provider answered another call: a rail that was down may be tried at once. */
  answered: () => void
}

/** Where a provider tells us of deposits. Each address has a secret of ours. */
export type DepositUrls = { confirmation: string; validation: string }

/** `reference`: what the payer typed. */
export type DepositNotice = { receipt: string; at: Date; amountMinor: Minor; reference: string; payerName: string | null }

export type DepositAdapter = {
  instructions: (code: string) => DepositInstructions
  /** Tells the provider our addresses, and may be repeated. Null where they are entered at the provider by hand. */
  register: ((urls: DepositUrls) => Promise<Submission>) | null
  /** Null for what is no deposit, undefined for what cannot be understood. It never throws. */
  readNotice: (body: unknown) => DepositNotice | null | undefined
}

export type ProviderRails<P extends Provider> = {
  payout: Readonly<Record<PayoutOf<P>, PayoutAdapter>>
  collection: Readonly<Record<PromptOf<P>, CollectionAdapter>>
  /** Null where deposits are switched off. */
  deposits: Readonly<Record<DepositOf<P>, DepositAdapter | null>>
  account: OrganisationAccount | null
  identity: string
  /** The organisation's numbers by which each rail moves money: the statement of another number does not list it. */
  numbers: Readonly<Partial<Record<RailOf<P>, readonly string[]>>>
}

export type SomeRails = Pick<ProviderRails<Provider>, 'account' | 'identity' | 'numbers'> & {
  readonly [Part in 'payout' | 'collection' | 'deposits']: Partial<ProviderRails<Provider>[Part]>
}

export type NoToken = { code: string; message: string }
export type HeldToken = { value: string; until: Date }
/** `credentials`: what a token is given for. `refused`: the token that the provider refused last, which is never the answer. Never throws. */
export type ShareToken = (asked: {
  provider: Provider
  credentials: readonly string[]
  refused: string | undefined
  fetch: () => Promise<HeldToken | NoToken>
}) => Promise<HeldToken | NoToken>

export type Rails = {
  payout: Readonly<Partial<Record<RailName, PayoutRail>>>
  collection: CollectionAdapter | null
  /** `registersItself`: the provider is the emulator, which is told our addresses at each start. */
  deposits: Readonly<Partial<Record<DepositRail, DepositAdapter & { registersItself: boolean }>>>
  accounts: Readonly<Partial<Record<Provider, OrganisationAccount>>>
  numbers: Readonly<Partial<Record<AnyRail, readonly string[]>>>
  gates: Readonly<Record<SendingRail, RailGate>>
  shareTokens: (share: ShareToken) => void
}

export type SettingsOf<Definition extends { settings: z.ZodRawShape }> = z.output<z.ZodObject<Definition['settings']>>

export type AdapterDeps = { clock: Clock; shareToken?: ShareToken }

/** `problem`: a sentence that says what is missing; null when the requirement is met. */
export type RailCheck = { requirement: string; problem: string | null }

export type Adapter<P extends Provider, Settings, Options> = {
  options: (settings: Settings) => Options
  create: (options: Options, deps: AdapterDeps) => ProviderRails<P>
  check: (options: Options, deps: AdapterDeps) => AsyncIterable<RailCheck>
}
