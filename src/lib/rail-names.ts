/**
 * A new rail does not compile until its provider's `definition.ts` describes it. `topUp`: a `prompt` on the payer's phone, or a
 * `deposit` that a person makes. `accounts`: one destination has many accounts, and the reference selects the account to pay.
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
/** The rail for payees that a batch identifies by phone alone, and the default in forms. */
export const phoneRail = 'MPESA_B2C' satisfies RailName
/** The rail for payees that a batch identifies by bank and account. */
export const bankRail = 'PESALINK' satisfies RailName
export type PromptRail = With<'topUp', 'prompt'>
export type PromptOf<P extends Provider> = PromptRail & RailOf<P>

/** A rail on which people pay in with our reference. */
export type DepositRail = With<'topUp', 'deposit'>
export type DepositOf<P extends Provider> = DepositRail & RailOf<P>
/** The emulator's rail for a deposit without a given rail. */
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

/** The only rail that sends prompts. This line does not compile once there is a second one: callers must then choose. */
export const collectionRail: PromptRail = 'MPESA_STK'

export const sendingRails: readonly [SendingRail, ...SendingRail[]] = [...railNames, collectionRail]
export const topupMethods: readonly [TopupMethod, ...TopupMethod[]] = [collectionRail, ...depositRails]
export const isDepositRail = (rail: AnyRail): rail is DepositRail => rails[rail].topUp === 'deposit'
export const depositRailOf = (provider: Provider): DepositRail | undefined =>
  depositRails.find((rail) => providerOf(rail) === provider)

/** All rails of a provider. Receipts are unique per provider, and a statement covers all of the provider's rails. */
export const railsOf = (provider: Provider): readonly AnyRail[] => allRails.filter((rail) => providerOf(rail) === provider)

/** The ledger's names for a provider's books: its rails, and the provider itself for suspense entries from a statement. */
export const booksOf = (provider: Provider): readonly string[] => [...new Set<string>([provider, ...railsOf(provider)])]
