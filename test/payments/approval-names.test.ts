import { createHash } from 'node:crypto'
import { afterAll, afterEach, expect, test } from 'vitest'
import { formatId, parseId } from '../../src/lib/ids.ts'
import { holdAccount } from '../harness/account-hold.ts'
import { addPasskey } from '../harness/authenticator.ts'
import type { Json } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { newWallet, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { answered, createScene, type Team } from './authority-scene.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const { clock } = service
afterEach(() => {
  delete clock.sleep
})
afterAll(async () => {
  expect(await findBreaches(service)).toEqual([])
})

const { approvalOf, decide, join, pay, sign, team, voidedEvents } = createScene(() => service, newWallet())

/** The name at this number is WANJIRU N**** K****. */
const wanjiru = '254722100001'

/** A team and a payment to a new payee whose name the rail has not given yet. */
const scene = async (approvals = 1, display_name = 'Landlord'): Promise<{ of: Team; payment: Json }> => {
  const made = await team(approvals)
  if (approvals > 1) await join(made)
  const of = { ...made, beneficiary: await newBeneficiary(made.owner.api, { display_name, destination: wanjiru }) }
  return { of, payment: await pay(of, of.owner.api) }
}
const textOf = async (payment: Json, decision = 'approve'): Promise<string> =>
  answered(await service.api.get(`/v1/approvals/${payment.approval_id}/message?decision=${decision}`)).message
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const refusedAsOld = (answer: { status: number; body: Json }) =>
  expect([answer.status, answer.body.error, answer.body.details?.reason]).toEqual([409, 'conflict', 'message_changed'])

/** A clock whose readers sleep until they are woken. */
const sleepers = () => {
  const sleeping: (() => void)[] = []
  let fallen = Promise.withResolvers<void>()
  clock.sleep = () =>
    new Promise((wake) => {
      sleeping.push(wake)
      fallen.resolve()
      fallen = Promise.withResolvers()
    })
  return {
    /** Resolves once somebody sleeps. */
    asleep: () => (sleeping.length > 0 ? Promise.resolve() : fallen.promise),
    wake: () => {
      for (const one of sleeping.splice(0)) one()
    },
  }
}

test.each(['', '/message'])(
  'who reads an approval (%s) waits for the first check of a name, and reads what it found',
  async (suffix) => {
    const { of, payment } = await scene()
    const { asleep, wake } = sleepers()
    const reading = of.owner.api.get(`/v1/approvals/${payment.approval_id}${suffix}`)
    await asleep()
    await service.settle()
    wake()
    const { body } = await reading
    expect(body.message ?? body.signing.approve).toContain('\nRegistered name: WANJIRU N**** K**** (DOES NOT MATCH)\n')
  },
)

test('nobody waits for longer than five seconds: then the text says that the name is being checked', async () => {
  const { payment } = await scene()
  const { asleep, wake } = sleepers()
  const reading = textOf(payment)
  await asleep()
  clock.advance(4)
  wake()
  await asleep()
  clock.advance(1)
  wake()
  expect(await reading).toContain('\nRegistered name: being checked\n')
  expect(await textOf(payment)).toContain('being checked')
  await service.settle()
  expect(await textOf(payment)).toContain('(DOES NOT MATCH)')
})

test('a name that arrives makes a new text: it warns of another name, and says when it was made again', async () => {
  const { payment } = await scene()
  const before = (await textOf(payment)).split('\n')
  await service.settle()
  const after = (await textOf(payment)).split('\n')
  expect(before).toContain('Registered name: being checked')
  expect(after.filter((line) => !before.includes(line))).toEqual([
    'Registered name: WANJIRU N**** K**** (DOES NOT MATCH)',
    'Warning: The rail reports another name for this number: WANJIRU N**** K****.',
    expect.stringMatching(/^Text updated at: \d{4}-/),
  ])
  expect(await textOf(payment, 'reject')).toContain('(DOES NOT MATCH)')
})

/** Gives the texts of an approval the labels that 0.3.0 wrote. */
const withEarlierLabels = async (of: Json) => {
  const earlier = [
    ['Registered name: ', 'Name at the rail: '],
    ['Payees with a different registered name: ', "Payees whose name differs from the rail's: "],
    ['Registered names being checked: ', 'Names at the rail being checked: '],
  ].reduce((text, [now, then]) => `replace(${text}, '${now}', '${then?.replace("'", "''")}')`, '%')
  await service.deps.db.query(
    `update approvals set approve_message = ${earlier.replace('%', 'approve_message')},
       reject_message = ${earlier.replace('%', 'reject_message')} where id = $1`,
    [parseId('approval', of.approval_id)],
  )
}

test('a text from an earlier release gets the name under the label that it has', async () => {
  const { payment } = await scene()
  await withEarlierLabels(payment)
  const before = (await textOf(payment)).split('\n')
  await service.settle()
  const after = (await textOf(payment)).split('\n')
  expect(before).toContain('Name at the rail: being checked')
  expect(after.filter((line) => !before.includes(line))).toEqual([
    'Name at the rail: WANJIRU N**** K**** (DOES NOT MATCH)',
    'Warning: The rail reports another name for this number: WANJIRU N**** K****.',
    expect.stringMatching(/^Text made again: \d{4}-/),
  ])
  expect(after.filter((line) => line.startsWith('Registered name'))).toEqual([])
})

test('decisions on the old text are void, which is told, and their givers decide again', async () => {
  const { of, payment } = await scene(2)
  const approver = await join(of)
  answered(await decide(approver.api, payment))
  await service.settle()
  expect(await approvalOf(of, payment)).toMatchObject({
    status: 'pending',
    approvals_given: 0,
    decisions: [{ account_id: approver.accountId, voided_at: expect.any(String) }],
  })
  const [event] = await voidedEvents(of)
  expect(event.data).toMatchObject({ id: payment.approval_id, approvals_given: 0 })
  answered(await sign(approver.wallet, payment))
  expect(answered(await decide(of.owner.api, payment))).toMatchObject({ status: 'approved', approvals_given: 2 })
})

test('a signature of the old text is refused as such, and one by a wallet that may not decide as wrong', async () => {
  const { of, payment } = await scene()
  const message = await textOf(payment)
  await service.settle()
  const path = `/v1/approvals/${payment.approval_id}/decide-by-signature`
  const signed = async (wallet: typeof of.owner.wallet, text: string) =>
    service.api.post(path, { decision: 'approve', signature: await wallet.signMessage({ message: text }) })
  refusedAsOld(await signed(of.owner.wallet, message))
  expect((await signed(newWallet(), await textOf(payment))).status).toBe(401)
  expect((await signed((await signIn(service.api)).wallet, message)).status).toBe(401)
  expect(answered(await signed(of.owner.wallet, await textOf(payment))).status).toBe('approved')
})

test('a passkey that signed the old text is refused as such', async () => {
  const { of, payment } = await scene()
  const { authenticator } = await addPasskey(of.owner.api, service.deps.config.publicUrl)
  const path = `/v1/approvals/${payment.approval_id}/decide`
  const old = authenticator.sign(await textOf(payment))
  await service.settle()
  refusedAsOld(await of.owner.api.post(path, { decision: 'approve', passkey: old }))
  const passkey = authenticator.sign(await textOf(payment))
  expect(answered(await of.owner.api.post(path, { decision: 'approve', passkey })).status).toBe('approved')
})

test('a decision that names the digest of the text it is about counts for that text alone', async () => {
  const { of, payment } = await scene()
  const path = `/v1/approvals/${payment.approval_id}/decide`
  const old = digestOf(await textOf(payment))
  await service.settle()
  refusedAsOld(await of.owner.api.post(path, { decision: 'approve', message_digest: old }))
  refusedAsOld(await of.owner.api.post(path, { decision: 'reject', message_digest: digestOf(await textOf(payment)) }))
  expect((await of.owner.api.post(path, { decision: 'approve', message_digest: 'all of it' })).status).toBe(400)
  const message_digest = digestOf(await textOf(payment))
  expect(answered(await of.owner.api.post(path, { decision: 'approve', message_digest })).status).toBe('approved')
})

test('a check that finds the same again changes nothing, and a name that changes back makes a third text', async () => {
  const { of, payment } = await scene()
  await service.settle()
  const second = await textOf(payment)
  const check = async (name: string) => {
    service.sandbox.names.set({ party: wanjiru, name })
    clock.advance(60)
    answered(await of.owner.api.post(`/v1/beneficiaries/${of.beneficiary}/verify`), 202)
    await service.settle()
    return textOf(payment)
  }
  expect(await check('WANJIRU NJERI KAMAU')).toBe(second)
  const third = await check('LANDLORD')
  expect(third).not.toBe(second)
  expect(third).toContain('\nRegistered name: LANDLORD (DOES NOT MATCH)\n')
  const fourth = await check('WANJIRU NJERI KAMAU')
  expect(fourth).not.toBe(second)
})

test('a rename that the registered name does not match makes a new text; a rename takes no warning from one', async () => {
  const { of, payment } = await scene(2, 'Wanjiru Kamau')
  const approver = await join(of)
  await service.settle()
  const before = await textOf(payment)
  expect(before).toContain('(matches)')
  answered(await decide(approver.api, payment))
  const signature = await of.owner.wallet.signMessage({ message: before })
  const rename = async (fields: Json) => answered(await of.owner.api.patch(`/v1/beneficiaries/${of.beneficiary}`, fields))
  await rename({ legal_name: 'Somebody Else' })
  const after = await textOf(payment)
  expect(after).toContain('\nBeneficiary: Wanjiru Kamau\n')
  expect(after).toContain('\nRegistered name: WANJIRU N**** K**** (DOES NOT MATCH)\n')
  expect(await approvalOf(of, payment)).toMatchObject({ approvals_given: 0, facts: [{ type: 'name_mismatch' }, {}] })
  const path = `/v1/approvals/${payment.approval_id}/decide-by-signature`
  refusedAsOld(await service.api.post(path, { decision: 'approve', signature }))
  await rename({ legal_name: 'Wanjiru Kamau' })
  expect(await textOf(payment)).toBe(after)
})

test('what is decided keeps the text that was decided', async () => {
  const { of, payment } = await scene()
  const before = await textOf(payment)
  answered(await decide(of.owner.api, payment))
  await service.settle()
  expect(await textOf(payment)).toBe(before)
})

/** A batch to new payees, one of which has another name. */
const list = async (of: Team): Promise<Json> => {
  const people = [
    ['Wanjiru Kamau', wanjiru],
    ['Landlord', '254722100014'],
  ]
  const items = people.map(([display_name, destination]) => ({ display_name, destination, amount_minor: '150000' }))
  return answered(await of.owner.api.post('/v1/payment-batches', { items }), 201)
}

test('a list gets one new text, with every name that is known; later names void nothing', async () => {
  const of = await team(2)
  await join(of)
  const batch = await list(of)
  expect(await textOf(batch)).toContain('\nRegistered names being checked: 2\n')
  answered(await decide(of.owner.api, batch))
  await service.settle()
  const text = await textOf(batch)
  expect(text).not.toContain('being checked')
  expect(text).toMatch(/\nPayees with a different registered name: 1\n- Landlord: .* \(DOES NOT MATCH\), KES 1,500.00\n/)
  expect(text).toContain('\nNames: 1 differs, 1 matches\n')
  const landlord = { beneficiary: 'Landlord', amount_minor: '150000', name: expect.stringMatching(/^[A-Z]+ /) }
  const facts = [
    { type: 'name_mismatch', level: 'danger', count: 1, items: [landlord] },
    // A fact that is true of all payments of a batch is not a deviation.
    { type: 'first_payment', level: 'info', count: 2, items: [] },
    { type: 'name_match', level: 'info', count: 1, items: [] },
  ]
  expect(await approvalOf(of, batch)).toMatchObject({ approvals_given: 0, facts, decisions: [{ voided_at: expect.any(String) }] })
  answered(await decide(of.owner.api, batch))
  const payees = answered(await of.owner.api.get('/v1/beneficiaries')).data
  service.sandbox.names.set({ party: wanjiru, name: 'SOMEONE ELSE' })
  clock.advance(60)
  answered(
    await of.owner.api.post(`/v1/beneficiaries/${payees.find((one: Json) => one.display_name === 'Wanjiru Kamau').id}/verify`),
    202,
  )
  await service.settle()
  service.sandbox.names.set({ party: wanjiru, name: 'WANJIRU NJERI KAMAU' })
  expect(await textOf(batch)).toBe(text)
  const later = await approvalOf(of, batch)
  expect(later.approvals_given).toBe(1)
  // The text stays, and every reader is told, including a link's holder.
  const both = [{ type: 'name_mismatch', level: 'danger', count: 2 }, { type: 'first_payment' }]
  expect(later.facts).toMatchObject(both)
  expect(answered(await of.owner.api.get('/v1/approvals?status=pending')).data[0].facts).toMatchObject(both)
  const link = answered(await service.api.get(`/v1/approvals/${batch.approval_id}/message`))
  expect(link).toMatchObject({ facts: both, payments_count: 2, currency: 'KES' })
})

test("a batch's text from an earlier release gets the names that are known, then the last ones", async () => {
  const of = await team(1)
  const batch = await list(of)
  await withEarlierLabels(batch)
  await delayCheck(of, 'Wanjiru Kamau')
  await service.deps.jobs.drain()
  clock.advance(5)
  expect(await textOf(batch)).toMatch(/differs from the rail's: 1\n- Landlord: .*\nNames at the rail being checked: 1\n/)
  await service.deps.db.query(`update beneficiaries set name_check_due_at = $1 where name_check_due_at > $1`, [clock.now()])
  await service.settle()
  const text = await textOf(batch)
  expect(text).toMatch(/\nPayees whose name differs from the rail's: 1\n- Landlord: .*\nAmounts far/)
  expect(text).not.toMatch(/being checked|registered name/)
})

/** Makes a payee's name check end long after the others. */
const delayCheck = async (of: Team, name: string) => {
  const { data } = answered(await of.owner.api.get('/v1/beneficiaries'))
  const id = parseId('beneficiary', data.find((one: Json) => one.display_name === name).id)
  await service.deps.db.query('update beneficiaries set name_check_due_at = $2 where id = $1', [
    id,
    new Date(clock.now().getTime() + 3_600_000),
  ])
}

test('after five seconds the text of a list is made again with what is known, whether anybody reads it or not', async () => {
  for (const isRead of [true, false]) {
    const of = await team(1)
    const batch = await list(of)
    await delayCheck(of, 'Wanjiru Kamau')
    await service.deps.jobs.drain()
    expect(await textOf(batch)).toContain('being checked: 2')
    clock.advance(5)
    if (!isRead) await service.deps.jobs.sweep()
    expect(await textOf(batch)).toMatch(/a different registered name: 1\n- Landlord: .*\nRegistered names being checked: 1\n/)
    // After the last check no name is being checked.
    await service.deps.db.query(`update beneficiaries set name_check_due_at = $1 where name_check_due_at > $1`, [clock.now()])
    await service.settle()
    const text = await textOf(batch)
    expect(text).toContain('\nNames: 1 differs, 1 matches\n')
    expect(text).not.toContain('being checked')
  }
})

test('of a list whose names are all unknown after five seconds, readers do not wait for the account’s lock', async () => {
  const of = await team(1)
  const batch = await list(of)
  for (const name of ['Wanjiru Kamau', 'Landlord']) await delayCheck(of, name)
  await service.deps.jobs.drain()
  clock.advance(5)
  const text = await textOf(batch)
  expect(text).toContain('being checked: 2')
  const [paying] = await service.deps.db.query<{ id: string }>('select account_id as id from approvals where id = $1', [
    parseId('approval', batch.approval_id),
  ])
  const hold = await holdAccount(service, formatId('account', paying?.id ?? ''))
  expect(await textOf(batch)).toBe(text)
  await hold.release()
  await service.deps.db.query(`update beneficiaries set name_check_due_at = $1 where name_check_due_at > $1`, [clock.now()])
  await service.settle()
  expect(await textOf(batch)).not.toContain('being checked')
})

test('a name that could not be checked is asked for again when an approval needs it, at most once a minute', async () => {
  const of = await team(1)
  const unknown = '254722100099'
  const id = await newBeneficiary(of.owner.api, { display_name: 'Zawadi Achieng', destination: unknown })
  await service.settle()
  const statusOf = async () => answered(await of.owner.api.get(`/v1/beneficiaries/${id}`)).verification.status
  const hold = async () => answered(await of.owner.api.post('/v1/payments', { beneficiary_id: id, amount_minor: '150000' }), 201)
  await service.deps.db.query(
    `update beneficiaries set verification = 'unavailable', reported_name = null, name_check_due_at = null where id = $1`,
    [parseId('beneficiary', id)],
  )
  service.sandbox.names.set({ party: unknown, name: 'ZAWADI ACHIENG' })
  clock.advance(30)
  await hold()
  await service.settle()
  expect(await statusOf()).toBe('unavailable')
  clock.advance(31)
  const payment = await hold()
  expect(await textOf(payment)).toContain('Registered name: not available')
  await service.settle()
  expect(await statusOf()).toBe('match')
  expect(await textOf(payment)).toMatch(/Registered name: ZAWADI .* \(matches\)/)
})
