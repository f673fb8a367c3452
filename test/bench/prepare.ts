import { createHash, randomBytes } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signInWithWallet } from '#client/wallet'
import { newId, parseId } from '../../src/lib/ids.ts'
import type { LoadRequest } from './load.ts'
import type { Bench } from './processes.ts'
import type { Turns } from './turns.ts'

export type Payer = {
  /** What the cookie `service_session` holds. */
  session: string
  key: string
  grantId: string
  beneficiary: string
  workspaceId: string
}

/** Accounts that can pay: a key with limits, a policy that applies to every payment, a beneficiary, and money. */
export const preparePayers = async (serviceUrl: string, bench: Bench, count: number): Promise<Payer[]> => {
  const payers: Payer[] = []
  for (let n = 0; n < count; n += 1) {
    const { client, session } = await signInWithWallet({ baseUrl: serviceUrl }, privateKeyToAccount(generatePrivateKey()))
    const beneficiary = await client.beneficiaries.create({
      type: 'supplier',
      display_name: 'Bench',
      payment_rail: 'MPESA_B2C',
      destination: `2547${String(30_000_000 + n).padStart(8, '0')}`,
    })
    await client.policies.create({ name: 'Bench', daily_limit_minor: '900000000000000' })
    const { key, grant } = await client.apiKeys.create({
      name: 'Agent',
      spending_controls: { monthly_limit_minor: '900000000000000' },
    })
    const { workspace } = await client.workspaces.current()
    if (session === undefined || key === undefined) throw new Error('the service gave no session or no key')
    payers.push({ session, key, grantId: grant.id, beneficiary: beneficiary.id, workspaceId: String(workspace.id) })
  }
  // Written directly into the totals: the bench measures what a payment costs, and its database is deleted.
  await bench.query("update ledger_accounts set posted_credits_minor = 900000000000000 where kind = 'customer'")
  return payers
}

const uuidOf = (kind: Parameters<typeof parseId>[0], id: string): string => {
  const uuid = parseId(kind, id)
  if (uuid === undefined) throw new Error(`${id} is no ${kind}`)
  return uuid
}

/** Access tokens as the token endpoint would give them, for the keys' grants: issuing them is not measured. */
export const accessTokens = async (bench: Bench, payers: readonly Payer[], audience: string): Promise<string[]> => {
  const tokens: string[] = []
  for (const { grantId } of payers) {
    const token = `service_oat_${randomBytes(32).toString('hex')}`
    const hash = createHash('sha256').update(token).digest()
    await bench.query(
      `insert into oauth_access_tokens (id, grant_id, generation, hash, scopes, resources, created_at, expires_at)
       values ($1, $2, 1, $3, array['workspace.read', 'payment.read'], array[$4], now(), now() + interval '1 hour')`,
      [newId(), uuidOf('grant', grantId), hash, audience],
    )
    tokens.push(token)
  }
  return tokens
}

/** Refresh tokens as the token endpoint would give them: issuing them is not measured. */
export const refreshTokens = async (bench: Bench, payers: readonly Payer[], url: string): Promise<Turns> => {
  const answer = await fetch(`${url}/v1/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Bench',
      redirect_uris: ['http://127.0.0.1/callback'],
      token_endpoint_auth_method: 'none',
    }),
  })
  const { client_id: clientId } = (await answer.json()) as { client_id: string }
  const tokens: string[] = []
  for (const { grantId } of payers) {
    const handle = randomBytes(16).toString('hex')
    const token = `service_ort_${handle}00000001${randomBytes(32).toString('hex')}`
    const hash = createHash('sha256').update(token).digest()
    const ids = [uuidOf('grant', grantId), uuidOf('oauth_client', clientId)]
    await bench.query(
      `insert into oauth_grants (grant_id, client_id, resources, detailed, handle, generation, key_id, current_hash, expires_at)
       values ($1, $2, array[$3], false, $4, 1, 'bench', $5, now() + interval '90 days')`,
      [...ids, url, handle, hash],
    )
    tokens.push(token)
  }
  return { kind: 'refresh', url, path: '/v1/oauth/token', clientId, tokens }
}

export const reads = (credentials: readonly string[], path = '/v1/workspaces/current'): LoadRequest[] =>
  credentials.map((credential) => ({ method: 'GET', path, credential }))

export const payments = (payers: readonly Payer[]): LoadRequest[] =>
  payers.map(({ key, beneficiary }) => ({
    method: 'POST',
    path: '/v1/payments',
    credential: key,
    body: { beneficiary_id: beneficiary, amount_minor: '10000' },
  }))
