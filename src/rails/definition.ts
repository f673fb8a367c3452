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
  /** The banks that a destination may be at; null where it is at none. */
  banks: (settings: Settings) => readonly Bank[] | null
  /** The form of a reference that names one of many accounts behind a destination. Null: a reference is a note, and names nobody who is paid. */
  accountReference: { form: RegExp; problem: string } | null
  /** What a repeated request under the same id does: it pays again, or is refused. `setting` says whether a lost one is sent again. */
  repeat: 'pays_again' | { setting: keyof Settings & string }
  /** The setting without which the rail cannot be asked for names; null: it needs none of its own. */
  namesNeed: (keyof Settings & string) | null
}

export type PromptDefinition = { label: string; limits: RailLimits }

export type DepositDefinition = {
  label: string
  /** The answer to the provider's notice of a payment. */
  accepted: object
  /** The answer when asked beforehand about an account number that does not exist; null where the provider never asks. */
  unknownAccount: object | null
}

/** The names, in lower case, under which exports have a column. */
type Columns = readonly string[]

export type StatementForm = {
  /** `party`: the other side, masked. `account`: the one at a paybill. `linked`: the receipt that a line undoes or belongs to. */
  columns: Readonly<
    Record<'receipt' | 'time' | 'status' | 'in' | 'out' | 'party' | 'account' | 'linked' | 'details' | 'texts', Columns>
  >
  /** The organisation's account is at a bank: the bank's own file is read too, by what its titles mean. */
  isOfBank: boolean
  /** Names of the rows above the columns: the organisation's number, and which of its accounts the file is of. */
  heading: { number: Columns; account: Columns }
  /** What the status says, in lower case, of money that has moved; an empty cell says the same. All other lines are left out. */
  completed: readonly string[]
  referencesIn: (texts: readonly string[]) => readonly string[]
}

/** What differs by provider, as facts and pure functions: configuration, API document, statements, checks and texts are views of it. */
export type ProviderDefinition<P extends Provider, Shape extends z.ZodRawShape> = {
  provider: P
  /** Its name in the setting RAILS. */
  setting: string
  settings: Shape
  required: readonly (keyof Shape & string)[]
  /** The settings with an address that requests go to: https in production. */
  addresses: readonly (keyof Shape & string)[]
  /** Words, in lower case, for which the provider refuses an address to deliver to. */
  refusedInCallbacks: readonly string[]
  /** Settings of earlier releases: one with this `value`, without the setting `by` that replaces it, would be lost unnoticed. */
  replaced: readonly { name: string; value: RegExp; by: keyof Shape & string }[]
  payouts: Readonly<Record<PayoutOf<P>, PayoutDefinition<z.output<z.ZodObject<Shape>>>>>
  prompts: Readonly<Record<PromptOf<P>, PromptDefinition>>
  deposits: Readonly<Record<DepositOf<P>, DepositDefinition>>
  statement: StatementForm
}

/** All members of a union at once. */
export type All<Part> = (Part extends unknown ? (part: Part) => void : never) extends (all: infer Whole) => void ? Whole : never

/** Joins parts of which no two have a name in common. */
export const together = <Part extends object>(parts: readonly Part[]): All<Part> => Object.assign({}, ...parts)

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

/** What pages say about a provider: data alone, because pages are built with it. */
export type ProviderWords<P extends Provider> = {
  provider: P
  label: string
  payouts: Readonly<Record<PayoutOf<P>, PayoutWords>>
  depositActions: Readonly<Record<DepositOf<P>, string>>
}

/** The same for whoever reads Swahili, apart, because other pages need not load it. */
export type PayoutSwahili = Pick<PayoutWords, 'label' | 'reach'> & {
  destination: Pick<PayoutWords['destination'], 'label' | 'hint'>
}
export type ProviderSwahili<P extends Provider> = {
  payouts: Readonly<Record<PayoutOf<P>, PayoutSwahili>>
  depositActions: Readonly<Record<DepositOf<P>, string>>
}
