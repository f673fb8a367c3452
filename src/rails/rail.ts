import type { z } from 'zod'
import type { Failure } from '../errors/failures.ts'
import type { Bank } from '../lib/banks.ts'
import type { Clock } from '../lib/clock.ts'
import type { DepositInstructions } from '../lib/deposit-code.ts'
import type { Minor } from '../lib/money.ts'
import type { AnyRail, DepositOf, DepositRail, PayoutOf, PromptOf, Provider, RailName, RailOf } from '../lib/rail-names.ts'

/** How long a request to a provider may take. */
export const longestRequestMs = 30_000

/** What a rail can move at all. `wholeUnits`: amounts are multiples of 100 minor units. */
export type RailLimits = { minMinor: Minor; maxMinor: Minor; wholeUnits: boolean }

/** Where the provider's deliveries for one attempt arrive; each URL carries the attempt's id and a secret of ours. */
export type CallbackUrls = { result: string; timeout: string }

/**
 * The right to send, taken by an adapter once its connection to the provider is established, right before the first byte. On false the
 * result is `not_sent`. `fingerprint`: a hash of the order as the provider gets it. `withinMs`: the longest time until it is taken.
 */
export type SendPermission = { withinMs: number; take: (fingerprint: Buffer) => Promise<boolean> }

/** `orderId` is a UUID of ours, `reference` 12 digits: both are the same however often the order is sent, and no other order's. */
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

/** A top-up: the payer gets a prompt on the phone to pay. */
export type CollectionInstruction = Instruction & { phoneNumber: string }

/** The provider's ids, stored with the attempt for later queries. */
export type ProviderReference = { request: string | null; conversation: string | null }

/**
 * The answer to a send. `lost`: it may have arrived, so it is never sent again. `not_sent`: proof that it never reached the provider (no
 * token, connection refused, spike arrest): sending again is safe. `refused`: the provider states that no money moves.
 * `duplicate`: the provider has an order with the same id, so what was sent before has arrived.
 */
export type Submission =
  | { kind: 'accepted'; provider: ProviderReference; evidence?: Evidence }
  | ({ kind: 'refused' } & Failure)
  | { kind: 'not_sent'; code: string; message: string }
  | { kind: 'lost'; message: string; duplicate?: true }

/**
 * What the provider reports. Only `succeeded`, `failed` and `returned` are evidence; `pending` and `unknown` end nothing. `amountMinor` is
 * the amount that the provider reports (null when it reports none): a person looks at a difference. `receipt` is null only where the proof
 * has none (the STK query): the callback may still bring it. Messages contain no phone or account number.
 * `payeeName`: whose number it is, as the provider writes it. `moved`: money moved, and how much or under which receipt cannot be read.
 */
export type Evidence =
  | { kind: 'succeeded'; receipt: string | null; amountMinor: Minor | null; payeeName?: string }
  | ({ kind: 'failed' } & Failure)
  | { kind: 'returned'; receipt: string | null; amountMinor: Minor | null; message: string }
  | { kind: 'pending' }
  | { kind: 'unknown'; code: string; message: string; moved?: true }

export type Attempt = Pick<Instruction, 'orderId' | 'amountMinor' | 'reference' | 'at' | 'callbacks'> & {
  rail: AnyRail
  provider: ProviderReference
}

/** The attempt's URL at which a delivery arrived. */
export type DeliveryKind = 'result' | 'timeout'

/** It came to the attempt's secret address, so it is about the attempt: a differing id is noted, unless another order of ours has it. */
export type Delivery = {
  evidence: Evidence
  provider: ProviderReference
  /** It answers a query of ours, which may decide what a report has left in doubt. */
  answersQuery?: true
  /** Who was paid, where the provider says it: it must be the payee where nothing else shows that this was our order. */
  receiver?: string
}

/** Whose name is asked for. `isPaybill`: the number of an organisation is a paybill, not a till. */
export type NameQuery = { rail: RailName; destination: string; bankCode: string | null; isPaybill: boolean }

/** `nameless`: the provider answered, and gave no name. `unreachable`: nothing is known, and it may be asked again. */
export type NameAnswer = { kind: 'named'; name: string } | { kind: 'nameless' } | { kind: 'unreachable' }

/** Asks the provider who a destination belongs to. It moves nothing, and never throws. */
export type LookUp = (query: NameQuery) => Promise<NameAnswer>

/** What calls a provider to pay. It has no access to the database. It throws only for bugs, never for what the provider does. */
export type PayoutAdapter = {
  /** Gets the access token before an attempt is recorded, whose time to be sent is short. Never throws: the send itself reports the lack. */
  ready: () => Promise<void>
  pay: (instruction: PayoutInstruction) => Promise<Submission>
  /** Null: it cannot be asked for names. */
  lookUp: LookUp | null
  /** Asks for the outcome of an attempt. Also `pending` when the provider's answer will come as a delivery. */
  query: (attempt: Attempt) => Promise<Evidence>
  /** Never throws: what cannot be understood is `unknown`. A refused query of ours comes to the same URL, and is no failed payment. */
  readDelivery: (
    kind: DeliveryKind,
    body: unknown,
    attempt: Pick<Attempt, 'orderId' | 'rail' | 'reference' | 'provider'>,
  ) => Delivery
}

/** Money that moved, as the provider lists it: positive for incoming money. */
export type Movement = { receipt: string; at: Date; amountMinor: Minor; references: readonly string[] }

/** A lost order is sent again. `provenFor`: the account for which a test must show that duplicates are refused; null: the emulator. */
export type Repeats = { provenFor: string | null }

/** `problem`: what is said of a reference that has not this form. */
export type AccountReferenceForm = { form: RegExp; problem: string }

/** A rail that pays, with the limits of this deployment. `lookUp` is null where the provider is not asked for names. */
export type PayoutRail = PayoutAdapter & {
  /** The form of a reference that names the account paid; null where a reference is a note. */
  readonly accountReference: AccountReferenceForm | null
  /** The banks that a destination may be at; null where it is at none. */
  readonly banks: readonly Bank[] | null
  readonly limits: RailLimits
  readonly repeats: Repeats | null
  /** What identifies the organisation at the provider. */
  readonly account: string
}

/** What calls a provider to collect by a prompt (top-ups). */
export type CollectionAdapter = {
  ready: () => Promise<void>
  /** Everything that was paid in from `start` until before `end`; undefined when the provider does not return the whole list. */
  listPaidIn: (period: { start: Date; end: Date }) => Promise<Movement[] | undefined>
  collect: (instruction: CollectionInstruction) => Promise<Submission>
  query: (attempt: Attempt) => Promise<Evidence>
  readDelivery: (kind: DeliveryKind, body: unknown) => Delivery
}

export type CollectionRail = CollectionAdapter & { readonly limits: RailLimits }

/** The balance of one of the organisation's accounts at the provider. */
export type AccountBalance = { account: string; currency: string; availableMinor: Minor }

/** The organisation's own accounts at a provider. Every answer comes as a delivery. */
export type OrganisationAccount = {
  /** Their numbers at the provider, each once: the shortcode for incoming money, and those for outgoing money. */
  readonly numbers: readonly string[]
  /** Asks for the balances of one account. Moves nothing. */
  requestBalances: (number: string, callbacks: CallbackUrls) => Promise<Submission>
  readBalances: (body: unknown) => AccountBalance[] | undefined
}

/** Whether a rail accepts calls now. Checked before an attempt is recorded: what is not sent now stays due, and does not count as a try. */
export type RailGate = {
  /** How many more calls may begin now. */
  free: () => number
  read: () => { state: 'up' | 'throttled' | 'down'; since: Date | null; underWay: number }
  /** Records a call and its result. */
  run: (call: () => Promise<Submission>) => Promise<Submission>
  /** The provider answered another call: a rail that was down may be tried at once. */
  answered: () => void
}

/** Where a provider tells us of deposits. Each address has a secret of ours. */
export type DepositUrls = { confirmation: string; validation: string }

/** A deposit as a provider reports it. `reference`: what the payer typed. `payer.phone` may be masked or hashed. */
export type DepositNotice = {
  receipt: string
  at: Date
  amountMinor: Minor
  reference: string
  payer: { name: string | null; phone: string | null }
}

export type DepositAdapter = {
  instructions: (code: string) => DepositInstructions
  /** Tells the provider our addresses. It moves nothing, and may be repeated. Null where they are entered at the provider by hand. */
  register: ((urls: DepositUrls) => Promise<Submission>) | null
  /** Null for what is no deposit, undefined for a body that cannot be understood. It never throws. */
  readNotice: (body: unknown) => DepositNotice | null | undefined
}

/** What an adapter offers: each rail of its provider. */
export type ProviderRails<P extends Provider> = {
  payout: Readonly<Record<PayoutOf<P>, PayoutAdapter>>
  collection: Readonly<Record<PromptOf<P>, CollectionAdapter>>
  /** Null where deposits are switched off. */
  deposits: Readonly<Record<DepositOf<P>, DepositAdapter | null>>
  account: OrganisationAccount | null
  /** What identifies the organisation at the provider. */
  identity: string
  /** The organisation's numbers at the provider by which each rail moves money: the statement of another one does not list it. */
  numbers: Readonly<Partial<Record<RailOf<P>, readonly string[]>>>
}

/** The same for any provider. */
export type SomeRails = Pick<ProviderRails<Provider>, 'account' | 'identity' | 'numbers'> & {
  readonly [Part in 'payout' | 'collection' | 'deposits']: Partial<ProviderRails<Provider>[Part]>
}

export type NoToken = { code: string; message: string }
/** A token, and when it is renewed. */
export type HeldToken = { value: string; until: Date }
/**
 * What the processes of a deployment share a provider's token through: answers the token that all of them use, and lets one of them fetch a new
 * one. `credentials`: what a token is given for. `refused`: the token that the provider refused last, never an answer. Never throws.
 */
export type ShareToken = (asked: {
  provider: Provider
  credentials: readonly string[]
  refused: string | undefined
  fetch: () => Promise<HeldToken | NoToken>
}) => Promise<HeldToken | NoToken>

/** Every rail of a deployment, by name. A rail that is not configured is missing. */
export type Rails = {
  payout: Readonly<Partial<Record<RailName, PayoutRail>>>
  collection: CollectionRail | null
  /** `registersItself`: the provider is the emulator, which is told our addresses at each start. */
  deposits: Readonly<Partial<Record<DepositRail, DepositAdapter & { registersItself: boolean }>>>
  /** The organisation's accounts at each provider that can be asked for them. */
  accounts: Readonly<Partial<Record<Provider, OrganisationAccount>>>
  /** The organisation's numbers at the provider by which each rail moves money. A rail that is not configured is missing. */
  numbers: Readonly<Partial<Record<AnyRail, readonly string[]>>>
  /** Whether each rail accepts calls now. A rail without a gate always does. */
  gates: Readonly<Partial<Record<AnyRail, RailGate>>>
  /** From then on the providers' tokens are shared with other processes. Until then, this process has its own. */
  shareTokens: (share: ShareToken) => void
}

/** The settings of a provider, as its definition states them. */
export type SettingsOf<Definition extends { settings: z.ZodRawShape }> = z.output<z.ZodObject<Definition['settings']>>

/** Without `shareToken` a process has a token of its own. */
export type AdapterDeps = { clock: Clock; shareToken?: ShareToken }

/** One requirement of a rail, and what is missing, in a sentence; null when it is met. */
export type RailCheck = { requirement: string; problem: string | null }

/** What calls one provider. `Settings`: what it reads of the configuration; `Options`: what it needs to call the provider. */
export type Adapter<P extends Provider, Settings, Options> = {
  options: (settings: Settings) => Options
  create: (options: Options, deps: AdapterDeps) => ProviderRails<P>
  /** Tests what it needs, without moving money. */
  check: (options: Options, deps: AdapterDeps) => AsyncIterable<RailCheck>
}
