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
  /** The banks for a destination. Null: destinations of this rail are at no bank. */
  banks: (settings: Settings) => readonly Bank[] | null
  /** The form of a reference that names one of many accounts behind a destination. Null: references are mere notes. */
  accountReference: { form: RegExp; problem: string } | null
  /** The provider's reaction to a repeated id: it pays again, or refuses. `setting`: whether a lost request is sent again. */
  repeat: 'pays_again' | { setting: keyof Settings & string }
  /** The setting that name lookups need. Null: none. */
  namesNeed: (keyof Settings & string) | null
}

export type PromptDefinition = { label: string; limits: RailLimits }

export type DepositDefinition = {
  label: string
  /** The answer to the provider's notification of a payment. */
  accepted: object
  /** The answer to a question about an unknown account number. Null: the provider never asks. */
  unknownAccount: object | null
}

/** Column titles of exports, in lowercase. */
type Columns = readonly string[]

export type StatementForm = {
  /** `party`: the other side, masked. `account`: at a paybill. `linked`: the receipt that a line reverses or belongs to. */
  columns: Readonly<
    Record<'receipt' | 'time' | 'status' | 'in' | 'out' | 'party' | 'account' | 'linked' | 'details' | 'texts', Columns>
  >
  /** The organisation's account is at a bank: also reads the bank's own file, by the meaning of its titles. */
  isOfBank: boolean
  /** Titles of the rows above the columns: the organisation's number, and its account in the file. */
  heading: { number: Columns; account: Columns }
  /** Statuses of moved money, in lowercase; an empty cell counts too. All other lines are omitted. */
  completed: readonly string[]
  referencesIn: (texts: readonly string[]) => readonly string[]
}

/** A provider's differences as facts and pure functions, behind configuration, API document, statements, checks and texts. */
export type ProviderDefinition<P extends Provider, Shape extends z.ZodRawShape> = {
  provider: P
  /** The provider's name in the setting RAILS. */
  setting: string
  settings: Shape
  required: readonly (keyof Shape & string)[]
  /** Settings with an address for requests: https in production. */
  addresses: readonly (keyof Shape & string)[]
  /** Words, in lowercase, for which the provider refuses a callback address. */
  refusedInCallbacks: readonly string[]
  /** Settings of earlier releases. A `value` without the replacing setting `by` would be lost silently, so it is refused. */
  replaced: readonly { name: string; value: RegExp; by: keyof Shape & string }[]
  payouts: Readonly<Record<PayoutOf<P>, PayoutDefinition<z.output<z.ZodObject<Shape>>>>>
  prompts: Readonly<Record<PromptOf<P>, PromptDefinition>>
  deposits: Readonly<Record<DepositOf<P>, DepositDefinition>>
  statement: StatementForm
}

/** The intersection of a union's members. */
export type All<Part> = (Part extends unknown ? (part: Part) => void : never) extends (all: infer Whole) => void ? Whole : never

/** Joins parts whose names are all different. */
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

/** Texts of pages about a provider. Data alone, because the pages' build includes it. */
export type ProviderWords<P extends Provider> = {
  provider: P
  label: string
  payouts: Readonly<Record<PayoutOf<P>, PayoutWords>>
  depositActions: Readonly<Record<DepositOf<P>, string>>
}

/** Swahili texts, kept separate so that pages in other languages do not load them. */
export type PayoutSwahili = Pick<PayoutWords, 'label' | 'reach'> & {
  destination: Pick<PayoutWords['destination'], 'label' | 'hint'>
}
export type ProviderSwahili<P extends Provider> = {
  payouts: Readonly<Record<PayoutOf<P>, PayoutSwahili>>
  depositActions: Readonly<Record<DepositOf<P>, string>>
}
