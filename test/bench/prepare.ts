import pg from 'pg'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createClient } from '../harness/client.ts'
import { createKey, signIn } from '../harness/people.ts'

export type Payer = { key: string; beneficiary: string }

/** Accounts that can pay: a key with limits, a policy that falls on every payment, a beneficiary, and money. */
export const preparePayers = async (serviceUrl: string, databaseUrl: string, count: number): Promise<Payer[]> => {
  const api = createClient(serviceUrl)
  const payers: Payer[] = []
  for (let n = 0; n < count; n += 1) {
    const person = await signIn(api, privateKeyToAccount(generatePrivateKey()))
    const destination = `2547${String(30_000_000 + n).padStart(8, '0')}`
    const body = { type: 'supplier', display_name: 'Bench', payment_rail: 'MPESA_B2C', destination }
    const beneficiary = (await person.api.post('/v1/beneficiaries', body)).body.id
    await person.api.post('/v1/spending-policies', { name: 'Bench', daily_limit_minor: '900000000000000' })
    const { key } = await createKey(person, { spending_controls: { monthly_limit_minor: '900000000000000' } })
    payers.push({ key, beneficiary })
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  // Straight into the totals: the bench is about what a payment costs, and its database is thrown away.
  await client.query("update ledger_accounts set posted_credits_minor = 900000000000000 where kind = 'customer'")
  await client.end()
  return payers
}
