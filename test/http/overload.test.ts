import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createAdmission } from '../../src/http/shed.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

describe('admission', () => {
  const filled = (count: number) => {
    const admission = createAdmission()
    for (let n = 0; n < count; n += 1) admission.enter('never')
    return admission
  }

  test('refuses reads first, payments later, and requests that stop something or return money never', () => {
    expect([filled(63).enter('first'), filled(64).enter('first')]).toEqual([true, false])
    expect([filled(64).enter('last'), filled(127).enter('last'), filled(128).enter('last')]).toEqual([true, true, false])
    expect(filled(10_000).enter('never')).toBe(true)
  })

  test('admits more if requests end faster, and never more than the bound', () => {
    const admission = filled(0)
    const end = (count: number) => {
      for (let n = 0; n < count; n += 1) {
        admission.enter('never')
        admission.leave()
      }
    }
    for (let tick = 0; tick < 40; tick += 1) {
      end(20)
      admission.tick(0)
    }
    for (let n = 0; n < 100; n += 1) admission.enter('never')
    // 200 a second: 100 of them wait half a second.
    expect([admission.enter('first'), admission.enter('last')]).toEqual([false, true])
    for (let tick = 0; tick < 40; tick += 1) {
      end(1_000)
      admission.tick(0)
    }
    for (let n = admission.underWay(); n < 192; n += 1) expect(admission.enter('first')).toBe(true)
    expect(admission.enter('first')).toBe(false)
    for (let n = admission.underWay(); n < 384; n += 1) expect(admission.enter('last')).toBe(true)
    expect(admission.enter('last')).toBe(false)
  })

  test('refuses while the event loop is late, in the same order, but not after one short delay', () => {
    const calm = filled(15)
    calm.tick(2_100)
    expect(calm.enter('first')).toBe(true)
    const admission = filled(16)
    admission.tick(600)
    expect([admission.enter('first'), admission.enter('last'), admission.enter('never')]).toEqual([false, true, true])
    admission.tick(2_100)
    expect([admission.enter('last'), admission.enter('never')]).toEqual([false, true])
    admission.tick(0)
    expect(admission.enter('first')).toBe(true)
  })
})

describe('an overloaded service', () => {
  let service: TestService
  let person: Person
  beforeAll(async () => {
    // Without its ticks it measures no delay: a slow machine is not this test's load.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    service = await startService({ fixed: { SHED_LOAD: true } })
    vi.useRealTimers()
    person = await signIn(service.api)
    await credit(service, person.accountId, 1_000_000n)
  })
  afterAll(() => service.close())

  test('answers 503 with Retry-After to the rest, accepts payments longer than reads, and always lets a key be revoked', async () => {
    const beneficiary = await newBeneficiary(person.api)
    const key = await createKey(person)
    const doomed = await createKey(person)
    const blocker = new pg.Client({ connectionString: service.database.url })
    await blocker.connect()
    // Every credential lookup waits for this, so no accepted request can end.
    await blocker.query('begin')
    await blocker.query('lock table api_keys, sessions in access exclusive mode')
    let arrived = 0
    service.http.server.on('request', () => {
      arrived += 1
    })
    const reads = Array.from({ length: 64 }, () => key.api.get('/v1/workspaces/current'))
    const settled: number[] = []
    for (const read of reads) void read.then(({ status }) => settled.push(status))
    await expect.poll(() => arrived).toBe(64)
    const shed = await Promise.all(Array.from({ length: 20 }, () => key.api.get('/v1/workspaces/current')))
    expect(shed.map(({ status, body, headers }) => [status, body.error, headers.get('retry-after')])).toEqual(
      shed.map(() => [503, 'unavailable', '1']),
    )
    for (const { headers } of shed) expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(new Set(shed.map(({ body }) => body.message))).toEqual(new Set(['Too many requests are under way. Try again.']))
    // An operator finds each rejection in the log, with its code.
    const rejected = () => service.log.map((line) => JSON.parse(line)).filter(({ status }) => status === 503)
    await expect.poll(() => rejected().map(({ code }) => code)).toEqual(shed.map(() => 'unavailable'))
    expect((await service.api.post('/v1/auth/wallet/nonce', { address: person.wallet.address })).status).toBe(503)
    expect((await service.api.get('/healthz')).status).toBe(200)
    const paid = key.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })
    const revoked = person.api.delete(`/v1/accounts/me/api-keys/${doomed.id}`)
    await blocker.query('rollback')
    await blocker.end()
    expect([(await paid).status, (await revoked).status]).toEqual([201, 200])
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual(reads.map(() => 200))
    expect(settled).toHaveLength(64)
  })
})

describe('under full load', () => {
  let service: TestService
  let person: Person
  beforeAll(async () => {
    service = await startService()
    person = await signIn(service.api)
  })
  afterAll(() => service.close())

  test.each([
    ['a key', async (key: { id: string }) => person.api.delete(`/v1/accounts/me/api-keys/${key.id}`)],
    ['its grant', async (key: { grantId: string }) => person.api.delete(`/v1/accounts/me/grants/${key.grantId}`)],
  ])('nothing is accepted after the revocation of %s was acknowledged', async (_name, revoke) => {
    for (let round = 0; round < 3; round += 1) {
      const key = await createKey(person)
      let ended = false
      let accepted = 0
      let acceptedAfter = 0
      const worker = async () => {
        for (let refused = 0; refused < 5; ) {
          const after = ended
          const { status } = await key.api.get('/v1/workspaces/current')
          if (status === 200) {
            accepted += 1
            if (after) acceptedAfter += 1
          } else refused += 1
        }
      }
      const workers = Array.from({ length: 32 }, worker)
      while (accepted < 200) await new Promise((resolve) => setImmediate(resolve))
      const answer = await revoke(key)
      ended = true
      await Promise.all(workers)
      expect([answer.status, acceptedAfter]).toEqual([200, 0])
    }
  })
})
