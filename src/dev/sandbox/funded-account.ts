import { randomInt } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signInWithWallet } from '#client/wallet'

const amount_minor = '10000000'
const patienceMs = 20_000

/** Opens an account over HTTP as a person would, with a wallet, KES 100,000, and a key that pays new payees unapproved. */
export const openFundedAccount = async (baseUrl: string) => {
  const wallet_private_key = generatePrivateKey()
  const { client, account } = await signInWithWallet({ baseUrl }, privateKeyToAccount(wallet_private_key))
  // No magic test number has this prefix.
  const phone_number = `25472900${randomInt(1_000, 10_000)}`
  const topup = await client.topups.initiate({ amount_minor, phone_number })
  const { status, failure_message } = await client.topups.waitFor(topup.id, { timeoutMs: patienceMs })
  if (status !== 'succeeded') throw new Error(`The top-up of the account is ${status}: ${failure_message}`)
  const { key } = await client.apiKeys.create({ name: 'Tests', spending_controls: { new_payees: 'allow' } })
  return { account_id: account.id, api_key: key, wallet_private_key }
}

export type FundedAccount = Awaited<ReturnType<typeof openFundedAccount>>
