import type { z } from 'zod'
import type { Bank } from '../lib/banks.ts'
import type { PayeeKind } from '../lib/names/compare.ts'
import type { DepositOf, PayoutOf, PromptOf, Provider } from '../lib/rail-names.ts'
import type { RailLimits } from './rail.ts'

export type Destination = { destination: string; bankCode: string | null }

/** `message` never contains the value of the field. */
export type DestinationProblem = { path: 'destination' | 'bank_code'; message: string }

export type ReadDestination = (destination: string, bankCode: string | null) => Destination | { problem: DestinationProblem }

export type PayoutDefinition<Settings> = {
  destination: string
  readDestination: ReadDestination
  limits: RailLimits
  payee: PayeeKind
  /** Banks that a destination can have. Null: this rail has no banks. */
  banks: (settings: Settings) => readonly Bank[] | null
  /** Form of a reference that selects one of many accounts behind a destination. Null: references are just notes. */
  accountReference: { form: RegExp; problem: string } | null
  /** The provider's reaction to a repeated id: pays again, or refuses. `setting`: whether to resend a lost request. */
  repeat: 'pays_again' | { setting: keyof Settings & string }
  /** Setting required for name lookups. Null: none. */
  namesNeed: (keyof Settings & string) | null
}

export type PromptDefinition = { label: string; limits: RailLimits }

export type DepositDefinition = {
  label: string
  /** Response to a payment notification from the provider. */
  accepted: object
  /** Response to a validation request for an unknown account number. Null: the provider sends none. */
  unknownAccount: object | null
  /** Words that the portal refuses in our addresses for notifications, in lowercase, besides `refusedInCallbacks`. */
  refusedInAddresses: readonly string[]
}

/** Lowercase titles of a column in exports. */
type Columns = readonly string[]

export type StatementForm = {
  /** `party`: the other party, masked. `account`: at a paybill. `linked`: the receipt that a line reverses or belongs to. */
  columns: Readonly<
    Record<'receipt' | 'time' | 'status' | 'in' | 'out' | 'party' | 'account' | 'linked' | 'details' | 'texts', Columns>
  >
  /** Whether the account is at a bank, whose own files are then read too, by the meaning of their titles. */
  isOfBank: boolean
  /** Titles of the rows above the columns: the organisation's number, and its account in the file. */
  heading: { number: Columns; account: Columns }
  /** Lowercase statuses for which money moved. An empty cell also counts. Lines with other statuses are omitted. */
  completed: readonly string[]
  referencesIn: (texts: readonly string[]) => readonly string[]
}

/** Everything specific to a provider, as data and pure functions for settings, API document, statements, checks and texts. */
export type ProviderDefinition<P extends Provider, Shape extends z.ZodRawShape> = {
  provider: P
  /** The provider's name in the setting RAILS. */
  setting: string
  settings: Shape
  required: readonly (keyof Shape & string)[]
  /** Settings that contain a URL for requests, which must be https in production. */
  addresses: readonly (keyof Shape & string)[]
  /** Lowercase words that the provider rejects in a callback URL. */
  refusedInCallbacks: readonly string[]
  /** Settings of earlier releases. Startup fails if `value` matches and `by` is not set, because the value would be lost. */
  replaced: readonly { name: string; value: RegExp; by: keyof Shape & string }[]
  payouts: Readonly<Record<PayoutOf<P>, PayoutDefinition<z.output<z.ZodObject<Shape>>>>>
  prompts: Readonly<Record<PromptOf<P>, PromptDefinition>>
  deposits: Readonly<Record<DepositOf<P>, DepositDefinition>>
  statement: StatementForm
}

/** Converts a union to the intersection of its members. */
export type All<Part> = (Part extends unknown ? (part: Part) => void : never) extends (all: infer Whole) => void ? Whole : never

/** Merges objects whose keys are all different. */
export const merged = <Part extends object>(parts: readonly Part[]): All<Part> => Object.assign({}, ...parts)

export const defineProvider = <P extends Provider, Shape extends z.ZodRawShape, Setting extends string>(
  definition: ProviderDefinition<P, Shape> & { setting: Setting },
): ProviderDefinition<P, Shape> & { setting: Setting } => definition

export type PayoutWords = {
  label: string
  icon: 'phone' | 'receipt' | 'bank'
  category: 'individual' | 'business'
  reach: string
  bank: boolean
  destination: { label: string; hint: string; placeholder: string; inputMode: 'numeric' | 'text' }
}

/** Texts about a provider for dashboard pages. Data only, because it becomes part of the pages' bundle. */
export type ProviderWords<P extends Provider> = {
  provider: P
  label: string
  payouts: Readonly<Record<PayoutOf<P>, PayoutWords>>
  depositActions: Readonly<Record<DepositOf<P>, string>>
}

/** Swahili texts, in a separate file so that pages in other languages do not load them. */
export type PayoutSwahili = Pick<PayoutWords, 'label' | 'reach'> & {
  destination: Pick<PayoutWords['destination'], 'label' | 'hint'>
}
export type ProviderSwahili<P extends Provider> = {
  payouts: Readonly<Record<PayoutOf<P>, PayoutSwahili>>
  depositActions: Readonly<Record<DepositOf<P>, string>>
}
