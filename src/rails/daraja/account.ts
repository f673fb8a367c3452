import { readBalance } from '../fields.ts'
import type { Send } from '../gateway.ts'
import type { AccountBalance, OrganisationAccount } from '../rail.ts'
import { readResult, readSubmission, referenceOfAnswer } from './answers.ts'
import type { DarajaOptions } from './gateway.ts'

/** `Working Account|KES|1000.00|1000.00|0.00|0.00&Utility Account|…`: name, currency, current and available amount, and more. */
const balanceOf = (text: string): AccountBalance | undefined => {
  const [account, currency, current, available] = text.split('|')
  const availableMinor = readBalance(available ?? current)
  return account && currency && availableMinor !== undefined ? { account, currency, availableMinor } : undefined
}

/** All of them or none: a partial answer would look like missing money. */
const readBalances = (body: unknown): AccountBalance[] | undefined => {
  const result = readResult(body)
  const text = result?.code === '0' ? result.parameter('AccountBalance') : undefined
  const balances = text?.split('&').map(balanceOf) ?? []
  const read = balances.flatMap((balance) => (balance ? [balance] : []))
  return read.length > 0 && read.length === balances.length ? read : undefined
}

export const createAccount = (options: DarajaOptions, send: Send, credential: string): OrganisationAccount => {
  return {
    numbers: [...new Set([options.shortcode, options.b2cShortcode, options.b2bShortcode])].flatMap((number) => number ?? []),
    requestBalances: async (number, { result, timeout }) =>
      readSubmission(
        await send('/mpesa/accountbalance/v1/query', {
          Initiator: options.initiatorName,
          SecurityCredential: credential,
          CommandID: 'AccountBalance',
          ResultURL: result,
          QueueTimeOutURL: timeout,
          PartyA: number,
          IdentifierType: '4',
          Remarks: 'Balance of the account',
        }),
        referenceOfAnswer(null),
      ),
    readBalances,
  }
}
