import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { parseId } from '../../src/lib/ids.ts'
import { type Client, createClient } from '../harness/client.ts'
import { authorizeAgent, type OAuthClient, registerClient } from '../harness/oauth.ts'
import { createKey, newWallet, signIn } from '../harness/people.ts'
import { forEach, say } from './connection.ts'
import type { Scene } from './operation-list.ts'
import { type Bench, startProvider, startService } from './processes.ts'

export const range = (length: number): number[] => Array.from({ length }, (_, index) => index)
const plenty = '900000000000000'

/** `paid`: the payees that it has paid. The first payment to a payee costs more. */
export type Caller = Scene & { paid: readonly string[]; refreshToken: string }

/** A caller with 20 payees, 8 to 40 payments, six keys. */
const furnish = async (bench: Bench, open: Client, index: number, admin: string, client: OAuthClient): Promise<Caller> => {
  const person = await signIn(open)
  const send = async (path: string, body?: object, { api }: { api: Client } = person) => {
    const answer = await api.call(body ? 'POST' : 'GET', path, { body, key: randomUUID() })
    if (answer.status >= 400) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }
  // Written directly into the total: only payments are measured, and the database is deleted later.
  const credit = `update ledger_accounts set posted_credits_minor = ${plenty} where id = $1`
  await bench.query(credit, [parseId('account', person.accountId)])
  const payees: string[] = []
  for (const number of range(22)) {
    const destination = { payment_rail: 'MPESA_B2C', destination: `2547${10_000_000 + ((index * 100 + number) % 90_000_000)}` }
    payees.push((await send('/v1/beneficiaries', { type: 'supplier', display_name: `Supplier ${number}`, ...destination })).id)
  }
  const [asking = '', renamed = '', ...others] = payees
  const limit = (name: string, more: object) => send('/v1/spending-policies', { name, ...more })
  await limit('Limit', { daily_limit_minor: plenty })
  await limit('One supplier', { daily_limit_minor: plenty, beneficiary_ids: others.slice(0, 1) })
  const ask = await limit('Ask', { approval_threshold_minor: '1', beneficiary_ids: [asking] })
  const spare = await send('/v1/accounts/me/api-keys', { name: 'Spare' })
  const own = await createKey(person, { spending_controls: { monthly_limit_minor: plenty } })
  for (const _ of range(4)) await createKey(person)
  let payments = ''
  for (const number of range(8 + Math.floor(Math.random() * 33))) {
    const body = { beneficiary_id: others[number % 20], amount_minor: '10000', narrative: `Invoice ${number}` }
    payments = (await send('/v1/payments', body, own)).id
  }
  const asked = { beneficiary_id: asking, amount_minor: '10000' }
  let approvals = ''
  for (const _ of range(4)) approvals = (await send('/v1/payments', asked)).approval_id
  const agent = await authorizeAgent(open, person, { client, request: { scope: 'workspace.read payment.read' } })
  return {
    ...{ key: own.key, session: person.cookie, 'access token': agent.access, refreshToken: agent.refreshToken },
    'dashboard token': (await send('/v1/auth/dashboard-tokens', {})).token,
    ...{ admin, client: client.id, accounts: person.accountId, address: person.wallet.address },
    workspace: (await send('/v1/workspaces/current')).workspace.id,
    ...{ 'api-keys': spare.id, grants: spare.grant.id, 'spending-policies': ask.id },
    ...{ paid: others.slice(0, 8), beneficiaries: others[0] ?? '', asking, renamed, payments, approvals },
    'payment-batches': (await send('/v1/payment-batches', { items: [asked], duplicates_intended: true })).id,
    invitations: (await send('/v1/workspaces/current/invitations', { role: 'viewer' })).id,
    topups: (await send('/v1/topups/initiate', { amount_minor: '10000', phone_number: `2547${10_000_000 + index}` })).id,
  }
}

export const untilBooked = async (bench: Bench): Promise<void> => {
  for (;;) {
    const [some] = await bench.query(`select exists(select from payments where status in ('processing', 'unknown')) as left`)
    if (some?.left === false) return
    await wait(50)
  }
}

/** The address and administrator for later starts of the service, and groups of callers with a past that is booked. */
export const prepareCallers = async (bench: Bench, counts: readonly number[]) => {
  const provider = await startProvider(bench)
  const wallet = newWallet()
  // The last measurement uses a token of the first caller.
  const lasting = { ADMIN_ACCOUNTS: wallet.address, ACCESS_TOKEN_TTL_SECONDS: '86400' }
  const service = await startService(bench, { JOBS: 'inline', SANDBOX_URL: provider.url, ...lasting })
  const open = createClient(service.url)
  const { cookie: admin } = await signIn(open, wallet)
  const grant_types = ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code']
  const client = await registerClient(open, { grant_types })
  const groups: Caller[][] = counts.map(() => [])
  for (const [group, made] of groups.entries())
    await forEach(service.url, range(counts[group] ?? 0), async (index) => {
      made.push(await furnish(bench, open, group * 100_000 + index, admin, client))
      if (made.length === counts[group]) say(`${made.length} callers have their records`)
    })
  await untilBooked(bench)
  // Jobs count and seal the past except for its last minute.
  await wait(90_000)
  await service.stop()
  await provider.stop()
  for (const until of ['sessions set proven_at', 'dashboard_tokens set expires_at'])
    await bench.query(`update ${until} = now() + interval '1 day'`)
  await bench.query('vacuum analyze')
  return [{ PUBLIC_URL: service.url, ADMIN_ACCOUNTS: wallet.address }, ...groups] as const
}
