import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { mailKinds } from '../../src/modules/mail/service.ts'
import mailEn from '../../texts/mail.en.json' with { type: 'json' }
import { createBrowser } from '../harness/browser.ts'
import type { Client, Json } from '../harness/client.ts'
import { startMailServer } from '../harness/mail-server.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { newWallet } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { continueWith, newPerson } from '../identity/sign-in/providers.ts'
import { answered } from '../payments/authority-scene.ts'

const server = await startMailServer()
const service = await openService({
  env: { SMTP_URL: server.url, MAIL_FROM: 'Payments <payments@example.com>', RATE_LIMIT_ENABLED: 'false' },
})
afterAll(() => server.close())
beforeEach(() => server.answers.clear())

type Member = { api: Client; email: string; accountId: string; again: () => Promise<void> }
const settings = '/v1/accounts/me/notification-settings'

/** A person signed in by Google, in a browser of their own. */
const person = async (name = 'Amina Otieno'): Promise<Member> => {
  const { email } = newPerson()
  const browser = createBrowser()
  const enter = async () => {
    browser.cookies.delete('service_session')
    return service.api.as({ cookie: (await continueWith(service, 'google', { email, name }, { browser })).cookie })
  }
  const api = await enter()
  const member: Member = { api, email, accountId: (await api.get('/v1/accounts/me')).body.id, again: async () => undefined }
  member.again = async () => {
    member.api = await enter()
  }
  return member
}
const team = async (terms: Record<string, unknown> = {}) => {
  const owner = await person()
  await credit(service, owner.accountId, 10_000_000n)
  const policy = answered(
    await owner.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '100000', ...terms }),
    201,
  )
  return { owner, policy, beneficiary: await newBeneficiary(owner.api) }
}
const join = async ({ owner }: { owner: Member }, role = 'approver', member?: Member): Promise<Member> => {
  const joining = member ?? (await person('Brian Kamau'))
  const { token } = answered(await owner.api.post('/v1/workspaces/current/invitations', { role }), 201)
  const { workspace } = answered(await joining.api.post('/v1/workspaces/invitations/accept', { token }))
  answered(await joining.api.put('/v1/workspaces/current', { workspace_id: workspace.id }))
  return joining
}
const pay = async (api: Client, beneficiary: string): Promise<Json> =>
  answered(await api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '150000' }), 201)
const subjects = (email: string): string[] => server.to(email).map(({ subject }) => subject)
const linksIn = (text: string): string[] => text.match(/\w+:\/\/\S+|\b[\w-]+\.(?:com|example|dev)\b/g) ?? []

test('an approval is mailed once to each person who may decide, with its facts and one link, again at half of its time', async () => {
  const of = await team()
  const approver = await join(of)
  const viewer = await join(of, 'viewer')
  await service.settle()
  const before = server.to(viewer.email).length
  const { api } = of.owner
  const destination = '254722123456'
  service.sandbox.names.set({ party: destination, name: 'BRIAN KAMAU' })
  const beneficiary = await newBeneficiary(api, { display_name: 'Rent', destination })
  await service.settle()
  const payment = await pay(api, beneficiary)
  await service.settle()
  await service.settle()
  const mails = server.to(approver.email).filter(({ subject }) => subject.includes('KES 1,500.00'))
  expect(mails.map(({ subject }) => subject)).toEqual(['KES 1,500.00 to "Rent" needs your decision'])
  const [{ text, headers, from }] = mails as [(typeof mails)[number]]
  const { name } = (await api.get('/v1/workspaces/current')).body.workspace
  expect(text).toContain(`"Amina Otieno" requested KES 1,500.00 to "Rent" in "${name}".`)
  expect(text).toMatch(/Name reported by the payment method: "B.+"\./)
  expect(text).toContain('The rail reports another name for this number')
  expect(text).toContain('First payment to this destination.')
  expect(linksIn(text)).toEqual([`${service.deps.config.publicUrl}/approve/${payment.approval_id}`])
  expect(text).not.toContain(destination.slice(-4))
  expect([from, headers.includes('Auto-Submitted: auto-generated')]).toEqual(['payments@example.com', true])
  expect(server.to(viewer.email)).toHaveLength(before)
  // Notified approvers, and those who opened the approval while they could decide: read once, by a person.
  const toldTo = async (reader: Client, { accountId }: Member): Promise<string[]> =>
    answered(await reader.get(`/v1/approvals/${payment.approval_id}`))
      .notifications.filter((one: Json) => one.account_id === accountId)
      .map(({ event }: Json) => event)
  expect([await toldTo(viewer.api, viewer), await toldTo(viewer.api, approver)]).toEqual([[], ['mailed']])
  expect(await toldTo(approver.api, approver)).toEqual(['mailed', 'opened'])
  service.clock.advance(36 * 3600 + 1)
  await service.settle()
  service.clock.advance(3600)
  await service.settle()
  expect(subjects(approver.email).filter((one) => one.includes('Rent'))).toEqual([
    'KES 1,500.00 to "Rent" needs your decision',
    'Still waiting: KES 1,500.00 to "Rent"',
  ])
  await approver.again()
  expect(await toldTo(approver.api, approver)).toEqual(['mailed', 'opened', 'mailed'])
})

test('what was decided before it is mailed is not mailed, and a person chooses what is mailed and in which language', async () => {
  const of = await team()
  const approver = await join(of)
  await service.settle()
  expect((await of.owner.api.get(settings)).body).toEqual({
    approvals: { email: true, push: true },
    lists: { email: true },
    balance: { email: true },
    policies: { email: true },
    language: 'en',
    delivery: 'smtp',
    addresses: [{ email: of.owner.email, refused_at: null }],
  })
  answered(await of.owner.api.patch(settings, { approvals: { email: false } }))
  expect(answered(await approver.api.patch(settings, { language: 'sw' })).language).toBe('sw')
  await pay(of.owner.api, of.beneficiary)
  const decided = await pay(of.owner.api, await newBeneficiary(of.owner.api, { display_name: 'Decided' }))
  answered(await approver.api.post(`/v1/approvals/${decided.approval_id}/decide`, { decision: 'reject' }))
  await service.settle()
  expect(subjects(of.owner.email).filter((one) => one.includes('KES'))).toEqual([])
  const [mail, ...more] = server.to(approver.email).filter(({ subject }) => subject.includes('KES'))
  expect([mail?.subject, more]).toEqual([expect.stringMatching(/^KES 1,500\.00 kwa ".+" inasubiri uamuzi wako$/), []])
  expect(mail?.text).toContain('Malipo ya kwanza kwa nambari hii.')
  expect((await approver.api.patch(settings, { approvals: { sms: true } })).status).toBe(400)
  // Switching something off needs a proof; switching it on does not.
  service.clock.advance(700)
  expect((await of.owner.api.patch(settings, { lists: { email: false } })).body.error).toBe('step_up_required')
  expect((await of.owner.api.patch(settings, { approvals: { email: true } })).status).toBe(200)
})

test('a server that is busy is asked again for an hour, with one Message-ID; an address that it refuses for good is said', async () => {
  const owner = await person()
  const { email, api, again } = owner
  const as = () => owner.api
  const keys = '/v1/accounts/me/api-keys'
  server.answers.set(email, '451 try later')
  answered(await api.post(keys, { name: 'Payroll' }), 201)
  await service.settle()
  server.answers.delete(email)
  await service.settle()
  expect(server.to(email)).toEqual([])
  service.clock.advance(61)
  await service.settle()
  await service.settle()
  const [mail, ...more] = server.to(email)
  expect([mail?.subject, more]).toEqual(['An API key was created for your account', []])
  const [row] = await service.deps.db.query<{ id: string; tries: number }>(
    'select id, tries from mails where account_id is not null and kind = $1 order by id desc limit 1',
    ['new_key'],
  )
  expect([mail?.messageId, row?.tries]).toEqual([`<${row?.id}@localhost>`, 1])
  server.answers.set(email, '550 5.1.1 no such user')
  answered(await api.post(keys, { name: 'Second' }), 201)
  await service.settle()
  const refusedAt = service.clock.now().toISOString()
  expect((await api.get(settings)).body.addresses).toEqual([{ email, refused_at: refusedAt }])
  // A refusal by the server's own policy does not count against the address, not even after an hour of tries.
  server.answers.set(email, '554 5.7.1 relay access denied')
  answered(await api.post(keys, { name: 'Third' }), 201)
  server.answers.set(email, '451 try later')
  answered(await api.post(keys, { name: 'Fourth' }), 201)
  for (let minute = 0; minute < 62; minute += 1) {
    await service.settle()
    service.clock.advance(60)
  }
  server.answers.delete(email)
  await service.settle()
  expect(server.to(email)).toHaveLength(1)
  const states = await service.deps.db.query(
    'select state, count(*)::int as count from mails where cause like $1 group by 1 order by 1',
    ['api_key/%'],
  )
  expect(states).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ state: 'given_up' }),
      expect.objectContaining({ state: 'refused', count: 1 }),
    ]),
  )
  expect(service.log.some((line) => line.includes(email))).toBe(false)
  await again()
  answered(await as().post(keys, { name: 'Fifth' }), 201)
  await service.settle()
  expect((await as().get(settings)).body.addresses).toEqual([{ email, refused_at: null }])
})

test('a team with many mails delays no mail of another account', async () => {
  const of = await team()
  const approvers = [await join(of), await join(of), await join(of), await join(of)]
  const other = await person()
  await service.settle()
  for (const { email } of approvers) server.answers.set(email, '451 try later')
  for (let payment = 0; payment < 5; payment += 1)
    await pay(of.owner.api, await newBeneficiary(of.owner.api, { display_name: `Rent ${payment}` }))
  await service.settle()
  server.answers.clear()
  service.clock.advance(70)
  await other.api.post('/v1/accounts/me/api-keys', { name: 'Payroll' })
  const before = server.received.length
  await service.settle()
  await service.settle()
  const recipients = server.received.slice(before).flatMap(({ to }) => to)
  expect(recipients.length).toBeGreaterThan(20)
  expect(recipients.slice(0, 10)).toContain(other.email)
})

test('a mail whose address can no longer be decrypted is given up after an hour, like one that no server accepts', async () => {
  const { email, api } = await person()
  server.answers.set(email, '451 try later')
  answered(await api.post('/v1/accounts/me/api-keys', { name: 'Payroll' }), 201)
  await service.settle()
  const [{ id } = { id: '' }] = await service.deps.db.query<{ id: string }>(
    "update mails set address_key_id = 'retired' where state = 'due' and address_key_id is not null returning id",
  )
  server.answers.delete(email)
  for (let minute = 0; minute < 62; minute += 1) {
    service.clock.advance(60)
    await service.settle()
  }
  expect(server.to(email)).toEqual([])
  expect(await service.deps.db.query('select state from mails where id = $1', [id])).toEqual([{ state: 'given_up' }])
})

test('a mail that waits goes neither to an address that was removed since, nor to a member who has left', async () => {
  const of = await team()
  const { owner } = of
  const [leaving, staying] = [await join(of), await join(of)]
  await service.settle()
  const wallet = newWallet()
  const { message } = answered(await service.api.post('/v1/auth/wallet/nonce', { address: wallet.address }))
  const signature = await wallet.signMessage({ message })
  answered(await staying.api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature }), 201)
  await service.settle()
  const counts = () => [leaving, staying, owner].map(({ email }) => server.to(email).length)
  const before = counts()
  for (const { email } of [leaving, staying, owner]) server.answers.set(email, '451 try later')
  answered(await staying.api.post('/v1/accounts/me/api-keys', { name: 'Payroll' }), 201)
  await pay(owner.api, of.beneficiary)
  await service.settle()
  const { data } = answered(await staying.api.get('/v1/accounts/me/identities'))
  const { id } = data.find((one: Json) => one.email === staying.email)
  answered(await staying.api.delete(`/v1/accounts/me/identities/${id}`))
  const members = answered(await owner.api.get('/v1/workspaces/current/members')).data
  const member = members.find((one: Json) => one.account_id === leaving.accountId)
  answered(await owner.api.delete(`/v1/workspaces/current/members/${member.id}`))
  server.answers.clear()
  service.clock.advance(61)
  await service.settle()
  await service.settle()
  expect(counts()).toEqual([before[0], before[1], (before[2] ?? 0) + 1])
})

test('names of others add no header, no link and no markup, whatever they contain', async () => {
  const of = await team()
  const approver = await join(of)
  for (const display_name of [
    'https://evil.example/pay Call us@evil.example',
    '<b>"Paid\'</b> &amp; ' + 'x'.repeat(95),
    'שלום עולם',
  ]) {
    await pay(of.owner.api, await newBeneficiary(of.owner.api, { display_name }))
    await service.settle()
  }
  const asked = server.to(approver.email).filter(({ text }) => text.includes('/approve/'))
  const [linked, marked, hebrew] = asked
  expect(linksIn(linked?.text ?? '')).toEqual([expect.stringContaining('/approve/')])
  expect(marked?.text).toContain("<b>'Paid'<")
  expect(marked?.subject.length).toBeLessThanOrEqual(180)
  expect(hebrew?.text).toContain('\u2068שלום עולם\u2069')
  expect(asked).toHaveLength(3)
  for (const { headers } of asked) expect(headers.match(/^(?:To|Bcc|Cc|Subject):/gim)?.toSorted()).toEqual(['Subject:', 'To:'])
})

test('a new browser, method, key or approver is mailed whatever was switched off, and a known browser is not', async () => {
  const owner = await person()
  answered(
    await owner.api.patch(settings, {
      approvals: { email: false },
      lists: { email: false },
      balance: { email: false },
      policies: { email: false },
    }),
  )
  await owner.again()
  await service.settle()
  expect(subjects(owner.email)).toEqual([])
  const elsewhere = createBrowser()
  await continueWith(service, 'google', { email: owner.email }, { browser: elsewhere })
  await service.settle()
  expect(subjects(owner.email)).toEqual(['New sign-in to your account'])
  const wallet = newWallet()
  const { message } = answered(await service.api.post('/v1/auth/wallet/nonce', { address: wallet.address }))
  const signature = await wallet.signMessage({ message })
  answered(await owner.api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature }), 201)
  answered(await owner.api.post('/v1/accounts/me/api-keys', { name: 'Agent' }), 201)
  const member = await join({ owner }, 'member')
  const { data } = answered(await owner.api.get('/v1/workspaces/current/members'))
  const { id } = data.find((one: Json) => one.account_id === member.accountId)
  // More rights among those who decide are mailed, fewer are not.
  for (const role of ['approver', 'admin', 'approver']) {
    service.clock.advance(1)
    answered(await owner.api.patch(`/v1/workspaces/current/members/${id}`, { role }))
  }
  await service.settle()
  const { name } = (await owner.api.get('/v1/workspaces/current')).body.workspace
  expect(subjects(owner.email).toSorted()).toEqual(
    [
      'New sign-in to your account',
      'A sign-in method was added to your account',
      'An API key was created for your account',
      `"Brian Kamau" can now decide approvals in "${name}"`,
      `"Brian Kamau" can now decide approvals in "${name}"`,
    ].toSorted(),
  )
})

test('an invitation is mailed once to its address, in whose link alone its token is; one that was revoked is not', async () => {
  const { owner } = await team()
  const invited = await person('Chao Wanjiru')
  const path = '/v1/workspaces/current/invitations'
  const revoked = answered(await owner.api.post(path, { role: 'viewer', email: newPerson().email }), 201)
  answered(await owner.api.delete(`${path}/${revoked.id}`))
  const { token } = answered(await owner.api.post(path, { role: 'viewer', email: invited.email }), 201)
  const stored = await service.deps.db.query<{ row: string }>("select m::text as row from mails m where kind = 'invitation'")
  expect(stored.length).toBe(2)
  for (const { row } of stored) expect([row.includes(token), row.includes(invited.email)]).toEqual([false, false])
  await service.settle()
  await service.settle()
  const [mail, ...more] = server.to(invited.email).filter(({ subject }) => subject.includes('invites you'))
  expect(more).toEqual([])
  expect(server.to(revoked.email)).toEqual([])
  const link = `${service.deps.config.publicUrl}/invitation#${token}`
  expect(mail?.text).toContain(link)
  const [, fragment = ''] = link.split('#')
  expect((await owner.api.post('/v1/workspaces/invitations/accept', { token: fragment })).status).toBe(403)
  expect((await invited.api.post('/v1/workspaces/invitations/accept', { token: fragment })).status).toBe(200)
})

test('a change that weakens a policy is mailed to the other approvers; a batch that ended with failures to its maker', async () => {
  const of = await team({ required_approval_count: 2 })
  const approver = await join(of)
  const change = await of.owner.api.patch(`/v1/spending-policies/${of.policy.id}`, {
    version: 1,
    approval_threshold_minor: '200000',
  })
  expect(change.status).toBe(202)
  const items = ['254700000003', '254722000111'].map((destination, index) => ({
    ...{ display_name: `Payee ${index}`, payment_rail: 'MPESA_B2C', destination, amount_minor: '2000' },
  }))
  const failing = answered(
    await of.owner.api.post('/v1/payment-batches', { name: 'Wages', items: items.map((item) => ({ ...item, type: 'person' })) }),
    201,
  )
  await service.settle()
  expect(subjects(approver.email)).toContain('A change to the policy "Ask" is pending')
  expect(subjects(of.owner.email)).not.toContain('A change to the policy "Ask" is pending')
  const { counts } = (await of.owner.api.get(`/v1/payment-batches/${failing.id}`)).body
  expect(counts).toEqual({ failed: 1, succeeded: 1 })
  const ended = server.to(of.owner.email).find(({ subject }) => subject === '1 of 2 payments failed')
  expect(ended?.text).toContain('The batch "Wages" of KES 40.00 in')
  expect(linksIn(ended?.text ?? '')).toEqual([`${service.deps.config.publicUrl}/payments/batches/${failing.id}`])
})

test('a change that a key requested is mailed as the key’s, and not once it was withdrawn', async () => {
  const of = await team({ required_approval_count: 2 })
  const approver = await join(of)
  const key = answered(
    await of.owner.api.post('/v1/accounts/me/api-keys', { name: 'Bot', permissions: ['policy.manage', 'policy.read'] }),
    201,
  )
  const bot = service.api.as({ bearer: key.key })
  const path = `/v1/spending-policies/${of.policy.id}`
  const lower = async () => answered(await bot.patch(path, { version: 1, required_approval_count: 1 }), 202)
  server.answers.set(approver.email, '451 try later')
  await lower()
  await service.settle()
  answered(await of.owner.api.delete(`${path}/pending-change`))
  server.answers.delete(approver.email)
  service.clock.advance(61)
  await service.settle()
  const subject = 'A change to the policy "Ask" is pending'
  expect(subjects(approver.email)).not.toContain(subject)
  await lower()
  await service.settle()
  const [mail, ...more] = server.to(approver.email).filter((one) => one.subject === subject)
  expect([mail?.text, more]).toEqual([expect.stringContaining('"Bot" ("Amina Otieno")'), []])
})

test('money that is short for what is scheduled is mailed to those who can add some and who asked for it', async () => {
  const owner = await person()
  const member = await join({ owner }, 'member')
  const viewer = await join({ owner }, 'viewer')
  const execute_at = new Date(service.clock.now().getTime() + 3_600_000).toISOString()
  const { id } = answered(
    await member.api.post('/v1/payments', {
      beneficiary_id: await newBeneficiary(owner.api),
      amount_minor: '150000',
      execute_at,
    }),
    201,
  )
  await service.deps.jobs.sweep()
  await service.settle()
  const subject = 'Scheduled payments are KES 1,500.00 short'
  for (const { email } of [owner, member]) {
    const [mail, ...more] = server.to(email).filter((one) => one.subject === subject)
    expect([linksIn(mail?.text ?? ''), more]).toEqual([[`${service.deps.config.publicUrl}/payments/${id}`], []])
  }
  expect(subjects(viewer.email)).not.toContain(subject)
})

test('a mail tells times as a clock of the workspace shows them, in the language of its reader', async () => {
  const owner = await person()
  const { workspace } = answered(await owner.api.post('/v1/workspaces', { name: 'Lagos', time_zone: 'Africa/Lagos' }), 201)
  answered(await owner.api.put('/v1/workspaces/current', { workspace_id: workspace.id }))
  const approver = await join({ owner })
  answered(await approver.api.patch(settings, { language: 'sw' }))
  const path = '/v1/spending-policies'
  const policy = answered(
    await owner.api.post(path, { name: 'Ask', approval_threshold_minor: '1', required_approval_count: 2 }),
    201,
  )
  // The last payment of the year, an hour before midnight UTC.
  service.clock.set(new Date('2026-12-31T23:05:00Z'))
  await owner.again()
  await approver.again()
  for (const { api } of [owner, approver]) answered(await api.put('/v1/workspaces/current', { workspace_id: workspace.id }))
  answered(await owner.api.patch(`${path}/${policy.id}`, { version: 1, required_approval_count: 1 }), 202)
  answered(await owner.api.post('/v1/accounts/me/api-keys', { name: 'Payroll' }), 201)
  const [invited, reader] = [newPerson().email, await person()]
  answered(await reader.api.patch(settings, { language: 'sw' }))
  for (const email of [invited, reader.email])
    answered(await owner.api.post('/v1/workspaces/current/invitations', { role: 'viewer', email }), 201)
  const execute_at = '2027-01-01T12:30:00Z'
  answered(
    await owner.api.post('/v1/payments', {
      ...{ beneficiary_id: await newBeneficiary(owner.api), amount_minor: '150000', execute_at },
    }),
    201,
  )
  await service.deps.jobs.sweep()
  await service.settle()
  const textTo = (email: string, subject: RegExp) => server.to(email).find((one) => subject.test(one.subject))?.text
  expect(textTo(invited, /invites you/)).toContain('until 8 Jan 2027, 00:05 (Lagos time).')
  expect(textTo(reader.email, /anakualika/)).toContain('hadi 8 Jan 2027, 00:05 (saa za Lagos).')
  expect(textTo(owner.email, /API key/)).toContain('Time: 1 Jan 2027, 00:05 (Lagos time).')
  expect(textTo(owner.email, /short/)).toContain('until 1 Jan 2027, 13:30 (Lagos time), and')
  expect(textTo(owner.email, /needs your decision/)).toContain('until 1 Jan 2027, 13:30 (Lagos time).')
  expect(textTo(approver.email, /inasubiri uamuzi/)).toContain('hadi 1 Jan 2027, 13:30 (saa za Lagos).')
  expect(textTo(approver.email, /sera/)).toContain('Yataanza kutumika 2 Jan 2027, 00:05 (saa za Lagos)')
  // Mails about the account alone use the time zone of its own workspace.
  await continueWith(service, 'google', { email: owner.email }, { browser: createBrowser() })
  await service.settle()
  expect(textTo(owner.email, /New sign-in/)).toContain('Time: 1 Jan 2027, 02:05 (Nairobi time).')
  for (const { text } of [invited, owner.email, approver.email].flatMap((email) => server.to(email)))
    expect(text).not.toMatch(/UTC|\d\d\d\d-\d\d-\d\d/)
})

const folder = fileURLToPath(new URL('../../texts/', import.meta.url))

test('both languages say everything, with the same values', () => {
  const shape = (value: unknown): unknown =>
    typeof value === 'string'
      ? [...new Set(value.match(/\{\w+\}/g))].toSorted()
      : Array.isArray(value)
        ? value.map(shape)
        : Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name, shape(each)]))
  const swahili = readdirSync(folder).filter((name) => name.endsWith('.sw.json'))
  expect(swahili).toEqual(expect.arrayContaining(['account.sw.json', 'facts.sw.json', 'mail.sw.json', 'pages.sw.json']))
  for (const name of swahili) {
    const [own, english] = [name, name.replace('.sw.', '.en.')].map((each) => readFileSync(folder + each, 'utf8'))
    // People read an error's sentence. Its other fields are for programs.
    const read = (_key: string, value: unknown) =>
      name === 'errors.sw.json' && value instanceof Object && 'fix' in value && 'sentence' in value
        ? { sentence: value.sentence }
        : value
    expect(shape(JSON.parse(own ?? '')), name).toEqual(shape(JSON.parse(english ?? '', read)))
    expect(`${own}${english}`, name).not.toMatch(/: ""/)
  }
  expect(Object.keys(mailEn.kinds)).toEqual(Object.keys(mailKinds))
})

test('the service does not start with an SMTP_URL or MAIL_FROM that cannot be right', () => {
  const from = 'Payments <payments@example.com>'
  const start = (SMTP_URL: string, MAIL_FROM: string) => () => loadConfig({ SMTP_URL, MAIL_FROM })
  for (const url of [
    'http://mail.example.com',
    'mail.example.com:25',
    'smtp://',
    'smtp://mail.example.com/inbox',
    'smtp://user@mail.example.com',
    'smtp://u:100%@mail.example.com',
    'smtp://mail.example.com?tls=no',
  ])
    expect(start(url, from), url).toThrow(/SMTP_URL/)
  for (const sender of [
    'payments',
    'payments@localhost',
    'a@example.com, b@example.com',
    'A <a@example.com',
    'a@example.com>',
    'A\r\nBcc: x@example.com <a@example.com>',
  ])
    expect(start('smtps://user:pass@mail.example.com', sender), sender).toThrow(/MAIL_FROM/)
  expect(start('smtp://localhost', '')).toThrow('SMTP_URL and MAIL_FROM go together')
  for (const sender of [from, 'payments@example.co.ke', 'Malipo – Kenya <no-reply+x@mail.example.com>'])
    expect(start('smtps://user:p%40ss@mail.example.com:465', sender), sender).not.toThrow()
})

test('without a mail server the sandbox shows mails with links that can be pressed, to this machine alone; production sends none', async () => {
  const sandbox = await openService()
  const { email } = newPerson()
  const { cookie } = await continueWith(sandbox, 'google', { email, name: 'Amina Otieno' })
  const api = sandbox.api.as({ cookie })
  expect((await api.get(settings)).body.delivery).toBe('sandbox')
  const { token } = answered(
    await api.post('/v1/workspaces/current/invitations', { role: 'viewer', email: newPerson().email }),
    201,
  )
  await sandbox.settle()
  const page = await fetch(`${sandbox.api.url}/sandbox/mail`)
  expect(await page.text()).toContain(`href="${sandbox.deps.config.publicUrl}/invitation#${token}"`)
  const elsewhere = await sandbox.http.inject({ url: '/sandbox/mail', headers: { host: 'rebound.example' } })
  expect(elsewhere.statusCode).toBe(403)
  expect((await service.api.get('/sandbox/mail')).status).toBe(404)
  expect(loadConfig({ PUBLIC_URL: 'https://pay.example.com' }).mailDelivery).toBe('off')
})
