import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReceiptKeys } from '../../src/auth/receipt-keys.ts'
import { canonicalJson } from '../../src/lib/canonical.ts'
import { zip } from '../../src/lib/zip.ts'
import { run } from '../../verifier/main.ts'
import type { Json } from '../harness/client.ts'
import { credit, newBeneficiary, shareBalance } from '../harness/money.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { deliver, lastOrder, pass, transferCallback } from '../rails-flows/scene.ts'
import { createTeam, join, standIn, type Team } from '../workspaces/team.ts'

const [from, to] = ['2026-07-01', '2026-07-31']
const pathOf = (first: string, last: string) => `/v1/workspaces/current/evidence?from=${first}&to=${last}`
const path = pathOf(from, to)

let service: TestService
let team: Team
let auditor: Person
let files: Map<string, string>
let before: string
let inside: string
let rejected: string
let keys: string

const bytesOf = async (api: Person['api'], url = path): Promise<Uint8Array<ArrayBuffer>> => {
  const answer = await fetch(api.url + url, { headers: { cookie: `service_session=${api.credentials.cookie}` } })
  if (answer.status !== 200) throw new Error(await answer.text())
  expect(answer.headers.get('content-type')).toBe('application/zip')
  const [first, last] = ['from', 'to'].map((name) => new URL(answer.url).searchParams.get(name))
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="evidence-${first}-${last}.zip"`)
  return new Uint8Array(await answer.arrayBuffer())
}

const archiveOf = async (content: Map<string, string>): Promise<Uint8Array<ArrayBuffer>> => {
  const each = async function* () {
    for (const [name, text] of content)
      yield {
        name,
        content: (async function* () {
          yield text
        })(),
      }
  }
  const parts: Buffer[] = []
  for await (const part of zip(each(), service.clock.now())) parts.push(part)
  return new Uint8Array(Buffer.concat(parts))
}

const verify = async (archive: Uint8Array<ArrayBuffer>): Promise<{ status: number; text: string }> => {
  const lines: string[] = []
  const read = async (name: string) => (name === 'keys.json' ? new Uint8Array(Buffer.from(keys)) : archive)
  const status = await run(['evidence.zip', '--jwks', 'keys.json'], { say: (line) => lines.push(line), read })
  return { status, text: lines.join('\n') }
}

const linesOf = (name: string, content = files): Json[] =>
  (content.get(`${name}.jsonl`) ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** Unpacks with an independent implementation: every file after its local header, by its sizes in the directory. */
const unpack = async (bytes: Uint8Array<ArrayBuffer>): Promise<Map<string, string>> => {
  const { entriesOf, contentOf } = await import('../../verifier/archive.ts')
  const decoded = [...entriesOf(bytes)].map(
    async ([name, entry]) => [name, Buffer.from(await contentOf(entry)).toString()] as const,
  )
  return new Map(await Promise.all(decoded))
}

/** Unused sessions end meanwhile. */
const days = async (count: number) => {
  service.clock.advance(count * 86_400)
  team = { ...team, owner: await signIn(service.api, team.owner.wallet) }
  auditor = await signIn(service.api, auditor.wallet)
}

beforeAll(async () => {
  const fees = { PESALINK: [{ up_to_minor: null, fee_minor: '5000' }] }
  service = await startService({ env: { FEES: JSON.stringify(fees) } })
  service.clock.set(new Date('2026-06-20T09:00:00Z'))
  team = await createTeam(service, 'Dairy')
  await credit(service, team.id, 10_000_000n)
  auditor = await join(service, team, 'auditor')
  const policy = { name: 'Ask', approval_threshold_minor: '100000' }
  const { id, version } = (await team.owner.api.post('/v1/spending-policies', policy)).body
  const beneficiary_id = await newBeneficiary(team.owner.api, { display_name: 'Wanjiru Kamau' })
  const pay = async (amount_minor: string, more = {}): Promise<Json> => {
    const answer = await team.owner.api.post('/v1/payments', { beneficiary_id, amount_minor, ...more })
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.body
  }
  await pay('30000')
  await service.settle()
  before = (await pay('40000', { execute_at: '2026-07-02T09:00:00Z' })).id
  await days(20)
  await service.deps.jobs.sweep()
  await service.settle()
  inside = (await pay('50000')).id
  await team.owner.api.patch(`/v1/spending-policies/${id}`, { version, daily_limit_minor: '9000000' })
  const waiting = await pay('200000')
  const { message } = (await service.api.get(`/v1/approvals/${waiting.approval_id}/message?decision=reject`)).body
  const signature = await team.owner.wallet.signMessage({ message })
  await service.api.post(`/v1/approvals/${waiting.approval_id}/decide-by-signature`, { decision: 'reject', signature })
  rejected = waiting.id
  const other = await newBeneficiary(team.owner.api, { display_name: 'Otieno' })
  const items = ['10000', '10100'].map((amount_minor) => ({ beneficiary_id: other, amount_minor }))
  const listed = await team.owner.api.post('/v1/payment-batches', { items })
  if (listed.status !== 201) throw new Error(listed.text)
  await service.settle()
  await service.deps.jobs.sweep()
  await days(30)
  await pay('70000')
  keys = (await service.api.get('/.well-known/jwks.json')).text
  files = await unpack(await bytesOf(auditor.api))
}, 60_000)
afterAll(() => service.close())

test('has the period’s approvals with their signatures, policies, changes, activity, payees, statement and receipts', async () => {
  expect(linesOf('approvals')).toMatchObject([
    { payment: { id: rejected }, status: 'rejected', decisions: [{ via: 'signature', signer: expect.stringContaining('0x') }] },
  ])
  expect(linesOf('policies').map(({ policy }) => [policy.version, policy.daily_limit_minor])).toEqual([
    [1, null],
    [2, '9000000'],
  ])
  expect(linesOf('policy-changes')).toMatchObject([{ action: 'policy.updated', after: { daily_limit_minor: '9000000' } }])
  expect(linesOf('activity').map(({ action }) => action)).toEqual(
    expect.arrayContaining(['payment.create', 'policy.updated', 'approval.reject']),
  )
  expect(linesOf('beneficiaries').map((payee) => payee.display_name)).toEqual(['Otieno', 'Wanjiru Kamau'])
  expect(linesOf('members').map(({ role }) => role)).toEqual(expect.arrayContaining(['owner', 'auditor']))
  expect(JSON.parse(files.get('statement.json') ?? '')).toMatchObject({
    ...{ from, to, opening_balance_minor: '9970000', closing_balance_minor: '9859900', out_minor: '110100' },
  })
  expect(files.get('statement.csv')).toContain('Wanjiru Kamau')
  const receipts = linesOf('receipts')
  expect(
    receipts
      .slice(0, 2)
      .map(({ batch }) => batch.index)
      .toSorted(),
  ).toEqual([0, 1])
  expect(receipts.slice(2).map(({ payment }) => payment.id)).toEqual([rejected, inside, before])
  expect([...files.values()].join('')).not.toMatch(/2547\d{8}/)
})

test('holds, in the form of the program that everyone can run, and says so of each file', async () => {
  const { status, text } = await verify(await archiveOf(files))
  expect(text).toContain('ok   receipts.jsonl: 5 receipts are valid')
  expect(text).toContain('The evidence is valid.')
  expect(status).toBe(0)
})

const signed = async (change: (document: Json) => void): Promise<string> => {
  const { jws: _, ...document } = JSON.parse(files.get('manifest.json') ?? '')
  change(document)
  const ring = service.deps.config.RECEIPT_KEYS
  if (!ring) throw new Error('a service has receipt keys')
  return JSON.stringify({ ...document, jws: await createReceiptKeys(ring).sign(canonicalJson(document), 'evidence-manifest') })
}

test.each<readonly [string, (content: Map<string, string>) => unknown, string]>([
  ['a file that was changed', (content) => content.set('activity.jsonl', '{}\n'), 'BAD  activity.jsonl: it is not the file'],
  ['a file that was left out', (content) => content.delete('approvals.jsonl'), 'BAD  approvals.jsonl: it is not in the archive'],
  ['a file that was added', (content) => content.set('more.txt', 'x'), 'BAD  files: more.txt: not in the manifest'],
  ['no manifest', (content) => content.delete('manifest.json'), 'BAD  manifest'],
  [
    'a manifest that was changed',
    (content) => content.set('manifest.json', (content.get('manifest.json') ?? '').replace('Dairy', 'Other')),
    'BAD  manifest: the signature is not over this text',
  ],
])('does not hold with %s', async (_what, change, says) => {
  const content = new Map(files)
  change(content)
  const { status, text } = await verify(await archiveOf(content))
  expect(text).toContain(says)
  expect(status).toBe(1)
})

test('does not hold with a receipt that was changed, nor with a balance that does not add up, though the manifest is signed over them', async () => {
  const content = new Map(files)
  content.set('receipts.jsonl', (files.get('receipts.jsonl') ?? '').replaceAll('50000', '60000'))
  content.set('statement.json', (files.get('statement.json') ?? '').replace('9859900', '9859901'))
  const manifest = await signed((document) => {
    for (const file of document.files) {
      const text = content.get(file.name) ?? ''
      file.bytes = Buffer.byteLength(text)
      file.sha256 = createHash('sha256').update(text).digest('hex')
    }
  })
  const { status, text } = await verify(await archiveOf(content.set('manifest.json', manifest)))
  expect(text).toContain(`BAD  receipt ${inside}: signature`)
  expect(text).toContain('BAD  statement: opening, sums and closing balance contradict each other')
  expect(status).toBe(1)
})

test('an archive that is cut, or is no archive of evidence, is not taken for one', async () => {
  const whole = await archiveOf(files)
  expect((await verify(whole.slice(0, -40))).text).toContain('not a whole ZIP file')
  expect((await verify(whole.slice(0, 500))).status).toBe(2)
})

test('is for people with audit.read: no key gets it by default, no agent may ask for it, and no key exports', async () => {
  const viewer = await join(service, team, 'viewer')
  expect((await viewer.api.get(path)).body).toMatchObject({ error: 'forbidden', details: { required_permission: 'audit.read' } })
  expect((await viewer.api.get('/v1/workspaces/current/audit-log')).status).toBe(403)
  expect((await auditor.api.get('/v1/workspaces/current/audit-log')).status).toBe(200)
  const byDefault = await createKey(team.owner)
  expect((await byDefault.api.get('/v1/credentials/current')).body.permissions).not.toContain('audit.read')
  const named = await createKey(team.owner, { permissions: ['audit.read', 'payment.read'] })
  expect((await named.api.get('/v1/workspaces/current/audit-log')).status).toBe(200)
  expect((await named.api.get(path)).status).toBe(403)
  const { scopes_supported: scopes } = (await service.api.get('/.well-known/oauth-authorization-server')).body
  expect(scopes).not.toContain('audit.read')
})

test('one export of a workspace runs at a time, and is recorded; one that is left ends', async () => {
  const headers = { cookie: `service_session=${auditor.cookie}` }
  const leave = new AbortController()
  const first = await fetch(service.api.url + path, { headers, signal: leave.signal })
  expect(first.status).toBe(200)
  const second = await auditor.api.get(path)
  if (second.status !== 200) expect([second.status, second.headers.get('retry-after')]).toEqual([429, '30'])
  leave.abort()
  await expect.poll(async () => (await auditor.api.get(path)).status).toBe(200)
  const recorded = await team.owner.api.get('/v1/workspaces/current/audit-log?action=workspace.export_evidence')
  expect(recorded.body.data[0]).toMatchObject({ account_id: auditor.accountId, after: { from, to } })
})

test('an export that loses the database breaks its download, and not the process', async () => {
  // Vitest fails for a rejected promise that nothing awaits, which ends the real process.
  const rename = (one: string, other: string) => service.deps.db.query(`alter table ${one} rename to ${other}`)
  const { owner } = await createTeam(service, 'No payments')
  await rename('audit_seals', 'seals_away')
  const { credentials } = owner.api
  const headers = { cookie: `service_session=${credentials.cookie}` }
  const answer = await fetch(service.api.url + path, { headers })
  expect([answer.status, await answer.text().catch(() => 'broken')]).toEqual([200, 'broken'])
  await rename('seals_away', 'audit_seals')
})

test.each([
  [`from=${to}&to=${from}`, 'to'],
  ['from=2025-01-01&to=2026-12-31', 'to'],
  ['from=yesterday', 'from'],
  ['since=2026-01-01', 'since'],
])('the period %s is refused', async (query, field) => {
  const { status, body } = await auditor.api.get(`/v1/workspaces/current/evidence?${query}`)
  expect([status, JSON.stringify(body.details.fields)]).toEqual([400, expect.stringContaining(`"${field}"`)])
})

test('each payment that was made or booked in the period has one receipt, on whichever page its bookings are', async () => {
  service.clock.set(new Date('2026-09-28T09:00:00Z'))
  const { id, owner } = await createTeam(service, 'Bakery')
  await credit(service, id, 10_000_000n)
  const bank = { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '57' }
  const beneficiary_id = await newBeneficiary(owner.api, bank)
  let { api } = owner
  const at = async (time: string) => {
    service.clock.set(new Date(time))
    await pass(service, 0)
    ;({ api } = await signIn(service.api, owner.wallet))
  }
  const pay = async (amount_minor: string, more = {}): Promise<string> => {
    const answer = await api.post('/v1/payments', { beneficiary_id, amount_minor, ...more })
    expect([answer.status, answer.text]).toEqual([201, answer.text])
    await service.settle()
    return answer.body.id
  }
  const giveBack = async (order: ReturnType<typeof lastOrder>) => {
    await deliver(order.resultUrl, transferCallback(order, { state: 'Returned' }))
    await service.settle()
  }
  const paidBefore = await pay('10000')
  const orderBefore = lastOrder(service)
  const returned = await pay('20000', { execute_at: '2026-10-02T09:00:00Z' })
  const onTwoPages = await pay('30000', { execute_at: '2026-10-05T09:00:00Z' })
  await at('2026-10-02T09:00:01Z')
  await giveBack(lastOrder(service))
  await giveBack(orderBefore)
  const made = await pay('40000')
  for (let left = 200 - 7; left > 0; left -= 1) await credit(service, id, 100n)
  await at('2026-10-05T09:00:01Z')
  await at('2026-11-02T09:00:00Z')
  const content = await unpack(await bytesOf(api, pathOf('2026-10-01', '2026-10-31')))
  // The header and the opening balance come first. A page has 200 bookings.
  const bookings = (content.get('statement.csv') ?? '').split('\r\n').slice(2)
  expect(bookings.flatMap((line, index) => (line.includes(onTwoPages) ? [index] : []))).toEqual([199, 200])
  const receipts = linesOf('receipts', content).map(({ payment }) => payment.id)
  expect(receipts.toSorted()).toEqual([paidBefore, returned, onTwoPages, made].toSorted())
  const { status, text } = await verify(await archiveOf(content))
  expect(text).toContain('ok   receipts.jsonl: 4 receipts are valid')
  expect(status).toBe(0)
}, 60_000)

test('a payment from a shared balance that was booked after its separation has its receipt', async () => {
  service.clock.set(new Date('2027-01-20T09:00:00Z'))
  const { id, owner } = await createTeam(service, 'Market')
  await shareBalance(service, id)
  await credit(service, owner.accountId, 1_000_000n)
  const beneficiary_id = await newBeneficiary(owner.api, { destination: '254722000981' })
  const payment = (await owner.api.post('/v1/payments', { beneficiary_id, amount_minor: '10000' })).body
  const separated = await owner.api.post('/v1/workspaces/current/separate-balance', { amount_minor: '300000' })
  expect([payment.status, separated.status]).toEqual(['processing', 200])
  service.clock.set(new Date('2027-02-02T09:00:00Z'))
  await service.settle()
  await pass(service, 0)
  const { api } = await signIn(service.api, owner.wallet)
  await standIn({ ...owner, api }, id)
  expect((await api.get(`/v1/payments/${payment.id}`)).body.status).toBe('succeeded')
  const content = await unpack(await bytesOf(api, pathOf('2027-02-01', '2027-02-28')))
  expect(linesOf('receipts', content).map((receipt) => receipt.payment.id)).toEqual([payment.id])
})
