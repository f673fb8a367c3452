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

/** `wholeUnits`: amounts must be multiples of 100 minor units. */
export type RailLimits = { minMinor: Minor; maxMinor: Minor; wholeUnits: boolean }

export type CallbackUrls = { result: string; timeout: string }

/**
 * The adapter calls `take` on an open connection, right before the first byte. If it returns false, nothing is sent.
 * `fingerprint`: hash of the order in the provider's format. `withinMs`: the time limit for calling `take`.
 */
export type SendPermission = { withinMs: number; take: (fingerprint: Buffer) => Promise<boolean> }

/** `orderId` (a UUID) and `reference` (12 digits) are unique to an order and the same for each of its sends. */
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
  /** Our name for the paying account, so that an unexplained movement can be traced to it. */
  payer: string
}

export type CollectionInstruction = Instruction & { phoneNumber: string }

export type ProviderReference = { request: string | null; conversation: string | null }

/**
 * `lost`: the order may have arrived. `not_sent`: proof that it did not (no token, connection refused, spike arrest), so a resend
 * is safe. `refused`: the provider states that no money moves. `duplicate`: the provider has an order with the same id.
 */
export type Submission =
  | { kind: 'accepted'; provider: ProviderReference; evidence?: Evidence }
  | ({ kind: 'refused' } & Failure)
  | { kind: 'not_sent'; code: string; message: string }
  | { kind: 'lost'; message: string; duplicate?: true }

/** `providerStatus`: the provider's own status word. */
type WithStatus = { providerStatus?: string }

/**
 * Only `succeeded`, `failed` and `returned` end an attempt. `amountMinor`: as reported, or null. `receipt`: null only for the STK
 * query, after which the callback may deliver it. Messages contain no phone or account numbers. `moved`: money moved, but amount
 * or receipt is unreadable. `isUnread`: money came back, but the amount is unreadable.
 */
export type Evidence =
  | { kind: 'succeeded'; receipt: string | null; amountMinor: Minor | null; payeeName?: string }
  | ({ kind: 'failed' } & Failure & WithStatus)
  | ({ kind: 'returned'; receipt: string | null; amountMinor: Minor | null; isUnread?: true; message: string } & WithStatus)
  | { kind: 'pending' }
  | ({ kind: 'unknown'; code: string; message: string; moved?: true } & WithStatus)

export type Attempt = Pick<Instruction, 'orderId' | 'amountMinor' | 'reference' | 'at' | 'callbacks'> & {
  rail: AnyRail
  provider: ProviderReference
}

export type DeliveryKind = 'result' | 'timeout'

/** A callback, received at its attempt's secret URL. Another id in it is recorded, unless it belongs to another order of ours. */
export type Delivery = {
  evidence: Evidence
  provider: ProviderReference
  /** Whether this responds to our query, which can resolve an earlier doubtful report. */
  answersQuery?: true
  /** The receiver, if reported. It must be the payee if nothing else shows that this was our order. */
  receiver?: string
}

export type NameQuery = { rail: RailName; destination: string; bankCode: string | null; isPaybill: boolean }

/** `nameless`: the provider returned no name. `unreachable`: a retry may succeed. */
export type NameAnswer = { kind: 'named'; name: string } | { kind: 'nameless' } | { kind: 'unreachable' }

/** Queries the provider for a destination's holder. Moves no money and never throws. */
export type LookUp = (query: NameQuery) => Promise<NameAnswer>

/** Adapters have no access to the database. They throw only for bugs, never because of a provider. */
export type PayoutAdapter = {
  /** Obtains a token before an attempt is recorded, because an attempt must then be sent quickly. Never throws. */
  ready: () => Promise<void>
  pay: (instruction: PayoutInstruction) => Promise<Submission>
  /** Null if the provider has no name lookup. */
  lookUp: LookUp | null
  /** `pending` includes a result that will arrive as a callback. */
  query: (attempt: Attempt) => Promise<Evidence>
  /** An unreadable callback is `unknown`. Failed queries arrive at the same URL and are not failed payments. */
  readDelivery: (
    kind: DeliveryKind,
    body: unknown,
    attempt: Pick<Attempt, 'orderId' | 'rail' | 'reference' | 'provider'>,
  ) => Delivery
}

export type ListedPayment = { receipt: string; at: Date; amountMinor: Minor; references: readonly string[] }

/** Permits resending a lost order. `provenFor`: the account that must have passed the duplicate test. Null: the emulator. */
export type Repeats = { provenFor: string | null }

export type PayoutRail = PayoutAdapter & {
  readonly banks: readonly Bank[] | null
  readonly repeats: Repeats | null
  readonly account: string
}

export type CollectionAdapter = {
  ready: () => Promise<void>
  /**
   * Payments received from `start` (inclusive) to `end` (exclusive). Undefined if the provider's list is incomplete, or if an
   * entry cannot be read, unless `skipsUnreadable` leaves such entries out.
   */
  listPaidIn: (period: { start: Date; end: Date; skipsUnreadable?: boolean }) => Promise<ListedPayment[] | undefined>
  collect: (instruction: CollectionInstruction) => Promise<Submission>
  query: (attempt: Attempt) => Promise<Evidence>
  readDelivery: (kind: DeliveryKind, body: unknown) => Delivery
}

/** `holdsCharges`: the provider deducts charges from this account, which is negative until they are settled. */
export type AccountBalance = { account: string; currency: string; availableMinor: Minor; holdsCharges: boolean }

export type OrganisationAccount = {
  readonly numbers: readonly string[]
  requestBalances: (number: string, callbacks: CallbackUrls) => Promise<Submission>
  /** `refused`: the provider's code, for example because the initiator may not query balances. */
  readBalances: (body: unknown) => AccountBalance[] | { refused: string } | undefined
}

/** Whether a rail accepts calls, checked before an attempt is recorded: unsent work stays due and does not count as a try. */
export type RailGate = {
  free: () => number
  read: () => { state: 'up' | 'throttled' | 'down'; since: Date | null; underWay: number }
  run: (call: () => Promise<Submission>) => Promise<Submission>
  /** Called when the provider answered another call, so that a rail that was down can be retried at once. */
  answered: () => void
}

/** Our callback URLs for a provider's deposit notifications, each with a secret. */
export type DepositUrls = { confirmation: string; validation: string }

/** `kept`: the provider has URLs already and does not replace them, as it `said`. `problem`: what is not registered, or null. */
export type DepositRegistration = { urls: 'registered' | 'kept' | 'failed'; said?: string; problem: string | null }

/** `reference`: as the payer typed it. `currency`: as stated. Missing if the provider has only one. */
export type DepositNotification = {
  receipt: string
  at: Date
  amountMinor: Minor
  reference: string
  payerName: string | null
  currency?: string
}

/** Money whose amount or time cannot be read, or that was not paid to us. `receipt`: null if it cannot be read either. */
export type UnreadableNotification = { unreadable: true; receipt: string | null }

export type DepositAdapter = {
  instructions: (code: string) => DepositInstructions
  /** Registers our URLs with the provider. Idempotent. Null if an operator enters them at the provider. */
  register: ((urls: DepositUrls) => Promise<DepositRegistration>) | null
  /** Null if the body is not a deposit. Never throws. */
  readNotification: (body: unknown) => DepositNotification | UnreadableNotification | null
}

export type ProviderRails<P extends Provider> = {
  payout: Readonly<Record<PayoutOf<P>, PayoutAdapter>>
  collection: Readonly<Record<PromptOf<P>, CollectionAdapter>>
  /** Null if deposits are off. */
  deposits: Readonly<Record<DepositOf<P>, DepositAdapter | null>>
  account: OrganisationAccount | null
  identity: string
  /** The organisation's numbers that each rail pays from. Only the statements of these numbers list its payments. */
  numbers: Readonly<Partial<Record<RailOf<P>, readonly string[]>>>
}

export type ConnectedProvider = Pick<ProviderRails<Provider>, 'account' | 'identity' | 'numbers'> & {
  readonly [Part in 'payout' | 'collection' | 'deposits']: Partial<ProviderRails<Provider>[Part]>
}

export type NoToken = { code: string; message: string }
export type HeldToken = { value: string; until: Date }
/** `credentials`: for the token. `refused`: the token that the provider rejected last, which is never returned. Never throws. */
export type ShareToken = (asked: {
  provider: Provider
  credentials: readonly string[]
  refused: string | undefined
  fetch: () => Promise<HeldToken | NoToken>
}) => Promise<HeldToken | NoToken>

export type Rails = {
  payout: Readonly<Partial<Record<RailName, PayoutRail>>>
  collection: CollectionAdapter | null
  /** `isEmulator`: the provider is the emulator, at which our URLs are registered at each start. */
  deposits: Readonly<Partial<Record<DepositRail, DepositAdapter & { isEmulator: boolean }>>>
  accounts: Readonly<Partial<Record<Provider, OrganisationAccount>>>
  numbers: Readonly<Partial<Record<AnyRail, readonly string[]>>>
  gates: Readonly<Record<SendingRail, RailGate>>
  setTokenSharing: (share: ShareToken) => void
}

export type SettingsOf<Definition extends { settings: z.ZodRawShape }> = z.output<z.ZodObject<Definition['settings']>>

export type AdapterDeps = { clock: Clock; shareToken?: ShareToken }

/** `problem`: one sentence about what is missing. Null if the requirement is met. */
export type RailCheck = { requirement: string; problem: string | null }

export type Adapter<P extends Provider, Settings, Options> = {
  options: (settings: Settings) => Options
  create: (options: Options, deps: AdapterDeps) => ProviderRails<P>
  check: (options: Options, deps: AdapterDeps) => AsyncIterable<RailCheck>
}
