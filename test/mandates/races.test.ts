import { expect, test } from 'vitest'
import { holdAccount } from '../harness/account-hold.ts'
import type { Answer, Json } from '../harness/client.ts'
import { createMandate, mandateTerms, sendMandate, signedMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { newWallet, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { createScene } from '../payments/authority-scene.ts'

/** Two processes on one database prove that the database enforces this, not one process. */
const first = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
// One service in two processes with one address, because the signed text contains it.
const env = { RATE_LIMIT_ENABLED: 'false', PUBLIC_URL: first.deps.config.publicUrl }
const second = await openService({ database: first.database, clock: first.clock, env })
const person = await signIn(first.api)
await credit(first, person.accountId, 100_000_000n)
const beneficiary = await newBeneficiary(person.api)

const of = (index: number) => (index % 2 === 0 ? first : second)
const pay = (mandate: Json, index: number, amount = '10000'): Promise<Answer> =>
  of(index)
    .api.as({ cookie: person.cookie })
    .post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: amount, mandate_id: mandate.id })
const read = async (mandate: Json) => (await person.api.get(`/v1/intent-mandates/${mandate.id}`)).body
const many = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

test.each([
  ['budget', { max_total_minor: '39999' }],
  ['number of payments', { max_payments: 3 }],
])('of thirty payments at once exactly as many pass as the %s fits', async (_, terms) => {
  const mandate = await createMandate(first, person.wallet, terms)
  const answers = await many(30, (index) => pay(mandate, index))
  expect(answers.filter((answer) => answer.status === 201)).toHaveLength(3)
  expect(answers.filter((answer) => answer.status === 403 && answer.body.error === 'policy_denied')).toHaveLength(27)
  expect(await read(mandate)).toMatchObject({ spent_minor: '30000', payments_made: 3 })
})

test("a mandate's usage is the sum of its payments, however they ended", async () => {
  const mandate = await createMandate(first, person.wallet, { max_total_minor: '100000' })
  const doomed = await newBeneficiary(person.api, { destination: '254700000001' })
  await many(10, async (index) => {
    const to = index % 3 === 0 ? doomed : beneficiary
    return of(index)
      .api.as({ cookie: person.cookie })
      .post('/v1/payments', { beneficiary_id: to, amount_minor: '10000', mandate_id: mandate.id })
  })
  await first.settle()
  const [counted] = await first.deps.db.query<{ spent: string; made: string; failed: string }>(
    `select coalesce(sum(amount_minor) filter (where status = 'succeeded'), 0)::text as spent, count(*) filter (where status = 'succeeded')::text as made,
       count(*) filter (where status = 'failed')::text as failed
     from payments where mandate_id = (select subject_id from usage_counters where subject = 'mandate' order by subject_id desc limit 1)`,
  )
  expect(counted).toEqual({ spent: '60000', made: '6', failed: '4' })
  expect(await read(mandate)).toMatchObject({ status: 'active', spent_minor: '60000', payments_made: 6 })
})

test('no payment is decided by a mandate after its revocation was answered', async () => {
  for (let round = 0; round < 4; round += 1) {
    const mandate = await createMandate(first, person.wallet)
    const [payments, revoked] = await Promise.all([
      many(6, (index) => pay(mandate, index, '100000')),
      of(round).api.as({ cookie: person.cookie }).post(`/v1/intent-mandates/${mandate.id}/revoke`),
    ])
    expect(revoked.status).toBe(200)
    for (const payment of payments) expect([201, 403]).toContain(payment.status)
    expect((await pay(mandate, round)).body.error).toBe('policy_denied')
    await first.settle()
    // An accepted payment was not sent, because its mandate had been revoked by the second check.
    expect(await read(mandate)).toMatchObject({ status: 'revoked', spent_minor: '0', payments_made: 0 })
  }
})

test('of two concurrent revocations and an expiry one is published', async () => {
  for (let round = 0; round < 4; round += 1) {
    const ends = new Date(first.clock.now().getTime() + 1000).toISOString()
    const mandate = await createMandate(first, person.wallet, { expires_at: ends })
    const revoke = (index: number) => of(index).api.as({ cookie: person.cookie }).post(`/v1/intent-mandates/${mandate.id}/revoke`)
    if (round % 2 === 1) first.clock.advance(1)
    const answers = await Promise.all([revoke(0), revoke(1), first.deps.jobs.sweep(), second.deps.jobs.sweep()])
    const expected = round % 2 === 1 ? 409 : 200
    expect(answers.slice(0, 2).map((answer) => (answer as Answer).status)).toEqual([expected, expected])
    const events = await first.deps.db.query(
      "select id from events where type in ('mandate.revoked', 'mandate.expired') and data->>'id' = $1",
      [mandate.id],
    )
    expect(events).toHaveLength(1)
  }
})

const { join, link, member, team } = createScene(() => first, newWallet())

test('a wallet that is being unlinked signs no mandate', async () => {
  const someone = await signIn(first.api)
  const { wallet, path } = await link(someone.api)
  const signed = await signedMandate(first.api, wallet, mandateTerms(first))
  const hold = await holdAccount(first, someone.accountId)
  const unlinked = someone.api.delete(path)
  await hold.waiting(1)
  const created = sendMandate(second.api, signed)
  await hold.waiting(2)
  await hold.release()
  expect([(await unlinked).status, (await created).body.error]).toEqual([200, 'invalid_signature'])
})

test('a member who is being demoted revokes no mandate', async () => {
  const its = await team(1)
  const admin = await join(its, 'admin')
  const mandate = await createMandate(first, its.owner.wallet)
  const path = await member(its, admin)
  const hold = await holdAccount(first, its.owner.accountId)
  const demoted = its.owner.api.patch(path, { role: 'viewer' })
  await hold.waiting(1)
  const revoked = second.api.as({ cookie: admin.cookie }).post(`/v1/intent-mandates/${mandate.id}/revoke`)
  await hold.waiting(2)
  await hold.release()
  expect([(await demoted).status, (await revoked).body.error]).toEqual([200, 'forbidden'])
  expect((await its.owner.api.get(`/v1/intent-mandates/${mandate.id}`)).body.status).toBe('active')
})

test('a mandate whose wallet is not linked approves nothing, even if nothing has revoked it', async () => {
  const { wallet } = await link(person.api)
  const mandate = await createMandate(first, wallet)
  await first.deps.db.query('delete from identities where subject = $1', [wallet.address])
  const refused = await pay(mandate, 0)
  expect([(await read(mandate)).status, refused.status, refused.body.error]).toEqual(['active', 403, 'policy_denied'])
  expect(refused.body.details.decision.trace).toContainEqual(
    expect.objectContaining({ rule: 'mandate_status', outcome: 'deny', decisive: true }),
  )
})

test('one nonce creates one mandate, even if two processes get it at once with different terms', async () => {
  for (let round = 0; round < 4; round += 1) {
    const signed = await signedMandate(first.api, person.wallet, mandateTerms(first, { description: `Round ${round}` }))
    const other = { ...signed, terms: { ...signed.terms, max_total_minor: '999999' } }
    const answers = await many(10, (index) => sendMandate(of(index).api, index % 3 === 2 ? other : signed))
    expect(answers.map((answer) => answer.status)).toEqual(answers.map((_, index) => (index % 3 === 2 ? 409 : 201)))
    const made = answers.filter((answer) => answer.status === 201)
    expect(new Set(made.map((answer) => answer.text)).size).toBe(1)
  }
})
