import { parse } from 'csv-parse/sync'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import { traceByProviderName } from '../../src/modules/attempts/trace.ts'
import type { Client, Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { credit, newBeneficiary, shareBalance, unguarded } from '../harness/money.ts'
import { createKey, type Key, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { createTeam, join, type Team, type Teammate } from '../workspaces/team.ts'

let service: TestService
let person: Person
let key: Key
const made: Record<string, Json> = {}
beforeAll(async () => {
  service = await startService()
  person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  key = await createKey(person)
  const mandate = await createMandate(service, person.wallet)
  const acme = await newBeneficiary(person.api, { display_name: 'Acme Supplies & Söhne', metadata: { vendor: '17' } })
  const evil = await newBeneficiary(person.api, { display_name: '=HYPERLINK("http://evil.example")' })
  await person.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '500000' })
  const pay = async (name: string, api: Person['api'], fields: Json) => {
    service.clock.advance(60)
    const answer = await api.post('/v1/payments', { beneficiary_id: acme, amount_minor: '10000', ...fields })
    expect([name, answer.status]).toEqual([name, 201])
    made[name] = answer.body
  }
  await pay('rent', person.api, {
    narrative: 'March rent, 100% of it',
    account_reference: 'INV-2041',
    metadata: { invoice: '2041', team: 'a' },
  })
  await pay('byKey', key.api, { amount_minor: '20000', narrative: 'Paper;=1+1', metadata: { invoice: '2042', team: 'a' } })
  await pay('evil', person.api, {
    beneficiary_id: evil,
    amount_minor: '30000',
    narrative: '-1+2, "quoted"; second',
    account_reference: '@sum',
  })
  await pay('held', person.api, { amount_minor: '600000', narrative: 'A car' })
  await pay('mandated', person.api, { amount_minor: '40000', mandate_id: mandate.id })
  await service.settle()
  made.rent = (await person.api.get(`/v1/payments/${made.rent.id}`)).body
})
afterAll(() => service.close())

const namesOf = (data: Json[]) => data.map(({ id }) => Object.keys(made).find((name) => made[name].id === id)).sort()
const find = async (query: string) => {
  const answer = await person.api.get(`/v1/payments?${query}`)
  expect([query, answer.status]).toEqual([query, 200])
  return namesOf(answer.body.data)
}

describe('payments are found by', () => {
  test('one status or several, repeated or with commas', async () => {
    expect(await find('status=pending_approval')).toEqual(['held'])
    const several = ['byKey', 'evil', 'held', 'mandated', 'rent']
    expect(await find('status=pending_approval&status=succeeded')).toEqual(several)
    expect(await find('status=pending_approval,succeeded')).toEqual(several)
    expect(await find('status=pending_approval,failed&status=succeeded')).toEqual(several)
    const wrong = await person.api.get('/v1/payments?status=succeeded,done')
    expect([wrong.status, wrong.body.details.param]).toEqual([400, 'status'])
  })

  test('who initiated them, through which grant, under which mandate', async () => {
    expect(await find(`grant_id=${key.grantId}`)).toEqual(['byKey'])
    expect((await find(`initiator_account_id=${person.accountId}`)).length).toBe(5)
    expect(await find('initiator_account_id=acc_01h455vb4pex5vsknk084sn02q')).toEqual([])
    expect(await find(`mandate_id=${made.mandated.mandate_id}`)).toEqual(['mandated'])
  })

  test('metadata: all of the named keys', async () => {
    expect(await find('metadata[invoice]=2041')).toEqual(['rent'])
    expect(await find('metadata%5Bteam%5D=a')).toEqual(['byKey', 'rent'])
    expect(await find('metadata[team]=a&metadata[invoice]=2042')).toEqual(['byKey'])
    expect(await find('metadata[team]=b')).toEqual([])
    const wrong = await person.api.get('/v1/payments?labels[team]=a')
    expect([wrong.status, wrong.body.details.param]).toEqual([400, 'labels'])
    for (const bad of ['metadata[__proto__]=x', 'metadata[a][b]=x', 'metadata=x'])
      expect([bad, (await person.api.get(`/v1/payments?${bad}`)).status]).not.toEqual([bad, 500])
  })

  test('a range of amounts, both ends included', async () => {
    expect(await find('amount_min_minor=20000&amount_max_minor=30000')).toEqual(['byKey', 'evil'])
    expect(await find('amount_min_minor=600001')).toEqual([])
  })

  test('part of the payee, the reference or the narrative; a whole receipt or id', async () => {
    expect(await find('q=march')).toEqual(['rent'])
    expect(await find('q=inv-2041')).toEqual(['rent'])
    expect(await find('q=hyperlink')).toEqual(['evil'])
    expect((await find(`q=${encodeURIComponent('supplies & söhne')}`)).length).toBe(4)
    expect(await find(`q=${made.held.id}`)).toEqual(['held'])
    const { id, provider_receipt: receipt } = made.rent
    for (const printed of [receipt, receipt.toUpperCase(), receipt.toLowerCase()]) {
      expect([printed, await find(`q=${printed}`)]).toEqual([printed, ['rent']])
      expect(await traceByProviderName(service.deps.db, printed)).toMatchObject([{ id: parseId('payment', id) }])
    }
  })

  test('an amount as people write it: with separators, cents and the currency or without', async () => {
    for (const text of ['6000', '6,000', '6000.00', 'KES 6,000.00', 'kes6000', 'Ksh 6,000', '6 000', '6\u00a0000,', '6000 KES'])
      expect([text, await find(`q=${encodeURIComponent(text)}`)]).toEqual([text, ['held']])
    for (const text of ['60', '6000.01', '6,000.001', '-6000', 'USD 6000', '600000', '9'.repeat(30)])
      expect([text, await find(`q=${encodeURIComponent(text)}`)]).toEqual([text, []])
    const found = await person.api.get('/v1/payments?q=KES+6,000&status=pending_approval')
    expect(namesOf(found.body.data)).toEqual(['held'])
    expect((await person.api.get('/v1/payments/summary?q=6000')).body).toMatchObject({ count: 1, amount_minor: '600000' })
    const stranger = await signIn(service.api)
    expect(namesOf((await stranger.api.get('/v1/payments?q=6000')).body.data)).toEqual([])
  })

  test('a searched text is not a pattern', async () => {
    expect(await find(`q=${encodeURIComponent('100%')}`)).toEqual(['rent'])
    expect(await find(`q=${encodeURIComponent('%%')}`)).toEqual([])
    expect(await find(`q=${encodeURIComponent('M_rch')}`)).toEqual([])
  })

  test("their beneficiary, also at the beneficiary's own address; another tenant's finds none", async () => {
    const answer = await person.api.get(`/v1/beneficiaries/${made.evil.beneficiary_id}/payments`)
    expect(namesOf(answer.body.data)).toEqual(['evil'])
    const stranger = await signIn(service.api)
    expect((await stranger.api.get(`/v1/beneficiaries/${made.evil.beneficiary_id}/payments`)).status).toBe(404)
    expect(namesOf((await stranger.api.get(`/v1/payments?q=${made.rent.id}`)).body.data)).toEqual([])
  })
})

const csv = { headers: { accept: 'text/csv' } }

describe('in a workspace with many payments', () => {
  const many = 6_000
  let team: Team
  let reader: Teammate
  let rare: string
  beforeAll(async () => {
    team = await createTeam(service)
    await credit(service, team.id, 1_000_000n)
    reader = await join(service, team, 'viewer')
    const payee = await newBeneficiary(team.owner.api, { display_name: 'Zawadi Stationers' })
    const paid = await team.owner.api.post('/v1/payments', {
      beneficiary_id: payee,
      amount_minor: '10000',
      narrative: 'Ordinary',
    })
    rare = (await team.owner.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '20000', narrative: 'Quixotic' }))
      .body.id
    expect(paid.status).toBe(201)
    await service.settle()
    // Each payment has the maximum of metadata, so that an export is longer than a connection's buffer.
    await service.deps.db.query(
      `insert into payments select copy.* from payments p, generate_series(1, $2::int) n, jsonb_populate_record(p, jsonb_build_object(
         'id', gen_random_uuid(), 'beneficiary_id', $3::text, 'provider_receipt', 'COPY' || n, 'narrative', 'Ordinary ' || n,
         'metadata', (select jsonb_object_agg('key' || k, repeat('x', 200)) from generate_series(1, 20) k))) copy where p.id = $1`,
      [parseId('payment', paid.body.id), many, parseId('beneficiary', await newBeneficiary(team.owner.api))],
    )
    // Also merges the index's pending entries of just-written rows.
    await service.deps.db.query('vacuum analyze payments')
  })

  /** Postgres' plan for the requested search: its own statements, with the settings that the service sends. */
  const planOf = async (query: string) => {
    const spy = vi.spyOn(pg.Client.prototype, 'query')
    const answer = await team.owner.api.get(`/v1/payments?${query}`)
    const sent = spy.mock.calls.flatMap(([query, values]) => {
      const { text, values: own } = query as unknown as { text?: string; values?: unknown[] }
      return text === undefined ? [] : [{ text, values: own ?? (values as unknown[] | undefined) }]
    })
    spy.mockRestore()
    expect(answer.status).toBe(200)
    const search = sent.find(({ text }) => / from "payments"/.test(text))
    const settings = sent.find(({ text }) => text.includes('set_config'))
    const plan = await service.deps.db.transaction(async (tx) => {
      if (settings) await tx.query(settings.text)
      return tx.query(`explain (analyze, timing off) ${search?.text}`, search?.values)
    })
    return { foundIds: answer.body.data.map(({ id }: Json) => id), plan: JSON.stringify(plan) }
  }

  test('a search uses the indexes of words, names, receipts and ids, and reads only the rows that they find', async () => {
    const byNarrative = await planOf('q=quixotic')
    expect(byNarrative.foundIds).toEqual([rare])
    for (const index of ['payments_search', 'payments_receipt_key'])
      expect(byNarrative.plan).toMatch(new RegExp(`Bitmap Index Scan on ${index}`))
    const byName = await planOf('q=zawadi')
    expect(byName.foundIds).toHaveLength(2)
    expect(byName.plan).toMatch(/Bitmap Index Scan on payments_beneficiary/)
    expect((await planOf(`q=${rare}`)).plan).toMatch(/Bitmap Index Scan on payments_pkey/)
    expect((await planOf('q=COPY77')).plan).toMatch(/Bitmap Index Scan on payments_receipt_key/)
    const plain = await planOf('limit=1')
    expect(plain.plan).not.toContain('Bitmap')
    const summary = await team.owner.api.get('/v1/payments/summary?q=quixotic')
    expect([summary.body.count, summary.body.amount_minor]).toEqual([1, '20000'])
  })

  test('an export is aborted when its reader may no longer read the payments', async () => {
    const url = `${service.api.url}/v1/payments`
    const response = await fetch(url, { headers: { cookie: `service_session=${reader.cookie}`, ...csv.headers } })
    const chunks = response.body?.getReader()
    expect([response.status, (await chunks?.read())?.done]).toEqual([200, false])
    const path = `/v1/workspaces/current/members/${reader.memberId}`
    expect((await team.owner.api.patch(path, { status: 'suspended' })).status).toBe(200)
    const rest = async () => {
      for (let bytes = 0; ; ) {
        const chunk = await chunks?.read()
        if (!chunk || chunk.done) return bytes
        bytes += chunk.value.length
      }
    }
    await expect(rest()).rejects.toThrow('terminated')
    expect((await reader.api.get('/v1/payments')).status).toBe(403)
    const whole = await team.owner.api.get('/v1/payments', csv)
    expect(rows(whole.text)).toHaveLength(many + 2)
  })
})

const rows = (text: string): Record<string, string>[] => parse(text, { columns: true, bom: true, relaxColumnCount: false })

describe('as CSV', () => {
  test('payments are everything that the filters match, readable by a CSV parser, with nothing that a spreadsheet would execute', async () => {
    const answer = await person.api.get('/v1/payments?status=succeeded&limit=1', csv)
    for (const accept of ['text/csv;q=0.9, */*;q=0.1', 'application/vnd.ms-excel, text/csv;q=0.9, */*;q=0.1'])
      expect((await person.api.get('/v1/payments?limit=1', { headers: { accept } })).headers.get('content-type')).toMatch(/csv/)
    for (const accept of ['application/json, text/csv;q=0.1', 'text/csv;q=0, application/json', 'text/csvx', '*/*']) {
      const plain = await person.api.get('/v1/payments?status=succeeded&limit=1', { headers: { accept } })
      expect([accept, plain.headers.get('content-type')]).toEqual([accept, 'application/json; charset=utf-8'])
    }
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="payments.csv"')
    const read = rows(answer.text)
    expect(namesOf(read)).toEqual(['byKey', 'evil', 'mandated', 'rent'])
    const evil = read.find(({ id }) => id === made.evil.id)
    expect(evil).toMatchObject({
      amount_minor: '30000',
      beneficiary_name: '\'=HYPERLINK("http://evil.example")',
      account_reference: "'@sum",
      narrative: '\'-1+2, "quoted"; second',
    })
    // If `;` separates cells, the text after it begins one, whatever the quotes say.
    expect(read.find(({ id }) => id === made.byKey.id)?.narrative).toBe("Paper;'=1+1")
    expect(answer.text).toContain(`"Paper;'=1+1"`)
    const rent = read.find(({ id }) => id === made.rent.id)
    expect(rent).toMatchObject({ beneficiary_name: 'Acme Supplies & Söhne', metadata: '{"team":"a","invoice":"2041"}' })
    expect(rent?.provider_receipt).toBe(made.rent.provider_receipt)
    expect(answer.text).not.toMatch(/2547\d{8}/)
  })

  test('an empty result is a line of column names', async () => {
    const answer = await person.api.get('/v1/payments?q=nothing-like-it', csv)
    expect(answer.text.trim().split('\r\n')).toHaveLength(1)
    expect(rows(answer.text)).toEqual([])
  })

  test('more payments than a page are complete, each once, newest first', async () => {
    const big = await signIn(service.api)
    await unguarded(
      service,
      `insert into ledger_transfers (id, kind, debit_account_id, credit_account_id, amount_minor, reference_type, reference_id, customer_account_id, available_after_minor, created_at)
       select gen_random_uuid(), 'direct', (select id from ledger_accounts where kind = 'adjustments' limit 1), l.id, 1, 'adjustment', gen_random_uuid(), l.id, n, now()
       from ledger_accounts l, generate_series(1, 1203) n
       where l.owner_id = (select a.id from accounts a join identities i on i.account_id = a.id where i.subject_key = $1)`,
      [big.wallet.address.toLowerCase()],
    )
    const read = rows((await big.api.get('/v1/accounts/me/history', csv)).text)
    expect(read).toHaveLength(1203)
    expect(new Set(read.map(({ id }) => id)).size).toBe(1203)
    expect(read.map(({ id }) => id)).toEqual([...read.map(({ id }) => id)].sort().reverse())
  })

  test('the history keeps signed numbers as numbers', async () => {
    const read = rows((await person.api.get('/v1/accounts/me/history?type=payment_hold', csv)).text)
    expect(read).toHaveLength(5)
    expect(read.find(({ reference_id }) => reference_id === made.rent.id)).toMatchObject({
      type: 'payment_hold',
      amount_minor: '-10000',
      held_change_minor: '10000',
      beneficiary_name: 'Acme Supplies & Söhne',
    })
  })

  test('an export needs the permissions of the list', async () => {
    expect((await service.api.get('/v1/payments', csv)).status).toBe(401)
    const blind = await createKey(person, { permissions: ['payment.create'] })
    expect((await blind.api.get('/v1/payments', csv)).status).toBe(403)
    expect((await person.api.get('/v1/payments?statuss=failed', csv)).status).toBe(400)
  })
})

describe('the history', () => {
  const history = async (query = '') => (await person.api.get(`/v1/accounts/me/history?limit=100${query}`)).body.data as Json[]

  test('can be filtered by type and time', async () => {
    expect(new Set((await history('&type=payment_hold,adjustment')).map(({ type }) => type))).toEqual(
      new Set(['payment_hold', 'adjustment']),
    )
    const all = await history()
    const times = all.map(({ created_at }) => created_at as string)
    const middle = times[3] ?? ''
    expect((await history(`&created_after=${middle}`)).every(({ created_at }) => created_at > middle)).toBe(true)
    expect((await history(`&created_before=${middle}`)).every(({ created_at }) => created_at < middle)).toBe(true)
    expect((await person.api.get('/v1/accounts/me/history?type=hold')).status).toBe(400)
  })

  test('names the payee; to a delegated credential only in its own workspace, and only with beneficiary.read', async () => {
    const elsewhere = (await person.api.post('/v1/workspaces', { name: 'Elsewhere' })).body.workspace.id
    await shareBalance(service, elsewhere)
    const there = { headers: { 'workspace-id': elsewhere } }
    const paid = { type: 'person', display_name: 'Paid elsewhere', payment_rail: 'MPESA_B2C', destination: '0722000555' }
    const { id } = (await person.api.post('/v1/beneficiaries', paid, there)).body
    const payment = (await person.api.post('/v1/payments', { beneficiary_id: id, amount_minor: '10000' }, there)).body
    const namesFor = async (client: Client) =>
      new Set(
        ((await client.get('/v1/accounts/me/history?limit=100&type=payment_hold')).body.data as Json[]).map(
          ({ beneficiary }) => beneficiary?.display_name,
        ),
      )
    const entry = (await history('&type=payment_hold')).find(({ reference }) => reference.id === payment.id)
    expect(entry?.beneficiary).toEqual({ id, display_name: 'Paid elsewhere' })
    // The workspace that shares the balance shows its own payments' movements, and no balance.
    const own = (await person.api.get('/v1/workspaces/current/history', there)).body.data as Json[]
    expect(own.map(({ reference, available_after_minor: after }) => [reference.id, after])).toEqual([[payment.id, null]])
    const inPerson = await namesFor(person.api)
    expect([...inPerson]).not.toContain(undefined)
    const key = await createKey(person, { permissions: ['account.read', 'beneficiary.read'] })
    expect(await namesFor(key.api)).toEqual(new Set([...inPerson, undefined].filter((name) => name !== 'Paid elsewhere')))
    const blind = await createKey(person, { permissions: ['account.read'] })
    expect(await namesFor(blind.api)).toEqual(new Set([undefined]))
    const [topup] = await history('&type=topup,adjustment')
    expect(topup.beneficiary).toBeNull()
  })

  test('adds up to the available and the held balance', async () => {
    const sum = (entries: Json[], field: string) => entries.reduce((total, entry) => total + BigInt(entry[field]), 0n)
    const all = await history()
    const { balance } = (await person.api.get('/v1/accounts/me')).body
    expect(sum(all, 'amount_minor')).toBe(BigInt(balance.available_minor))
    expect(sum(all, 'held_change_minor')).toBe(BigInt(balance.held_minor))
    expect(BigInt(balance.held_minor)).toBeGreaterThan(0n)
  })
})

describe('metadata', () => {
  test('of a beneficiary is stored, shown and changed', async () => {
    const id = await newBeneficiary(person.api, { metadata: { vendor: '18' } })
    expect((await person.api.get(`/v1/beneficiaries/${id}`)).body.metadata).toEqual({ vendor: '18' })
    const changed = await person.api.patch(`/v1/beneficiaries/${id}`, { metadata: { vendor: '19' } })
    expect(changed.body.metadata).toEqual({ vendor: '19' })
    expect((await person.api.patch(`/v1/beneficiaries/${id}`, { metadata: { vendor: 19 } })).status).toBe(400)
  })

  test('of a top-up is stored and shown', async () => {
    const topup = { amount_minor: '10000', phone_number: '0712345678', metadata: { order: '7' } }
    const initiated = await person.api.post('/v1/topups/initiate', topup)
    expect((await person.api.get(`/v1/topups/${initiated.body.id}`)).body.metadata).toEqual({ order: '7' })
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [String(index), 'x']))
    expect((await person.api.post('/v1/topups/initiate', { ...topup, metadata: many })).status).toBe(400)
  })
})
