import type { z } from 'zod'
import type { Bank } from '../lib/banks.ts'
import type { PayeeKind } from '../lib/names/compare.ts'
import type { DepositOf, PayoutOf, PromptOf, Provider } from '../lib/rail-names.ts'
import type { AccountReferenceForm, RailLimits } from './rail.ts'

/** A destination in the one form in which it is stored and compared. */
export type Destination = { destination: string; bankCode: string | null }

/** What is wrong with a destination: the field, and a sentence that never contains the value. */
export type DestinationProblem = { path: 'destination' | 'bank_code'; message: string }

export type ReadDestination = (destination: string, bankCode: string | null) => Destination | { problem: DestinationProblem }

/** Everything that differs by the rail that a payment goes out by. */
export type PayoutDefinition<Settings> = {
  /** What a destination is, for the API's document: "a Kenyan mobile number". */
  destination: string
  readDestination: ReadDestination
  limits: RailLimits
  /** Whose names it reports. */
  payee: PayeeKind
  /** The banks that a destination may be at; null where it is at none. */
  banks: (settings: Settings) => readonly Bank[] | null
  /** The form of a reference that names one of many accounts behind a destination. Null: a reference is a note, and names nobody who is paid. */
  accountReference: AccountReferenceForm | null
  /** What the same request under the same id does: it pays once more, or is refused. `setting`: whether a lost one is sent again. */
  repeat: 'pays_again' | { setting: keyof Settings & string }
  /** The setting without which it cannot be asked for names; null: it needs none of its own. */
  namesNeed: (keyof Settings & string) | null
}

/** Everything that differs by the rail that sends a prompt to a payer's phone. */
export type PromptDefinition = { label: string; limits: RailLimits }

/** Everything that differs by the rail that a person pays in by. */
export type DepositDefinition = {
  label: string
  /** The answer to the provider's notice of a payment. */
  accepted: object
  /** The answer when the provider asks beforehand about an account number that does not exist here; null where it never asks. */
  unknownAccount: object | null
}

/** The names, in lower case, that a column of an export has been seen under. */
type Columns = readonly string[]

/** The statement that a provider's portal exports. */
export type StatementForm = {
  /** `party`: the other side, masked. `account`: that at a paybill. `linked`: the receipt that a line undoes or belongs to. `details`: what it is. */
  columns: Readonly<
    Record<'receipt' | 'time' | 'status' | 'in' | 'out' | 'party' | 'account' | 'linked' | 'details' | 'texts', Columns>
  >
  /** What stands above the columns, under these names in lower case: the organisation's number, and which account of it the file is of. */
  heading: { number: Columns; account: Columns }
  /** What the column of the status says, in lower case, of money that has moved; an empty cell says the same. All other lines are left out. */
  completed: readonly string[]
  /** What a line's texts name that may be ours. */
  referencesIn: (texts: readonly string[]) => readonly string[]
}

/**
 * Everything that differs by provider, as plain facts and pure functions: configuration, API document, statements, checks and texts are
 * views of it. Beside it in the provider's folder stand what calls the provider, its adapter, and what plays it, its emulator.
 */
export type ProviderDefinition<P extends Provider, Shape extends z.ZodRawShape> = {
  provider: P
  /** Its name in the setting RAILS. */
  setting: string
  settings: Shape
  /** The settings without which it cannot be used. */
  required: readonly (keyof Shape & string)[]
  /** The settings with an address that requests go to: https in production. */
  addresses: readonly (keyof Shape & string)[]
  /** Words, in lower case, for which it refuses an address to deliver to. */
  refusedInCallbacks: readonly string[]
  /** Settings of earlier releases, and what says the same today: with this value, and without that one, their loss would go unnoticed. */
  replaced: readonly { name: string; value: RegExp; by: keyof Shape & string }[]
  payouts: Readonly<Record<PayoutOf<P>, PayoutDefinition<z.output<z.ZodObject<Shape>>>>>
  prompts: Readonly<Record<PromptOf<P>, PromptDefinition>>
  deposits: Readonly<Record<DepositOf<P>, DepositDefinition>>
  statement: StatementForm
}

/** The type that is all members of a union at once. */
export type All<Part> = (Part extends unknown ? (part: Part) => void : never) extends (all: infer Whole) => void ? Whole : never

/** What several providers state, as one record: no two of them have a name in common. */
export const together = <Part extends object>(parts: readonly Part[]): All<Part> => Object.assign({}, ...parts)

/** States a provider, checked against the list of rails. */
export const defineProvider = <P extends Provider, Shape extends z.ZodRawShape, Setting extends string>(
  definition: ProviderDefinition<P, Shape> & { setting: Setting },
): ProviderDefinition<P, Shape> & { setting: Setting } => definition

/** What the pages say about one way to pay. */
export type PayoutWords = {
  /** How people know it: "M-PESA to a phone". */
  label: string
  icon: 'phone' | 'receipt' | 'bank'
  /** The usual category of a beneficiary that is paid by it. */
  category: 'individual' | 'business'
  /** What it can move, in a few words. */
  reach: string
  /** Whether a destination may be at a bank. */
  bank: boolean
  /** The field of a form for a destination. */
  destination: { label: string; hint: string; placeholder: string; inputMode: 'numeric' | 'text' }
}

/** What the pages say about a provider and its rails: data alone, because they are built with it. */
export type ProviderWords<P extends Provider> = {
  provider: P
  label: string
  payouts: Readonly<Record<PayoutOf<P>, PayoutWords>>
  /** The button that begins a deposit. */
  depositActions: Readonly<Record<DepositOf<P>, string>>
}
