import { describe, expect, test } from 'vitest'
import { lockFurtherAccounts } from '../../src/db/account-lock.ts'
import { parseId } from '../../src/lib/ids.ts'
import { holdAccount } from '../harness/account-hold.ts'
import type { Answer, Json } from '../harness/client.ts'
import { waitingForLock } from '../harness/lock-waits.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })

type Payer = Person & { beneficiary: string }

const payer = async (amount = 10_000_000n): Promise<Payer> => {
  const person = await signIn(service.api)
  await credit(service, person.accountId, amount)
  return { ...person, beneficiary: await newBeneficiary(person.api) }
}
const pay = (from: Payer, fields: Record<string, unknown> = {}, options: { key?: string } = {}) =>
  from.api.post(
    '/v1/payments',
    { beneficiary_id: from.beneficiary, amount_minor: '10000', ...fields },
    options.key === undefined ? {} : { key: options.key },
  )
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)
const balance = async (someone: Person) => (await someone.api.get('/v1/accounts/me')).body.balance

/** Requests that wait together for one account are decided in one transaction. */
const together = async (someone: Person, requests: () => Promise<Answer>[]): Promise<Answer[]> => {
  const hold = await holdAccount(service, someone.accountId)
  const running = requests()
  await hold.waiting(1)
  await hold.release()
  return Promise.all(running)
}

describe('payments that are decided together', () => {
  test('of fifty of one account whose limit fits seven, seven pass, and each refusal shows the usage at its turn', async () => {
    const someone = await payer()
    await someone.api.post('/v1/spending-policies', { name: 'Seven', daily_limit_minor: '70000' })
    const answers = await together(someone, () => Array.from({ length: 50 }, () => pay(someone)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(7)
    const denied = answers.filter(({ status }) => status === 403)
    expect(denied).toHaveLength(43)
    for (const { body } of denied) {
      const limit = body.details.decision.trace.find((entry: Json) => entry.rule === 'daily_limit')
      expect(limit).toMatchObject({ used_minor: '70000', limit_minor: '70000', outcome: 'deny' })
    }
    expect(await balance(someone)).toMatchObject({ held_minor: '70000' })
  })

  test('each have their own answer: a refusal of any kind does not affect the others', async () => {
    const someone = await payer(50_000n)
    const frozen = await newBeneficiary(someone.api)
    await someone.api.patch(`/v1/beneficiaries/${frozen}`, { status: 'frozen' })
    const unknown = `ben_${'0'.repeat(26)}`
    const answers = await together(someone, () => [
      pay(someone, { amount_minor: '20000' }),
      pay(someone, { beneficiary_id: frozen }),
      pay(someone, { beneficiary_id: unknown }),
      pay(someone, { amount_minor: '10050' }),
      pay(someone, { amount_minor: '40000' }),
      pay(someone, { amount_minor: '30000' }),
      pay(someone, { amount_minor: '10000' }),
    ])
    expect(statuses(answers)).toEqual([201, 403, 404, 400, 402, 201, 402])
    expect(await balance(someone)).toEqual({ currency: 'KES', available_minor: '0', held_minor: '50000' })
  })

  test('with one key twice in a batch are one payment; another body is a conflict; after a refusal the key is free', async () => {
    const someone = await payer(30_000n)
    const answers = await together(someone, () => [
      pay(someone, { amount_minor: '90000' }, { key: 'free' }),
      pay(someone, {}, { key: 'one' }),
      pay(someone, {}, { key: 'one' }),
      pay(someone, { amount_minor: '20000' }, { key: 'one' }),
      pay(someone, { amount_minor: '20000' }, { key: 'free' }),
    ])
    expect(statuses(answers)).toEqual([402, 201, 201, 409, 201])
    expect(answers[2]?.text).toBe(answers[1]?.text)
    expect(answers[2]?.headers.get('idempotency-replayed')).toBe('true')
    const repeated = await pay(someone, { amount_minor: '20000' }, { key: 'free' })
    expect(repeated.text).toBe(answers[4]?.text)
    expect((await someone.api.get('/v1/payments')).body.data).toHaveLength(2)
  })

  test('are all paid except one that the database refuses', async () => {
    const someone = await payer()
    await service.deps.db.query(`create function refuse_poison() returns trigger language plpgsql as $$
      begin if new.narrative = 'poison' then raise exception 'poison' using errcode = 'integrity_constraint_violation'; end if; return new; end $$`)
    await service.deps.db.query('create trigger poison before insert on payments for each row execute function refuse_poison()')
    const answers = await together(someone, () =>
      Array.from({ length: 9 }, (_, n) => pay(someone, n === 4 ? { narrative: 'poison' } : {})),
    )
    await service.deps.db.query('drop trigger poison on payments')
    expect(statuses(answers)).toEqual([201, 201, 201, 201, 500, 201, 201, 201, 201])
    expect(await balance(someone)).toMatchObject({ held_minor: '80000' })
  })

  test('do not delay payments of other accounts when their account is locked', async () => {
    const [busy, free] = [await payer(), await payer()]
    const hold = await holdAccount(service, busy.accountId)
    const waiting = pay(busy)
    await hold.waiting(1)
    expect((await pay(free)).status).toBe(201)
    await hold.release()
    expect((await waiting).status).toBe(201)
  })

  test('get 503 and have no effect if their connection is killed: the same keys succeed later', async () => {
    const someone = await payer()
    const hold = await holdAccount(service, someone.accountId)
    const running = ['a', 'b', 'c'].map((key) => pay(someone, {}, { key }))
    await hold.waiting(1)
    await service.deps.db.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    )
    expect(statuses(await Promise.all(running))).toEqual([503, 503, 503])
    await hold.release()
    expect(statuses(await Promise.all(['a', 'b', 'c'].map((key) => pay(someone, {}, { key }))))).toEqual([201, 201, 201])
    expect(await balance(someone)).toMatchObject({ held_minor: '30000' })
  })

  test('are decided again when the database ends their transaction for a deadlock', async () => {
    const someone = await payer()
    const account = parseId('account', someone.accountId)
    if (!account) throw new Error('not an account id')
    const { db } = service.deps
    const deadlocks = async () => {
      await db.query('select pg_stat_force_next_flush()')
      const [row] = await db.query<{ deadlocks: bigint }>(
        'select deadlocks from pg_stat_database where datname = current_database()',
      )
      return Number(row?.deadlocks)
    }
    const before = await deadlocks()
    const hold = await holdAccount(service, someone.accountId)
    const running = Array.from({ length: 5 }, () => pay(someone))
    await hold.waiting(1)
    await db.transaction(async (tx) => {
      // The batch detects the deadlock first, so Postgres ends the batch.
      await tx.query("set local deadlock_timeout = '1min'")
      await tx.query('select from ledger_accounts where owner_id = $1 for update', [account])
      await hold.release()
      await expect.poll(() => db.query(`select from ${waitingForLock}`)).toHaveLength(1)
      await lockFurtherAccounts(tx, account)
    })
    expect(statuses(await Promise.all(running))).toEqual([201, 201, 201, 201, 201])
    expect(await balance(someone)).toMatchObject({ held_minor: '50000' })
    await expect.poll(deadlocks).toBe(before + 1)
  })
})
