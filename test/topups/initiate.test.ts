import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { openService, startService, type TestService } from '../harness/service.ts'
import { createTeam, join } from '../workspaces/team.ts'

const service = await openService()
const person = await signIn(service.api)

const valid = { amount_minor: '150000', phone_number: '0712345678' }
const initiate = (body: unknown = valid, api = person.api, key?: string) =>
  api.post('/v1/topups/initiate', body, key === undefined ? {} : { key })
const uuidOf = (accountId: string) => parseId('account', accountId)

test('a top-up begins pending, with the number masked', async () => {
  const answer = await initiate()
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^top_[0-9a-hjkmnp-tv-z]{26}$/),
    workspace_id: (await person.api.get('/v1/workspaces/current')).body.workspace.id,
    status: 'pending',
    amount_minor: '150000',
    received_minor: null,
    currency: 'KES',
    method: 'MPESA_STK',
    phone_number_mask: '********5678',
    instructions: null,
    expires_at: new Date(service.clock.now().getTime() + 300_000).toISOString(),
    idempotency_key: null,
    metadata: {},
    provider_receipt: null,
    failure_code: null,
    failure_message: null,
    provider_code: null,
    created_at: service.clock.now().toISOString(),
    updated_at: service.clock.now().toISOString(),
    completed_at: null,
  })
})

describe('every usual spelling of a Kenyan mobile number is the same number', () => {
  test.each(['0712345678', '254712345678', '+254712345678', '+254 712 345 678', '0712-345-678', '0112345678'])(
    '%s',
    async (phone_number) => {
      const answer = await initiate({ ...valid, phone_number })
      expect([answer.status, answer.body.phone_number_mask]).toEqual([201, '********5678'])
    },
  )
})

describe('a number that is not a Kenyan mobile number is refused with its field', () => {
  test.each([
    '',
    '0812345678',
    '071234567',
    '07123456789',
    '+447911123456',
    '254812345678',
    '0712345678 ext 5',
    'tel',
    '07123\u00005678',
    '+254+712345678',
  ])('%j', async (phone_number) => {
    const answer = await initiate({ ...valid, phone_number })
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
    expect(answer.body.details.fields[0].path).toMatch(/^phone_number$/)
    expect(answer.text).not.toContain(phone_number === '' ? 'never' : phone_number)
  })
})

describe('amounts are whole shillings from 1 to 250,000', () => {
  test.each(['100', '25000000'])('%s is taken', async (amount_minor) => {
    expect((await initiate({ ...valid, amount_minor })).status).toBe(201)
  })
  test.each(['0', '1', '99', '150', '150001', '25000001', '25000100', '-100', '1e3', '01', '100.00', '9'.repeat(30), 100, null])(
    '%j is refused',
    async (amount_minor) => {
      const answer = await initiate({ ...valid, amount_minor })
      expect([answer.status, answer.body.details.fields[0].path]).toEqual([400, 'amount_minor'])
    },
  )
})

test('an unknown field or method is refused', async () => {
  expect((await initiate({ ...valid, status: 'succeeded' })).body.details.fields).toEqual([
    { path: 'status', message: 'is not a known field' },
  ])
  expect((await initiate({ ...valid, account_id: 'acc_x' })).status).toBe(400)
  expect((await initiate({ ...valid, method: 'CASH' })).status).toBe(400)
  expect((await initiate({ ...valid, method: 'MPESA_STK' })).status).toBe(201)
})

test('the same key sends one prompt and returns the same answer; another body with it is a conflict', async () => {
  const before = service.sandbox.orders().length
  const body = { ...valid, phone_number: '254722000031' }
  const answers = await Promise.all(Array.from({ length: 10 }, () => initiate(body, person.api, 'top-up-1')))
  expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
  expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(201))
  expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === 'true')).toHaveLength(9)
  await service.settle()
  expect(
    service.sandbox
      .orders()
      .slice(before)
      .filter((order) => order.party === '254722000031'),
  ).toHaveLength(1)
  const other = await initiate({ ...body, amount_minor: '200' }, person.api, 'top-up-1')
  expect([other.status, other.body.details.reason]).toEqual([409, 'idempotency'])
})

test('without a credential it is refused', async () => {
  const answer = await initiate(valid, service.api)
  expect([answer.status, answer.body.error]).toEqual([401, 'authentication_required'])
})

test('without the permission it is refused, by its name', async () => {
  const key = await createKey(person, { permissions: ['topup.read'] })
  const answer = await initiate(valid, key.api)
  expect([answer.status, answer.body.error, answer.body.details.required_permission]).toEqual([403, 'forbidden', 'topup.create'])
})

test('a key with the permission tops up the account that owns its workspace', async () => {
  const owner = await signIn(service.api)
  const key = await createKey(owner, { permissions: ['topup.create', 'topup.read'] })
  const answer = await initiate(valid, key.api)
  expect(answer.status).toBe(201)
  await service.settle()
  expect((await owner.api.get('/v1/accounts/me')).body.balance.available_minor).toBe('150000')
})

test('a frozen grant moves no money', async () => {
  const key = await createKey(person)
  await person.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: true })
  expect((await initiate(valid, key.api)).body.error).toBe('grant_frozen')
})

test('an account whose capability is disabled, or that is frozen, is not topped up', async () => {
  const other = await signIn(service.api)
  const id = uuidOf(other.accountId)
  await service.deps.db.query('update accounts set topups_enabled = false where id = $1', [id])
  const disabled = await initiate(valid, other.api)
  expect([disabled.status, disabled.body.error]).toEqual([403, 'capability_disabled'])
  await service.deps.db.query(`update accounts set topups_enabled = true, status = 'frozen' where id = $1`, [id])
  const frozen = await initiate(valid, other.api)
  expect([frozen.status, frozen.body.error]).toEqual([403, 'account_frozen'])
})

test('a frozen workspace takes no top-ups', async () => {
  const other = await signIn(service.api)
  await service.deps.db.query('update workspaces set frozen_at = $2 where owning_account_id = $1', [
    uuidOf(other.accountId),
    service.clock.now(),
  ])
  const answer = await initiate(valid, other.api)
  expect([answer.status, answer.body.error]).toEqual([403, 'workspace_frozen'])
})

test('the number is in no response, log line, event, audit row or column', async () => {
  const canary = '254798123456'
  const answer = await initiate({ ...valid, phone_number: canary })
  await service.settle()
  const read = await person.api.get(`/v1/topups/${answer.body.id}`)
  const rows = await service.deps.db.query<{ matches: bigint }>(
    `select (select count(*) from topups t where t::text like $1) + (select count(*) from events e where e::text like $1)
       + (select count(*) from audit_log a where a::text like $1) + (select count(*) from rail_attempts r where r::text like $1)
       + (select count(*) from callback_deliveries c where c::text like $1) as matches`,
    ['%98123456%'],
  )
  expect(read.body.status).toBe('succeeded')
  expect(rows[0]?.matches).toBe(0n)
  expect([answer.text, read.text, ...service.log].join('\n')).not.toContain('98123456')
})

test('without a provider that collects money it is refused with that reason', async () => {
  const { deps } = service
  const collection = deps.rails.collection
  Object.assign(deps.rails, { collection: null })
  const answer = await initiate()
  Object.assign(deps.rails, { collection })
  expect([answer.status, answer.body.error]).toEqual([503, 'provider_not_configured'])
})

describe('prompts', () => {
  let limited: TestService
  beforeAll(async () => {
    limited = await startService({
      fixed: { promptLimits: { perPhoneMinute: 3, perPhoneDay: 5, perAccountMinute: 4 } },
    })
  })
  afterAll(() => limited.close())
  const phone = (index: number) => `07120000${String(index).padStart(2, '0')}`
  const prompt = async (by: Person, phone_number: string) => {
    const answer = await by.api.post('/v1/topups/initiate', { ...valid, phone_number })
    return answer.status === 429 ? `429 after ${answer.headers.get('retry-after')}` : answer.status
  }

  test('to one phone are few a minute and few a day, from any caller and with any spelling of the number', async () => {
    const people = await Promise.all(Array.from({ length: 6 }, () => signIn(limited.api)))
    const written = ['0712999999', '254712999999', '+254712999999']
    const at = (index: number) => prompt(people[index % 6] as Person, written[index % 3] as string)
    expect((await Promise.all([0, 1, 2, 3, 4, 5].map(at))).sort()).toEqual([201, 201, 201, ...Array(3).fill('429 after 60')])
    limited.clock.advance(45)
    expect(await at(0)).toBe('429 after 15')
    limited.clock.advance(15)
    expect([await at(0), await at(1)]).toEqual([201, 201])
    limited.clock.advance(60)
    expect(await at(2)).toBe(`429 after ${86_400 - 120}`)
    expect(await prompt(people[0] as Person, phone(99))).toBe(201)
  })

  test('count against the person who asks and against the account that they are for', async () => {
    const team = await createTeam(limited)
    // First in the person's own workspace, then in the team's.
    const own = await signIn(limited.api)
    expect([await prompt(own, phone(21)), await prompt(own, phone(22))]).toEqual([201, 201])
    const member = await join(limited, team, 'admin', own.wallet)
    expect([await prompt(member, phone(23)), await prompt(member, phone(24))]).toEqual([201, 201])
    expect(await prompt(member, phone(25))).toBe('429 after 60')
    expect([await prompt(team.owner, phone(26)), await prompt(team.owner, phone(27))]).toEqual([201, 201])
    expect(await prompt(team.owner, phone(28))).toBe('429 after 60')
  })

  test('are not fewer after deposits, which ring no phone', async () => {
    const payer = await signIn(limited.api)
    for (let count = 0; count < 5; count += 1) expect((await initiate({ method: 'MPESA_PAYBILL' }, payer.api)).status).toBe(201)
    for (let index = 41; index <= 44; index += 1) expect(await prompt(payer, phone(index))).toBe(201)
    expect(await prompt(payer, phone(45))).toBe('429 after 60')
  })

  test('to one phone still count after the secret for its fingerprint was rotated', async () => {
    const { current } = limited.deps.config.TOKEN_SECRETS ?? { current: { id: '', bytes: Buffer.alloc(0) } }
    const rotated = await startService({
      database: limited.database,
      clock: limited.clock,
      provider: limited,
      fixed: { promptLimits: { perPhoneMinute: 3, perPhoneDay: 20, perAccountMinute: 20 } },
      env: {
        TOKEN_SECRETS: `next:${randomBytes(32).toString('base64')},${current.id}:${current.bytes.toString('base64')}`,
      },
    })
    for (let index = 0; index < 3; index += 1) expect(await prompt(await signIn(limited.api), phone(31))).toBe(201)
    expect(await prompt(await signIn(rotated.api), phone(31))).toBe('429 after 60')
    await rotated.close()
  })

  test('of one account are few a minute, to any number of phones, and its limits are no other account’s', async () => {
    const [one, another] = [await signIn(limited.api), await signIn(limited.api)]
    const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => prompt(one, phone(index))))
    expect(answers.sort()).toEqual([201, 201, 201, 201, '429 after 60', '429 after 60'])
    expect(await prompt(another, phone(7))).toBe(201)
    const kept = await limited.deps.db.query<{ row: string }>("select t::text as row from topups t where status = 'pending'")
    expect(kept.map(({ row }) => row).join()).not.toContain('712000000')
  })
})
