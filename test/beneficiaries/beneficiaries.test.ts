import { describe, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
const stranger = await signIn(service.api)

const phone = { type: 'supplier', display_name: 'Jane Wanjiru', payment_rail: 'MPESA_B2C', destination: '0712 345 678' }
const create = (body: unknown, key?: string) => person.api.post('/v1/beneficiaries', body, key === undefined ? {} : { key })

describe('creating', () => {
  test('every field is returned, and of the destination only the mask', async () => {
    const answer = await create({ ...phone, legal_name: 'Jane W. Kamau', account_reference_required: true })
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({
      type: 'supplier',
      display_name: 'Jane Wanjiru',
      legal_name: 'Jane W. Kamau',
      payment_rail: 'MPESA_B2C',
      destination_mask: '********5678',
      account_reference_required: true,
      bank_code: null,
      status: 'active',
    })
    expect(answer.body.id).toMatch(/^ben_/)
    expect(answer.text).not.toContain('12345678')
    expect(answer.body.workspace_id).toBe((await person.api.get('/v1/workspaces/current')).body.workspace.id)
    const { warnings, ...record } = answer.body
    expect(warnings).toEqual([])
    expect((await person.api.get(`/v1/beneficiaries/${answer.body.id}`)).body).toEqual(record)
  })

  test.each([
    ['MPESA_B2C', { destination: '0110000000' }, '********0000'],
    ['MPESA_B2C', { destination: '+254 712 345 678' }, '********5678'],
    ['MPESA_B2C', { destination: '254712345678' }, '********5678'],
    ['MPESA_B2B', { destination: '123456' }, '****56'],
    ['MPESA_B2B', { destination: '12345' }, '***45'],
    ['PESALINK', { destination: '01-1234567890', bank_code: '0012' }, '********7890'],
    ['PESALINK', { destination: '0712345678' }, '********5678'],
  ])('%s takes %j', async (rail, fields, destinationMask) => {
    const answer = await create({ ...phone, payment_rail: rail, ...fields })
    expect([answer.status, answer.body.destination_mask]).toEqual([201, destinationMask])
  })

  test.each([
    ['MPESA_B2C', { destination: '0202222222' }, 'destination'],
    ['MPESA_B2C', { destination: '+1 202 555 0100' }, 'destination'],
    ['MPESA_B2C', { destination: '07998877' }, 'destination'],
    ['MPESA_B2C', { destination: '0712345678', bank_code: '12' }, 'bank_code'],
    ['MPESA_B2B', { destination: '1234' }, 'destination'],
    ['MPESA_B2B', { destination: '12345678' }, 'destination'],
    ['PESALINK', { destination: '1234567890' }, 'bank_code'],
    ['PESALINK', { destination: '12', bank_code: '0012' }, 'destination'],
    ['MPESA_B2C', { destination: '' }, 'destination'],
    ['MPESA', {}, 'payment_rail'],
    ['MPESA_B2C', { display_name: ' ' }, 'display_name'],
    ['MPESA_B2C', { display_name: 'x'.repeat(121) }, 'display_name'],
    ['MPESA_B2C', { status: 'active' }, 'status'],
    ['MPESA_B2C', { type: 7 }, 'type'],
  ])('%s refuses %j and names the field, never the value', async (rail, fields, path) => {
    const answer = await create({ ...phone, payment_rail: rail, ...fields })
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
    expect(answer.body.details.fields.map((field: { path: string }) => field.path)).toContain(path)
    // The request's id and the port in the page's address are digits too.
    const { message, details } = answer.body
    if ('destination' in fields && fields.destination)
      expect(JSON.stringify([message, details.fields])).not.toContain(fields.destination)
  })

  test('the same idempotency key makes one beneficiary, and another body under it is a conflict', async () => {
    const [first, second] = await Promise.all([create(phone, 'ben-1'), create(phone, 'ben-1')])
    expect(first.text).toBe(second.text)
    expect([first, second].filter((answer) => answer.headers.get('idempotency-replayed') === 'true')).toHaveLength(1)
    const other = await create({ ...phone, display_name: 'Somebody else' }, 'ben-1')
    expect([other.status, other.body.error, other.body.details.reason]).toEqual([409, 'conflict', 'idempotency'])
  })
})

test('the destination is in the database only encrypted, and not in the log, the events or the audit', async () => {
  const canary = '254799887766'
  await create({ ...phone, destination: canary })
  const tables = ['beneficiaries', 'payees', 'events', 'audit_log', 'idempotency_keys']
  for (const table of tables) {
    const rows = await service.deps.db.query<{ row: string }>(`select t::text as row from ${table} t`)
    expect(rows.filter(({ row }) => row.includes(canary) || row.includes(Buffer.from(canary).toString('hex')))).toEqual([])
  }
  expect(service.log.join('')).not.toContain(canary)
})

test('a freeze follows the destination: the same payee under another name is frozen too', async () => {
  const first = (await create({ ...phone, destination: '0722000001' })).body
  expect((await person.api.patch(`/v1/beneficiaries/${first.id}`, { status: 'frozen' })).body.status).toBe('frozen')
  const second = await create({ ...phone, display_name: 'Another name', destination: '+254722000001' })
  expect(second.body.status).toBe('frozen')
  await person.api.delete(`/v1/beneficiaries/${first.id}`)
  expect((await create({ ...phone, destination: '0722000001' })).body.status).toBe('frozen')
  expect((await person.api.patch(`/v1/beneficiaries/${second.body.id}`, { status: 'active' })).body.status).toBe('active')
})

test('a freeze is an event of each beneficiary whose status changes with it, as REST returns it', async () => {
  const { api } = await signIn(service.api)
  const make = async (display_name: string, fields: object = {}): Promise<string> =>
    (await api.post('/v1/beneficiaries', { ...phone, display_name, ...fields })).body.id
  const paybill = { payment_rail: 'MPESA_B2B', destination: '247247' }
  const [first, , gone] = [await make('First'), await make('Second'), await make('Gone')]
  const [open, , fixed] = [
    await make('Open', { ...paybill, account_reference_required: true }),
    await make('Meter 1', { ...paybill, account_reference: 'METER1' }),
    await make('Meter 2', { ...paybill, account_reference: 'METER2' }),
  ]
  await api.delete(`/v1/beneficiaries/${gone}`)
  const eventsOf = async (id: string, status: string) => {
    await service.settle()
    const [{ id: newest }] = (await api.get('/v1/notifications?limit=1')).body.data
    service.clock.advance(1)
    const { body: patched, status: answered } = await api.patch(`/v1/beneficiaries/${id}`, { status })
    expect(answered).toBe(200)
    await service.settle()
    const { body } = await api.get(`/v1/notifications?after=${newest}&type=beneficiary.updated`)
    for (const { data } of body.data) expect((await api.get(`/v1/beneficiaries/${data.id}`)).body).toEqual(data)
    expect(patched.updated_at).toBe(service.clock.now().toISOString())
    return body.data.map(({ data }: { data: Json }) => [data.display_name, data.status]).toSorted()
  }
  const all = (status: string, ...names: string[]) => names.map((name) => [name, status])
  expect(await eventsOf(first, 'frozen')).toEqual(all('frozen', 'First', 'Second'))
  expect(await eventsOf(first, 'active')).toEqual(all('active', 'First', 'Second'))
  expect(await eventsOf(fixed, 'frozen')).toEqual(all('frozen', 'Meter 2'))
  expect(await eventsOf(open, 'frozen')).toEqual(all('frozen', 'Meter 1', 'Open'))
  expect(await eventsOf(open, 'active')).toEqual(all('active', 'Meter 1', 'Open'))
})

test('a name can change, a destination cannot, and an archived one changes no more', async () => {
  const { id } = (await create(phone)).body
  expect((await person.api.patch(`/v1/beneficiaries/${id}`, { display_name: 'New' })).body).toMatchObject({
    display_name: 'New',
    legal_name: null,
  })
  expect((await person.api.patch(`/v1/beneficiaries/${id}`, { destination: '0712345679' })).status).toBe(400)
  const archived = await person.api.delete(`/v1/beneficiaries/${id}`)
  expect([archived.status, archived.body.status]).toEqual([200, 'archived'])
  expect((await person.api.delete(`/v1/beneficiaries/${id}`)).body).toEqual(archived.body)
  expect((await person.api.patch(`/v1/beneficiaries/${id}`, { display_name: 'Newer' })).status).toBe(409)
})

test('a change that changes nothing leaves no trace: not in the record, not in the events, not in the audit log', async () => {
  const made = (await create({ ...phone, metadata: { vendor: '17' } })).body
  const traces = async () => {
    const events = (await person.api.get('/v1/notifications?type=beneficiary.updated&limit=100')).body.data
    const log = (await person.api.get('/v1/workspaces/current/audit-log?action=beneficiary.update&limit=100')).body.data
    return [events.length, log.length]
  }
  const before = await traces()
  for (const change of [{}, { display_name: phone.display_name, metadata: { vendor: '17' }, status: 'active' }]) {
    const { warnings: _, ...record } = made
    expect((await person.api.patch(`/v1/beneficiaries/${made.id}`, change)).body).toEqual(record)
  }
  expect(await traces()).toEqual(before)
  expect((await person.api.patch(`/v1/beneficiaries/${made.id}`, { metadata: {} })).body.metadata).toEqual({})
  expect(await traces()).not.toEqual(before)
})

test('lists run newest first, page by page, and show this workspace alone', async () => {
  const reader = await signIn(service.api)
  const ids: string[] = []
  for (let n = 0; n < 5; n += 1)
    ids.unshift((await reader.api.post('/v1/beneficiaries', { ...phone, display_name: `n${n}` })).body.id)
  const first = await reader.api.get('/v1/beneficiaries?limit=3')
  const second = await reader.api.get(`/v1/beneficiaries?limit=3&cursor=${first.body.next_cursor}`)
  expect([...first.body.data, ...second.body.data].map((entry: { id: string }) => entry.id)).toEqual(ids)
  expect(second.body.next_cursor).toBeNull()
})

test('a list finds beneficiaries by part of a name, taken literally, and by their ids; archived ones only on request', async () => {
  const reader = await signIn(service.api)
  const add = async (display_name: string, legal_name?: string) =>
    (await reader.api.post('/v1/beneficiaries', { ...phone, display_name, ...(legal_name && { legal_name }) })).body.id
  const [juma, percent, kilimo] = [await add('Juma Hassan'), await add('100% Fresh'), await add('Shamba', 'Kilimo Ltd')]
  const found = async (query: string) =>
    (await reader.api.get(`/v1/beneficiaries?${query}`)).body.data.map(({ id }: { id: string }) => id)
  expect(await found('q=HASS')).toEqual([juma])
  expect(await found('q=kilimo')).toEqual([kilimo])
  expect(await found('q=%25')).toEqual([percent])
  expect(await found(`id=${juma},${kilimo}`)).toEqual([kilimo, juma])
  expect(await found(`id=${juma},${percent}&id=${kilimo}`)).toEqual([kilimo, percent, juma])
  const strange = (await create(phone)).body.id
  expect(await found(`id=${strange}`)).toEqual([])
  await reader.api.delete(`/v1/beneficiaries/${percent}`)
  expect(await found('')).toEqual([kilimo, juma])
  expect(await found('status=all')).toEqual([kilimo, percent, juma])
  // Records with this beneficiary, such as a payment, can still show its name.
  expect(await found(`id=${percent}`)).toEqual([percent])
  expect(await found(`id=${percent}&status=active`)).toEqual([])
})

test('a stranger gets 401, another tenant the same 404 as for an id that does not exist', async () => {
  const { id } = (await create(phone)).body
  expect((await service.api.post('/v1/beneficiaries', phone)).status).toBe(401)
  for (const [method, body] of [['GET'], ['PATCH', { display_name: 'x' }], ['DELETE']] as const) {
    const options = body ? { body } : {}
    const foreign = await stranger.api.call(method, `/v1/beneficiaries/${id}`, options)
    const missing = await stranger.api.call(method, '/v1/beneficiaries/ben_01h455vb4pex5vsknk084sn02q', options)
    const malformed = await stranger.api.call(method, '/v1/beneficiaries/nonsense', options)
    for (const answer of [foreign, missing, malformed])
      expect([answer.status, answer.body.error, answer.body.message]).toEqual([404, 'not_found', missing.body.message])
  }
})

test('banks have one spelling, and a code of no bank is refused with the nearest', async () => {
  const owner = await signIn(service.api)
  const { data } = (await service.api.get('/v1/banks')).body
  expect(data).toContainEqual({ code: '01', name: 'KCB Bank' })
  const at = (bank_code: string) =>
    owner.api.post('/v1/beneficiaries', {
      type: 'supplier',
      display_name: 'At a bank',
      payment_rail: 'PESALINK',
      destination: '1234567890',
      bank_code,
    })
  const [first, second] = [await at('01'), await at('1')]
  expect([first.body.bank_code, second.body.bank_code]).toEqual(['01', '01'])
  await owner.api.patch(`/v1/beneficiaries/${first.body.id}`, { status: 'frozen' })
  expect((await owner.api.get(`/v1/beneficiaries/${second.body.id}`)).body.status).toBe('frozen')
  const refused = [await at('ZZZZ'), await at('01a'), await at('Equity bank')]
  expect(refused.map(({ status, body }) => [status, body.details.fields[0].path])).toEqual(Array(3).fill([400, 'bank_code']))
  expect(refused[2]?.body.message).toContain('68 (Equity Bank)')
})

test('a frozen phone is paid by no rail', async () => {
  const owner = await signIn(service.api)
  const by = async (payment_rail: string, destination: string) =>
    (
      await owner.api.post('/v1/beneficiaries', {
        type: 'person',
        display_name: `By ${payment_rail}`,
        payment_rail,
        destination,
      })
    ).body.id
  const mpesa = await by('MPESA_B2C', '0722 155 700')
  const pesalink = await by('PESALINK', '+254722155700')
  await owner.api.patch(`/v1/beneficiaries/${mpesa}`, { status: 'frozen' })
  const paid = await owner.api.post('/v1/payments', { beneficiary_id: pesalink, amount_minor: '150000' })
  expect([paid.status, paid.body.error]).toEqual([403, 'beneficiary_frozen'])
})

test('the same number twice warns with the names that have it, on either rail, and only who may read them', async () => {
  const owner = await signIn(service.api)
  const number = { type: 'person', destination: '0722 155 711', payment_rail: 'MPESA_B2C' }
  const make = (display_name: string, more: object = {}, api = owner.api) =>
    api.post('/v1/beneficiaries', { ...number, display_name, ...more })
  const first = (await make('Landlord')).body
  const warning = (payee: { id: string; display_name: string }) => ({
    code: 'same_number',
    beneficiary_id: payee.id,
    display_name: payee.display_name,
    message: `"${payee.display_name}" is paid at the same number.`,
  })
  const second = (await make('Grace', { payment_rail: 'PESALINK', destination: '+254722155711' })).body
  expect([first.warnings, second.warnings]).toEqual([[], [warning(first)]])
  await owner.api.delete(`/v1/beneficiaries/${first.id}`)
  const third = await make('Rent')
  expect([third.status, third.body.warnings]).toEqual([201, [warning(second)]])
  const blind = await createKey(owner, { permissions: ['beneficiary.manage'] })
  expect((await make('Unseen', {}, blind.api)).body.warnings).toEqual([])
  expect((await make('Another tenant’s', {}, stranger.api)).body.warnings).toEqual([])
  const bill = { payment_rail: 'MPESA_B2B', destination: '888881', account_reference: '1' }
  await make('Shop', bill)
  expect((await make('Home', { ...bill, account_reference: '2' })).body.warnings).toEqual([])
})

test('beneficiaries at the same number are found by any of them, and never by a stranger or under another account', async () => {
  const owner = await signIn(service.api)
  const make = async (api: typeof owner.api, more: object): Promise<string> =>
    (await api.post('/v1/beneficiaries', { type: 'person', display_name: 'Wanjiru', payment_rail: 'MPESA_B2C', ...more })).body.id
  const bill = { payment_rail: 'MPESA_B2B', destination: '888882' }
  const first = await make(owner.api, { destination: '0722155712' })
  const second = await make(owner.api, { destination: '+254722155712', payment_rail: 'PESALINK' })
  const shop = await make(owner.api, { ...bill, account_reference: '1' })
  await make(owner.api, { ...bill, account_reference: '2' })
  await make(stranger.api, { destination: '0722155712' })
  const found = async (id: string, api = owner.api) =>
    (await api.get(`/v1/beneficiaries?same_number_as=${id}`)).body.data.map((payee: { id: string }) => payee.id)
  expect([await found(first), await found(second)]).toEqual([
    [second, first],
    [second, first],
  ])
  expect([await found(shop), await found(first, stranger.api)]).toEqual([[shop], []])
})

test('beneficiaries are found by their metadata', async () => {
  const owner = await signIn(service.api)
  const made = await owner.api.post('/v1/beneficiaries', { ...phone, metadata: { vendor: '17', city: 'Kisumu' } })
  await owner.api.post('/v1/beneficiaries', { ...phone, metadata: { vendor: '18' } })
  const found = async (query: string) =>
    (await owner.api.get(`/v1/beneficiaries?${query}`)).body.data.map(({ id }: { id: string }) => id)
  expect(await found('metadata[vendor]=17&metadata[city]=Kisumu')).toEqual([made.body.id])
  expect(await found('metadata[vendor]=17&metadata[city]=Nairobi')).toEqual([])
})
