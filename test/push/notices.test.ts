import { createECDH } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { createPush } from '../../src/modules/push/send.ts'
import type { Json } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { newWallet, type Person, signIn } from '../harness/people.ts'
import { decrypt, type PushBrowser, startPushService } from '../harness/push-service.ts'
import { openService } from '../harness/service.ts'
import { createScene } from '../payments/authority-scene.ts'

const pushes = await startPushService()
const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' }, fixed: { OAUTH_METADATA_TIMEOUT_MS: 60_000 } })
afterAll(() => pushes.close())
const { decide, join, pay, team } = createScene(() => service, newWallet())

const path = '/v1/accounts/me/push-subscriptions'
const listen = async ({ api }: Pick<Person, 'api'>, browser = pushes.browser()): Promise<PushBrowser> => {
  const answer = await api.post(path, browser.subscription)
  if (answer.status !== 201) throw new Error(answer.text)
  return browser
}
const messages = ({ received }: PushBrowser): Json[] => received.map(({ text }) => JSON.parse(text))
/** The browser's display: the last message of each tag, unless that withdrew it. */
const shown = (browser: PushBrowser): Json[] =>
  [...new Map(messages(browser).map((message) => [message.tag, message])).values()].filter(({ title }) => title !== undefined)

beforeEach(() => expect(pushes.refused).toEqual([]))

test('the emulated browser reads the message of RFC 8291, section 5', () => {
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(Buffer.from('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94', 'base64url'))
  const body =
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN'
  const auth = Buffer.from('BTBZMqHH6r4Tts7J_aSIgg', 'base64url')
  expect(decrypt(Buffer.from(body, 'base64url'), { ecdh, auth })).toBe('When I grow up, I want to be a watermelon')
})

test('an approval is pushed once to the browsers of those who may decide it, with amount, payee and link, and nothing else', async () => {
  const of = await team(1)
  const approver = await join(of)
  const viewer = await join(of, 'viewer')
  const stranger = await signIn(service.api)
  const [phone, laptop, owners, viewers, strangers] = [
    await listen(approver),
    await listen(approver),
    await listen(of.owner),
    await listen(viewer),
    await listen(stranger),
  ]
  const payment = await pay(of, of.owner.api)
  await service.settle()
  await service.settle()
  const link = `${service.deps.config.publicUrl}/approve/${payment.approval_id}`
  const name = (await of.owner.api.get(`/v1/beneficiaries/${of.beneficiary}`)).body.display_name
  for (const browser of [phone, laptop, owners]) {
    expect(messages(browser)).toEqual([
      {
        tag: payment.approval_id,
        url: link,
        title: `KES 1,500.00 to "${name}"`,
        body: expect.stringMatching(/^Needs your decision\. Registered name: /),
      },
    ])
  }
  expect([messages(viewers), messages(strangers)]).toEqual([[], []])
  const { notifications } = (await approver.api.get(`/v1/approvals/${payment.approval_id}`)).body
  const own = notifications.filter(({ account_id: id }: Json) => id === approver.accountId)
  expect(own.map(({ event }: Json) => event)).toEqual(['pushed', 'opened'])
  const [{ headers, sender }] = phone.received as [PushBrowser['received'][number]]
  expect(sender).toBe((await service.api.get('/v1/push/key')).body.public_key)
  // The push service keeps it for an offline phone until the approval expires.
  expect(Number(headers.ttl)).toBe(72 * 3600)
  expect(headers.urgency).toBe('high')
})

test.each(['approve', 'reject'])('a notice is taken back when somebody has decided it (%s)', async (decision) => {
  const of = await team(1)
  const approver = await join(of)
  const phone = await listen(approver)
  const payment = await pay(of, of.owner.api)
  await service.settle()
  expect(shown(phone)).toHaveLength(1)
  expect((await decide(of.owner.api, payment, decision)).status).toBe(200)
  await service.settle()
  await service.settle()
  expect(messages(phone)).toHaveLength(2)
  expect(shown(phone)).toEqual([])
  // A push service delivers the later one of two messages with one topic to a phone that was off.
  expect(new Set(phone.received.map(({ headers }) => headers.topic)).size).toBe(1)
})

test('a notice is taken back when its approval expires or its payment is cancelled', async () => {
  const of = await team(1)
  const phone = await listen(of.owner)
  const [cancelled, expiring] = [await pay(of, of.owner.api), await pay(of, of.owner.api)]
  await service.settle()
  expect(shown(phone)).toHaveLength(2)
  await of.owner.api.post(`/v1/payments/${cancelled.id}/cancel`)
  await service.settle()
  expect(shown(phone).map(({ tag }) => tag)).toEqual([expiring.approval_id])
  service.clock.advance(72 * 3600 + 1)
  await service.deps.jobs.sweep()
  await service.settle()
  expect(shown(phone)).toEqual([])
})

test('of an approval that has ended, one row for each notified person stays, and the page still shows each', async () => {
  const of = await team(1)
  const approver = await join(of)
  for (const person of [approver, approver, approver, of.owner]) await listen(person)
  const payment = await pay(of, of.owner.api)
  await service.settle()
  const rows = () =>
    service.deps.db.query('select from push_notices where approval_id = $1', [parseId('approval', payment.approval_id)])
  const pushedTo = async () => {
    const { notifications } = (await of.owner.api.get(`/v1/approvals/${payment.approval_id}`)).body
    return notifications.filter(({ event }: Json) => event === 'pushed')
  }
  const before = await pushedTo()
  expect([before.length, (await rows()).length]).toEqual([2, 4])
  expect((await decide(of.owner.api, payment)).status).toBe(200)
  await service.settle()
  expect((await rows()).length).toBe(2)
  expect(await pushedTo()).toEqual(before)
})

test('what was decided before it could be pushed is not pushed', async () => {
  const of = await team(1)
  const phone = await listen(of.owner)
  const payment = await pay(of, of.owner.api)
  await decide(of.owner.api, payment)
  await service.settle()
  expect(messages(phone)).toEqual([])
})

test('where duties are separate, who asked gets no notice, nor does an approver who cannot sign what must be signed', async () => {
  const of = await team(1)
  await of.owner.api.post('/v1/spending-policies', {
    name: 'Split',
    approval_threshold_minor: '100000',
    separation_of_duties: true,
  })
  const approver = await join(of)
  service.clock.advance(25 * 3600)
  const [owners, approvers] = [
    await listen(await signIn(service.api, of.owner.wallet)),
    await listen(await signIn(service.api, approver.wallet)),
  ]
  await pay(of, (await signIn(service.api, of.owner.wallet)).api)
  await service.settle()
  expect([shown(owners).length, shown(approvers).length]).toEqual([0, 1])
})

test('a list is pushed once, with its total and how many payments it has', async () => {
  const of = await team(1)
  const phone = await listen(of.owner)
  const items = [
    { beneficiary_id: of.beneficiary, amount_minor: '150000' },
    { beneficiary_id: await newBeneficiary(of.owner.api), amount_minor: '50000' },
  ]
  const batch = await of.owner.api.post('/v1/payment-batches', { name: 'Secret salaries', items })
  expect(batch.status).toBe(201)
  await service.settle()
  expect(messages(phone)).toMatchObject([{ title: 'KES 2,000.00 in 2 payments', body: 'A payment batch needs your decision.' }])
  expect(phone.received[0]?.text).not.toContain('Secret')
})

test('what others wrote stands in quotes that it cannot close', async () => {
  const of = await team(1)
  const phone = await listen(of.owner)
  const beneficiary = await newBeneficiary(of.owner.api, { display_name: 'Rent" approved. Press "yes' })
  await pay({ ...of, beneficiary }, of.owner.api)
  await service.settle()
  expect(messages(phone)[0]?.title).toBe(`KES 1,500.00 to "Rent' approved. Press 'yes"`)
})

test('the push says whose number it is once the rail has answered, and waits for the first answer', async () => {
  const of = await team(1)
  const phone = await listen(of.owner)
  const beneficiary = await newBeneficiary(of.owner.api, { display_name: 'Landlord', destination: '254722100001' })
  await pay({ ...of, beneficiary }, of.owner.api)
  const asleep = Promise.withResolvers<void>()
  const woken = Promise.withResolvers<void>()
  service.clock.sleep = () => {
    asleep.resolve()
    return woken.promise
  }
  // Another process is running the check.
  const due = (at: string) =>
    service.deps.db.query(`update beneficiaries set name_check_due_at = ${at} where name_check_due_at is not null`)
  await due("'2099-01-01'")
  const sending = service.deps.jobs.drain()
  await asleep.promise
  expect(messages(phone)).toEqual([])
  await due("'2020-01-01'")
  await service.deps.jobs.drain()
  delete service.clock.sleep
  woken.resolve()
  await sending
  expect(messages(phone)).toMatchObject([{ body: expect.stringContaining('WANJIRU N**** K**** (DOES NOT MATCH)') }])
})

test.each([
  [404, ''],
  [410, ''],
  [403, '{"reason":"VapidPkHashMismatch"}'],
  [403, 'the key in the authorization header does not correspond to the sender ID used to subscribe this user.'],
  [401, '{"code":401,"errno":109,"error":"Unauthorized","message":"VAPID public key mismatch"}'],
])('a subscription that the push service answers with %i %s has ended', async (status, said) => {
  const of = await team(1)
  const [gone, phone] = [await listen(of.owner), await listen(of.owner)]
  gone.answers(status, {}, said)
  await pay(of, of.owner.api)
  await service.settle()
  expect(shown(phone)).toHaveLength(1)
  expect((await of.owner.api.get(path)).body.data).toHaveLength(1)
})

test('a subscription ends with the key that its browser subscribed to, and the browser subscribes anew', async () => {
  const of = await team(1)
  const phone = await listen(of.owner)
  const other = `next:${Buffer.alloc(32, 7).toString('base64')}`
  const next = await openService({ database: service.database, clock: service.clock, env: { VAPID_KEYS: other } })
  const owner = next.api.as({ cookie: of.owner.cookie })
  expect((await owner.get(path)).body.data).toEqual([])
  const scene = createScene(() => next, newWallet())
  await scene.pay(of, owner)
  await next.settle()
  expect(messages(phone)).toEqual([])
  expect((await owner.post(path, phone.subscription)).status).toBe(201)
  await scene.pay(of, owner)
  await next.settle()
  expect(shown(phone)).toHaveLength(1)
})

test.each([
  [307, { location: 'http://localhost:1/elsewhere' }],
  [500, {}],
  [429, { 'retry-after': '1' }],
  [403, { reason: 'BadJwtToken' }],
] as const)('an answer of %i is not followed, is not tried again, and ends nothing', async (status, headers) => {
  const of = await team(1)
  const phone = await listen(of.owner)
  phone.answers(status, headers)
  const logged = service.log.length
  await pay(of, of.owner.api)
  await service.settle()
  phone.answers(201)
  await service.settle()
  expect(messages(phone)).toEqual([])
  expect((await of.owner.api.get(path)).body.data).toHaveLength(1)
  const line = service.log.slice(logged).find((each) => each.includes('not accepted by the push service'))
  expect(line).toContain(`"status":${status}`)
  expect(line).not.toContain(phone.subscription.endpoint)
})

test('a push service that does not answer delays nobody for long, and is not asked twice', async () => {
  const quick = await openService({ fixed: { OAUTH_METADATA_TIMEOUT_MS: 2_000 } })
  const scene = createScene(() => quick, newWallet())
  const of = await scene.team(1)
  const silent = pushes.browser()
  silent.answers('never')
  await listen(of.owner, silent)
  const phone = await listen(of.owner)
  await scene.pay(of, of.owner.api)
  await quick.settle()
  expect(shown(phone)).toHaveLength(1)
})

test('a person with many approvals delays no notice of another', async () => {
  const [many, few] = [await team(1), await team(1)]
  for (const { owner } of [many, few]) await listen(owner)
  await service.settle()
  for (let payment = 0; payment < 20; payment += 1) await pay(many, many.owner.api)
  const { approval_id } = await pay(few, few.owner.api)
  await service.settle()
  const sent = await service.deps.db.query<{ id: string }>(
    `select n.approval_id as id from push_notices n join approvals a on a.id = n.approval_id
     where a.workspace_id = any($1::uuid[]) order by n.ctid`,
    [[many, few].map(({ workspace }) => parseId('workspace', workspace))],
  )
  expect(sent).toHaveLength(21)
  expect(sent.slice(0, 8).map(({ id }) => id)).toContain(parseId('approval', approval_id))
})

test.each([
  ['logged out', async (person: Person) => void (await person.api.post('/v1/auth/logout'))],
  [
    'revoked',
    async (person: Person, other: Person) => {
      const { data } = (await person.api.get('/v1/accounts/me/sessions')).body
      const own = data.find(({ current }: { current: boolean }) => current)
      expect((await other.api.delete(`/v1/accounts/me/sessions/${own.id}`)).status).toBe(200)
    },
  ],
  ['unused for too long', async () => service.clock.advance(8 * 86_400)],
])('nothing is pushed to a browser whose session was %s', async (_, end) => {
  const of = await team(1)
  const other = await signIn(service.api, of.owner.wallet)
  const phone = await listen(of.owner)
  await end(of.owner, other)
  const now = await signIn(service.api, of.owner.wallet)
  await pay(of, now.api)
  await service.settle()
  expect(messages(phone)).toEqual([])
})

test('of two processes one sends', async () => {
  const of = await team(1)
  const phone = await listen(of.owner)
  const second = await openService({
    database: service.database,
    clock: service.clock,
    provider: service,
    env: { RATE_LIMIT_ENABLED: 'false' },
  })
  const payments = [await pay(of, of.owner.api), await pay(of, of.owner.api), await pay(of, of.owner.api)]
  await Promise.all([service.deps.jobs.drain(), second.deps.jobs.drain()])
  await service.settle()
  expect(
    messages(phone)
      .map(({ tag }) => tag)
      .toSorted(),
  ).toEqual(payments.map(({ approval_id }) => approval_id).toSorted())
})

test('development makes its key from those that it keeps: after the next start browsers know it still', async () => {
  const { config, derivations, logger, vault } = service.deps
  const parts = { derivations, fetch: () => Promise.reject(new Error('nothing is sent')), logger, vault }
  const keyIn = (NODE_ENV: 'development' | 'production') =>
    createPush({ ...config, VAPID_KEYS: undefined, NODE_ENV }, parts)?.publicKey
  expect(keyIn('development')).toMatch(/^B[\w-]{86}$/)
  expect(keyIn('development')).toBe(keyIn('development'))
  expect(keyIn('production')).toBeUndefined()
})
