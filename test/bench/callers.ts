import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { signInWithWallet } from '#client/wallet'
import { newId, parseId } from '../../src/lib/ids.ts'
import { type Connection, forEach, jsonOf, type LoadRequest, say } from './connection.ts'
import type { Scene } from './operation-list.ts'
import { type Bench, startProvider, startService } from './processes.ts'

export const range = (length: number): number[] => Array.from({ length }, (_, at) => at)
const plenty = '900000000000000'

/** A caller of the bench with its records, of which lists have as many as its shape says. */
export type Caller = Scene & { payees: readonly string[] }
export type Shape = { callers: number; payments: () => number; payees: number; keys: number; waiting: number }
/** What most callers have: 8 to 40 payments, each another number. */
export const usual = (callers: number): Shape => {
  const payments = () => 8 + Math.floor(Math.random() * 33)
  return { callers, payments, payees: 20, keys: 6, waiting: 4 }
}
/**
 * Callers that pay, who have paid each payee once: the first payment to one costs more. As no job runs then, what they make in a measurement
 * stays under way, so nobody reads by them.
 */
export const payers = (callers: number): Shape => ({ callers, payments: () => 6, payees: 6, keys: 2, waiting: 1 })

/** Again where the service has too much to do. */
const signIn = (baseUrl: string, wallet: PrivateKeyAccount): ReturnType<typeof signInWithWallet> =>
  signInWithWallet({ baseUrl }, wallet).catch((error: { code?: string }) =>
    error.code === 'unavailable' ? wait(200).then(() => signIn(baseUrl, wallet)) : Promise.reject(error),
  )

export const uuidOf = (kind: Parameters<typeof parseId>[0], id: string): string => parseId(kind, id) ?? `${id} is no ${kind}`
const hashOf = (token: string) => createHash('sha256').update(token).digest()

/** As the token endpoint would give it; issuing is measured elsewhere. */
const accessToken = async (bench: Bench, grant: string, audience: string): Promise<string> => {
  const token = `service_oat_${randomBytes(32).toString('hex')}`
  await bench.query(
    `insert into oauth_access_tokens (id, grant_id, generation, hash, scopes, resources, created_at, expires_at)
     values ($1, $2, 1, $3, array['workspace.read', 'payment.read'], array[$4], now(), now() + interval '9 hours')`,
    [newId(), uuidOf('grant', grant), hashOf(token), audience],
  )
  return token
}

/** As the token endpoint would give them: one for the grant of each caller's key, in place of those that it had. */
export const refreshTokens = async (bench: Bench, url: string, callers: readonly Caller[]): Promise<string[]> => {
  const tokens: string[] = []
  for (const { keyGrant, client } of callers) {
    const handle = randomBytes(16).toString('hex')
    const token = `service_ort_${handle}00000001${randomBytes(32).toString('hex')}`
    const grant = uuidOf('grant', keyGrant)
    for (const table of ['oauth_access_tokens', 'oauth_grants'])
      await bench.query(`delete from ${table} where grant_id = $1`, [grant])
    await bench.query(
      `insert into oauth_grants (grant_id, client_id, resources, detailed, handle, generation, key_id, current_hash, expires_at)
       values ($1, $2, array[$3], false, $4, 1, 'bench', $5, now() + interval '90 days')`,
      [grant, uuidOf('oauth_client', client), url, handle, hashOf(token)],
    )
    tokens.push(token)
  }
  return tokens
}

const furnish = async (
  bench: Bench,
  connection: Connection,
  shape: Shape,
  at: number,
  admin: string,
  client: string,
): Promise<Caller> => {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const { session = '', account: person } = await signIn(connection.url.origin, wallet)
  const send = (path: string, body: unknown, credential = `cookie ${session}`) =>
    jsonOf(connection, { method: body === undefined ? 'GET' : 'POST', path, credential, body })
  const account = person.id
  const { workspace } = await send('/v1/workspaces/current', undefined)
  // Written into the total itself: what is measured is a payment, and the database is deleted.
  await bench.query(`update ledger_accounts set posted_credits_minor = ${plenty} where id = $1`, [uuidOf('account', account)])
  const payees: string[] = []
  for (const number of range(shape.payees + 2)) {
    const destination = `2547${String(10_000_000 + ((at * 100 + number) % 90_000_000))}`
    const payee = { type: 'supplier', display_name: `Supplier ${number}`, payment_rail: 'MPESA_B2C', destination }
    payees.push((await send('/v1/beneficiaries', payee)).id)
  }
  const [asking = '', renamed = ''] = payees.splice(0, 2)
  const first = payees.slice(0, 1)
  await send('/v1/spending-policies', { name: 'Limit', daily_limit_minor: plenty })
  await send('/v1/spending-policies', { name: 'One supplier', daily_limit_minor: plenty, beneficiary_ids: first })
  const ask = await send('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1', beneficiary_ids: [asking] })
  const key = (name: string, more = {}) => send('/v1/accounts/me/api-keys', { name, ...more })
  const spare = await key('Spare')
  const permissions = [
    ...spare.permissions,
    'grant.manage',
    'workspace.manage',
    'policy.manage',
    'mandate.manage',
    'approval.decide',
  ]
  const own = await key('Agent', { permissions, spending_controls: { monthly_limit_minor: plenty } })
  for (const number of range(shape.keys - 2)) await key(`Key ${number}`)
  let payment = ''
  for (const number of range(shape.payments())) {
    const body = { beneficiary_id: payees[number % payees.length], amount_minor: '10000', narrative: `Invoice ${number}` }
    payment = (await send('/v1/payments', body, own.key)).id
  }
  const asked = { beneficiary_id: asking, amount_minor: '10000' }
  let waiting = { id: '', approval_id: '' }
  for (const _ of range(shape.waiting)) waiting = await send('/v1/payments', asked)
  return {
    ...{ account, workspace: workspace.id, address: wallet.address, admin, client, session },
    ...{ key: own.key, keyGrant: own.grant.id, keyId: spare.id, grant: spare.grant.id },
    ...{ token: await accessToken(bench, own.grant.id, connection.url.origin), dashboardToken: '' },
    ...{ payees, beneficiary: payees[0] ?? '', asking, renamed, policy: ask.id },
    payment: payment || waiting.id,
    approval: waiting.approval_id,
    batch: (await send('/v1/payment-batches', { items: [asked], duplicates_intended: true })).id,
    invitation: (await send('/v1/workspaces/current/invitations', { role: 'viewer' })).id,
    topup: (await send('/v1/topups/initiate', { amount_minor: '10000', phone_number: `2547${10_000_000 + at}` })).id,
  }
}

/** A dashboard token and the proof of a session live for less time than a bench takes, so that both are made anew for each round. */
export const renewSignIns = async (bench: Bench, url: string, callers: readonly Caller[]): Promise<void> => {
  await bench.query('update sessions set proven_at = now()')
  await forEach(url, callers, async (caller, connection) => {
    const credential = `cookie ${caller.session}`
    const request: LoadRequest = { method: 'POST', path: '/v1/auth/dashboard-tokens', credential }
    caller.dashboardToken = (await jsonOf(connection, request)).token
  })
}

export const untilBooked = async (bench: Bench): Promise<void> => {
  for (;;) {
    const [some] = await bench.query(`select exists(select from payments where status in ('processing', 'unknown')) as left`)
    if (some?.left === false) return
    await wait(50)
  }
}

/** Until jobs have counted and sealed what there was, of which they leave the last minute: ten seconds in which little is written. */
export const untilQuiet = async (bench: Bench): Promise<void> => {
  const written = async () => Number((await bench.query(`select pg_current_wal_lsn() - '0/0' as bytes`))[0]?.bytes)
  await wait(60_000)
  for (let [last, now] = [0, await written()]; now - last > 2_000_000; ) {
    last = now
    await wait(10_000)
    now = await written()
  }
}

export type Prepared = { groups: Caller[][]; env: { PORT: string; ADMIN_ACCOUNTS: string } }

/** Callers with a past, which jobs and an emulated provider have booked; `env`: the service has the same address and administrator again. */
export const prepareCallers = async (bench: Bench, shapes: readonly Shape[]): Promise<Prepared> => {
  const provider = await startProvider(bench.folder)
  const wallet = privateKeyToAccount(generatePrivateKey())
  const service = await startService(bench, { JOBS: 'inline', SANDBOX_URL: provider.url, ADMIN_ACCOUNTS: wallet.address })
  const { session: admin = '' } = await signIn(service.url, wallet)
  let client = ''
  await forEach(service.url, [wallet], async (_, connection) => {
    const grant_types = ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code']
    const redirect_uris = ['http://127.0.0.1/callback']
    const body = { client_name: 'Bench', grant_types, redirect_uris, token_endpoint_auth_method: 'none' }
    client = (await jsonOf(connection, { method: 'POST', path: '/v1/oauth/register', body })).client_id
  })
  const groups: Caller[][] = []
  for (const [group, shape] of shapes.entries()) {
    const made: Caller[] = []
    await forEach(service.url, range(shape.callers), async (at, connection) => {
      made.push(await furnish(bench, connection, shape, group * 100_000 + at, admin, client))
    })
    groups.push(made)
    say(`${made.length} callers have their records`)
  }
  await untilBooked(bench)
  await untilQuiet(bench)
  await service.stop()
  await provider.stop()
  await bench.query('vacuum analyze')
  return { groups, env: { PORT: service.url.split(':').at(-1) ?? '', ADMIN_ACCOUNTS: wallet.address } }
}
