import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signInWithWallet } from '#client/wallet'
import { type Answer, createClient } from '../harness/client.ts'
import type { LoadRequest } from './load.ts'
import type { Scene } from './operation-list.ts'
import { accessTokens } from './prepare.ts'
import type { Bench, Started } from './processes.ts'
import { say } from './report.ts'

/** How many rows a list has: a page of the lists that can be long. */
const rows = 20

const done = async (answer: Promise<Answer>): Promise<Answer['body']> => {
  const { status, body, text } = await answer
  if (status >= 300) throw new Error(`${status}: ${text.slice(0, 300)}`)
  return body
}

export const all = (length: number) => Array.from({ length }, (_, at) => at)

/** It lives for less time than a run of many rounds takes. */
export const dashboardTokenOf = async (service: Started, session: string): Promise<string> =>
  (await done(createClient(service.url, { cookie: session }).post('/v1/auth/dashboard-tokens'))).token

/** A payer with twenty of everything that lists show. */
export const furnish = async (service: Started, bench: Bench, at: number): Promise<Scene> => {
  const { session } = await signInWithWallet({ baseUrl: service.url }, privateKeyToAccount(generatePrivateKey()))
  if (session === undefined) throw new Error('the service gave no session')
  const person = createClient(service.url, { cookie: session })
  const { id: accountId } = await done(person.get('/v1/accounts/me'))
  // Written directly into the totals: the bench measures what a request costs, and its database is deleted.
  await bench.query("update ledger_accounts set posted_credits_minor = 900000000000000 where kind = 'customer'")
  const payee = async (number: number): Promise<string> =>
    (
      await done(
        person.post('/v1/beneficiaries', {
          type: 'supplier',
          display_name: `Supplier ${number}`,
          payment_rail: 'MPESA_B2C',
          destination: `2547${String(30_000_000 + at * 100 + number)}`,
        }),
      )
    ).id
  const [beneficiary = '', asking = '', ...others] = await Promise.all(all(rows + 2).map(payee))
  const policies = [{ name: 'Limit', daily_limit_minor: '900000000000000' }].concat(
    others.map((id) => ({ name: 'One supplier', daily_limit_minor: '900000000000', beneficiary_ids: [id] })),
  )
  for (const policy of policies) await done(person.post('/v1/spending-policies', policy))
  const ask = await done(
    person.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '1', beneficiary_ids: [asking] }),
  )
  const permissions = (await done(person.post('/v1/accounts/me/api-keys', { name: 'Plain' }))).permissions as string[]
  const more = ['grant.manage', 'workspace.manage', 'policy.manage', 'mandate.manage', 'approval.decide']
  const own = await done(
    person.post('/v1/accounts/me/api-keys', {
      name: 'Agent',
      permissions: [...new Set([...permissions, ...more])],
      spending_controls: { monthly_limit_minor: '900000000000000' },
    }),
  )
  const keys = await Promise.all(
    all(rows).map((number) => done(person.post('/v1/accounts/me/api-keys', { name: `Key ${number}` }))),
  )
  const pay = (id: string) =>
    done(person.post('/v1/payments', { beneficiary_id: id, amount_minor: '10000', narrative: 'Invoice 7' }))
  const paid = await Promise.all(all(rows + 1).map(() => pay(beneficiary)))
  const waiting = await Promise.all(all(rows + 1).map(() => pay(asking)))
  const topup = await done(
    person.post('/v1/topups/initiate', { amount_minor: '10000', phone_number: `2547${String(at).padStart(8, '1')}` }),
  )
  const spare = keys[0]
  const [token = ''] = await accessTokens(
    bench,
    [{ session, key: own.key, grantId: own.grant.id, beneficiary, workspaceId: ask.workspace_id }],
    service.url,
  )
  say(`  account ${accountId} has its records`)
  return {
    session,
    key: own.key,
    token,
    dashboardToken: await dashboardTokenOf(service, session),
    grant: spare.grant.id,
    keyId: spare.id,
    beneficiary,
    asking,
    renamed: others[0] ?? '',
    policy: ask.id,
    payment: paid[0].id,
    approval: waiting[0].approval_id,
    topup: topup.id,
  }
}

/** Requests for approvals, made for a round that uses them up: as many as there are requests. */
export const approvalsFor = async (service: Started, scenes: readonly Scene[], count: number): Promise<Scene[]> => {
  const made = await Promise.all(
    scenes.map(async (scene) => {
      const api = createClient(service.url, { bearer: scene.key })
      const found: Scene[] = []
      for (let left = count; left > 0; left -= 4) {
        const answers = await Promise.all(
          all(Math.min(4, left)).map(() =>
            done(api.post('/v1/payments', { beneficiary_id: scene.asking, amount_minor: '10000' })),
          ),
        )
        found.push(...answers.map((payment) => ({ ...scene, payment: payment.id, approval: payment.approval_id })))
      }
      return found
    }),
  )
  return all(count).flatMap((at) => made.flatMap((list) => list[at] ?? []))
}

export const headersOf = ({ credential, accept }: LoadRequest) => ({
  ...(credential.startsWith('cookie ')
    ? { cookie: `service_session=${credential.slice(7)}` }
    : { authorization: `Bearer ${credential}` }),
  ...(accept !== undefined && { accept }),
})

/** Each request a few times, so that its code and its statements are ready; it also shows that the API accepts it. */
export const warm = async (service: Started, name: string, requests: readonly LoadRequest[]): Promise<void> => {
  for (let time = 1; time <= 6; time += 1)
    await Promise.all(
      requests.map(async (request, at) => {
        const number = String(95_000_000 + time * 100 + at)
        const answer = await fetch(service.url + request.path, {
          method: request.method,
          headers: { ...headersOf(request), ...(request.body !== undefined && { 'content-type': 'application/json' }) },
          ...(request.body !== undefined && { body: JSON.stringify(request.body).replaceAll('{n}', number) }),
        })
        const text = await answer.text()
        if (answer.status >= 300) throw new Error(`${name}: ${answer.status} ${text.slice(0, 300)}`)
      }),
    )
}
