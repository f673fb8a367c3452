/**
 * A new row does not compile until its provider's `definition.ts` has everything else about the rail. `topUp`: a `prompt` on the
 * payer's phone, or a `deposit` by a person. `accounts`: one destination has many accounts, and the reference names the paid one.
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

type With<Field extends 'pays' | 'provider' | 'topUp', Value> = {
  [Rail in AnyRail]: (typeof rails)[Rail][Field] extends Value ? Rail : never
}[AnyRail]

/** The `payment_rail` of a beneficiary. */
export type RailName = With<'pays', true>
export type RailOf<P extends Provider> = With<'provider', P>
export type PayoutOf<P extends Provider> = RailName & RailOf<P>
/** The rail of a payee whom a batch names by a phone alone, and the first one in a form. */
export const phoneRail = 'MPESA_B2C' satisfies RailName
/** The rail of a payee whom a batch names with a bank. */
export const bankRail = 'PESALINK' satisfies RailName
export type PromptRail = With<'topUp', 'prompt'>
export type PromptOf<P extends Provider> = PromptRail & RailOf<P>

/** A rail by which people pay in under our reference. */
export type DepositRail = With<'topUp', 'deposit'>
export type DepositOf<P extends Provider> = DepositRail & RailOf<P>
/** The emulator's rail for a deposit that names none. */
export const defaultDepositRail = 'MPESA_PAYBILL' satisfies DepositRail
export type TopupMethod = PromptRail | DepositRail
export type SendingRail = RailName | PromptRail

const atLeastOne = <Item>([first, ...others]: readonly Item[]): readonly [Item, ...Item[]] => {
  if (first === undefined) throw new Error('a list of rails is empty')
  return [first, ...others]
}

export const allRails = atLeastOne(Object.keys(rails) as AnyRail[])
export const railNames = atLeastOne(allRails.filter((rail): rail is RailName => rails[rail].pays))
export const hasAccounts = (rail: RailName): boolean => rails[rail].accounts
export const depositRails = atLeastOne(allRails.filter((rail): rail is DepositRail => rails[rail].topUp === 'deposit'))
export const providerOf = (rail: AnyRail): Provider => rails[rail].provider
export const providers = atLeastOne([...new Set(allRails.map(providerOf))])

/** The only rail that sends prompts. This line stops compiling if a second one is added: the caller must then choose. */
export const collectionRail: PromptRail = 'MPESA_STK'

export const sendingRails: readonly [SendingRail, ...SendingRail[]] = [...railNames, collectionRail]
export const topupMethods: readonly [TopupMethod, ...TopupMethod[]] = [collectionRail, ...depositRails]
export const isDepositRail = (rail: AnyRail): rail is DepositRail => rails[rail].topUp === 'deposit'
export const depositRailOf = (provider: Provider): DepositRail | undefined =>
  depositRails.find((rail) => providerOf(rail) === provider)

/** All rails of a provider. Receipts are unique per provider, and statements cover all of its rails. */
export const railsOf = (provider: Provider): readonly AnyRail[] => allRails.filter((rail) => providerOf(rail) === provider)

/** The books of a provider's money: its rails, and the provider itself for suspense entries from a statement. */
export const booksOf = (provider: Provider): readonly string[] => [...new Set<string>([provider, ...railsOf(provider)])]
