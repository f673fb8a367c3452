/**
 * Every rail that money moves by, a row each. A row that is added here fails to compile until its provider's `definition.ts` states
 * everything else about it. `topUp`: how a top-up by it begins; a `prompt` on the payer's phone, or a `deposit` that a person makes.
 * `accounts`: behind one destination there are many accounts, and the reference says which is paid.
 */
const rails = {
  MPESA_B2B: { provider: 'MPESA', pays: true, topUp: null, accounts: true },
  MPESA_B2C: { provider: 'MPESA', pays: true, topUp: null, accounts: false },
  PESALINK: { provider: 'PESALINK', pays: true, topUp: 'deposit', accounts: false },
  MPESA_STK: { provider: 'MPESA', pays: false, topUp: 'prompt', accounts: false },
  MPESA_PAYBILL: { provider: 'MPESA', pays: false, topUp: 'deposit', accounts: false },
} as const

export type AnyRail = keyof typeof rails
export type Provider = (typeof rails)[AnyRail]['provider']

/** The rails whose row has this value. */
type With<Field extends 'pays' | 'provider' | 'topUp', Value> = {
  [Rail in AnyRail]: (typeof rails)[Rail][Field] extends Value ? Rail : never
}[AnyRail]

/** How money leaves: the `payment_rail` of a beneficiary. */
export type RailName = With<'pays', true>
export type RailOf<P extends Provider> = With<'provider', P>
export type PayoutOf<P extends Provider> = RailName & RailOf<P>
/** The rail of a payee that a list names by a phone alone, and the one that a form for a payee begins with. */
export const phoneRail = 'MPESA_B2C' satisfies RailName
/** How a prompt reaches a payer's phone. */
export type PromptRail = With<'topUp', 'prompt'>
export type PromptOf<P extends Provider> = PromptRail & RailOf<P>

/** How a person pays in, under a reference of ours. */
export type DepositRail = With<'topUp', 'deposit'>
export type DepositOf<P extends Provider> = DepositRail & RailOf<P>
/** The rail of a deposit that names none, in the emulator. */
export const usualDeposit = 'MPESA_PAYBILL' satisfies DepositRail
export type TopupMethod = PromptRail | DepositRail
/** What requests are sent by; the others only bring money. */
export type SendingRail = RailName | PromptRail

const atLeastOne = <Item>([first, ...others]: readonly Item[]): readonly [Item, ...Item[]] => {
  if (first === undefined) throw new Error('a list of rails is empty')
  return [first, ...others]
}

export const allRails = atLeastOne(Object.keys(rails) as AnyRail[])
export const railNames = atLeastOne(allRails.filter((rail): rail is RailName => rails[rail].pays))
/** Where a reference is part of who is paid. */
export const hasAccounts = (rail: RailName): boolean => rails[rail].accounts
export const depositRails = atLeastOne(allRails.filter((rail): rail is DepositRail => rails[rail].topUp === 'deposit'))
export const providerOf = (rail: AnyRail): Provider => rails[rail].provider
export const providers = atLeastOne([...new Set(allRails.map(providerOf))])

/** The one rail that sends a prompt to a phone. A second one would have to be chosen by the caller: then this no longer compiles. */
export const collectionRail: PromptRail = 'MPESA_STK'

export const sendingRails: readonly [SendingRail, ...SendingRail[]] = [...railNames, collectionRail]
export const topupMethods: readonly [TopupMethod, ...TopupMethod[]] = [collectionRail, ...depositRails]
export const isDepositRail = (rail: AnyRail): rail is DepositRail => rails[rail].topUp === 'deposit'
/** The rail by which a person pays in at a provider. */
export const depositRailOf = (provider: Provider): DepositRail | undefined =>
  depositRails.find((rail) => providerOf(rail) === provider)

/** The rails of a provider: receipts are unique and statements are made for each provider, over all of its rails. */
export const railsOf = (provider: Provider): readonly AnyRail[] => allRails.filter((rail) => providerOf(rail) === provider)

/** What money at a provider is booked under: its rails; suspense entries from a statement name the provider instead. */
export const booksOf = (provider: Provider): readonly string[] => [provider, ...railsOf(provider)]
