import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatId, parseId, type Uuid } from '../../src/lib/ids.ts'
import { registerAtEmulator } from '../../src/modules/deposits/registration.ts'
import { startAdministered } from '../admin/administrators.ts'
import type { Answer, Client, Json } from '../harness/client.ts'
import { createMandate, mandateTerms, sendMandate, signedMandate } from '../harness/mandates.ts'
import { credit, fund, newBeneficiary, shareBalance } from '../harness/money.ts'
import { authorizeAgent } from '../harness/oauth.ts'
import { createKey, type Person, signIn } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { createTeam, join, standIn, type Team, type Teammate } from './team.ts'

let service: TestService
let admin: Person
beforeAll(async () => {
  const administered = await startAdministered()
  service = administered.service
  admin = administered.admin
  await registerAtEmulator(service.deps)
})
afterAll(() => service.close())

const holderOf = async (workspaceId: string): Promise<Uuid> => {
  const rows = await service.deps.db.query<{ id: Uuid }>('select balance_account_id as id from workspaces where id = $1', [
    parseId('workspace', workspaceId),
  ])
  return rows[0]?.id ?? ''
}
const viewOf = async ({ api }: { api: Client }): Promise<Json> => (await api.get('/v1/workspaces/current')).body.workspace
const availableIn = async (who: { api: Client }): Promise<string> => (await viewOf(who)).balance?.available_minor ?? 'hidden'
const ownBalance = async ({ api }: Person): Promise<string> => (await api.get('/v1/accounts/me')).body.balance.available_minor
const personalOf = async (person: Person): Promise<string> =>
  (await person.api.get('/v1/workspaces')).body.data.find(({ workspace }: Json) => workspace.kind === 'personal').workspace.id
/** A person pays in at the provider, under this caller's account number. */
const payIn = async (api: Client, amount_minor: string): Promise<void> => {
  const { account_number: reference } = (await api.post('/v1/topups/initiate', { method: 'MPESA_PAYBILL' })).body.instructions
  const body = JSON.stringify({ reference, amount_minor })
  await fetch(`${service.sandboxUrl}/control/deposits`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  await service.settle()
}
const pay = ({ api }: { api: Client }, beneficiary_id: string, fields: object = {}) =>
  api.post('/v1/payments', { beneficiary_id, amount_minor: '10000', ...fields })

describe('a team', () => {
  let team: Team
  let member: Teammate
  let payee: string
  beforeAll(async () => {
    team = await createTeam(service, 'Savannah')
    await credit(service, team.owner.accountId, 500_000n)
    member = await join(service, team, 'member')
    payee = await newBeneficiary(team.owner.api)
  })

  test('begins with a balance of its own, which is empty, whatever its owner has', async () => {
    expect(await viewOf(team.owner)).toMatchObject({
      owning_account_id: team.owner.accountId,
      balance: { currency: 'KES', available_minor: '0', held_minor: '0' },
      balance_shared: false,
    })
    expect((await pay(team.owner, payee)).body).toMatchObject({
      error: 'insufficient_funds',
      details: { available_minor: '0', requested_minor: '10000' },
    })
    expect(await ownBalance(team.owner)).toBe('500000')
  })

  test('is topped up by its members, pays from that alone, and has a history and a statement of its own', async () => {
    await fund(service, member, 100_000n)
    await payIn(member.api, '50000')
    expect((await pay(member, payee)).status).toBe(201)
    await service.settle()
    expect([await availableIn(member), await ownBalance(team.owner), await ownBalance(member)]).toEqual(['140000', '500000', '0'])
    const history: Json[] = (await member.api.get('/v1/workspaces/current/history')).body.data
    expect(history.map(({ type, amount_minor }) => [type, amount_minor])).toEqual([
      ['payment', '0'],
      ['payment_hold', '-10000'],
      ['topup', '50000'],
      ['topup', '100000'],
    ])
    expect(history[0]).toMatchObject({ available_after_minor: '140000', beneficiary: { id: payee } })
    const { body: statement } = await member.api.get('/v1/workspaces/current/statement')
    expect(statement).toMatchObject({ opening_balance_minor: '0', closing_balance_minor: '140000', in_minor: '150000' })
    const csv = (await member.api.get('/v1/workspaces/current/history', { headers: { accept: 'text/csv' } })).text
    expect(csv.split('\r\n')).toHaveLength(6)
    expect((await member.api.get('/v1/workspaces/current/history/summary?days=1')).body.days).toEqual([
      expect.objectContaining({ in_minor: '150000', out_minor: '10000' }),
    ])
    for (const { api } of [team.owner, member])
      expect((await api.get('/v1/accounts/me/history?type=topup')).body.data).toEqual([])
  })

  test('shows its balance to all who read its payments, and to nobody else', async () => {
    const blind = await createKey(member, { permissions: ['account.read', 'topup.create'] })
    expect(await availableIn(blind)).toBe('hidden')
    expect((await blind.api.get('/v1/workspaces')).body).toMatchObject({ error: 'forbidden' })
    const viewer = await join(service, team, 'viewer')
    const listed = (await viewer.api.get('/v1/workspaces')).body.data as Json[]
    expect(listed.map(({ workspace }) => [workspace.kind, workspace.balance?.available_minor])).toEqual(
      expect.arrayContaining([
        ['team', await availableIn(viewer)],
        ['personal', '0'],
      ]),
    )
    await team.owner.api.patch(`/v1/workspaces/current/members/${viewer.memberId}`, { status: 'suspended' })
    expect(await availableIn(viewer)).toBe('hidden')
  })

  test('tells its readers of its balance, in the name of its owning account, and tells the owner’s own stream nothing', async () => {
    const events: Json[] = (await member.api.get('/v1/notifications?type=balance.updated')).body.data
    expect(events[0]).toMatchObject({
      account_id: team.owner.accountId,
      workspace_id: team.id,
      data: { id: team.id, balance: { available_minor: await availableIn(member) }, balance_shared: false },
    })
    const viaKey = await createKey(team.owner, { permissions: ['account.read'] })
    const seen: Json[] = (await viaKey.api.get('/v1/notifications?type=balance.updated')).body.data
    expect(seen.filter(({ workspace_id }) => workspace_id !== null)).toEqual([])
  })

  test('keeps an owner: the last active one does not close their account, and the first one of two does', async () => {
    const { owner } = await createTeam(service)
    const alone = await owner.api.delete('/v1/accounts/me')
    expect([alone.status, alone.body.error]).toEqual([409, 'last_owner'])
    const other = await join(service, { id: (await viewOf(owner)).id, owner }, 'owner')
    expect((await owner.api.delete('/v1/accounts/me')).status).toBe(200)
    expect(await viewOf(other)).toMatchObject({ status: 'active', owning_account_id: owner.accountId })
    await fund(service, other, 20_000n)
    expect((await pay(other, await newBeneficiary(other.api))).status).toBe(201)
    expect((await other.api.delete('/v1/accounts/me')).body.error).toBe('last_owner')
  })
})

describe('the account that holds a team’s balance', () => {
  test('is nobody’s: no id finds it, no list has it, and it is never on the wire', async () => {
    const team = await createTeam(service)
    await fund(service, team.owner, 200_000n)
    const payee = await newBeneficiary(team.owner.api)
    const rule = await team.owner.api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '50000' })
    const waits = await pay(team.owner, payee, { amount_minor: '60000' })
    await team.owner.api.post('/v1/payment-batches', { items: [{ beneficiary_id: payee, amount_minor: '10100' }] })
    await team.owner.api.post(`/v1/approvals/${waits.body.approval_id}/decide`, { decision: 'approve' })
    await createMandate(service, team.owner.wallet, { workspace_id: team.id })
    await pay(team.owner, await newBeneficiary(team.owner.api, { destination: '254700000001' }), { amount_minor: '10200' })
    await service.settle()
    expect((await pay(team.owner, payee, { amount_minor: '9900000' })).status).toBe(402)
    const holder = formatId('account', await holderOf(team.id))
    const adjust = (who: object) =>
      admin.api.post('/v1/admin/adjustments', { ...who, direction: 'credit', amount_minor: '100', reason: 'a test' })
    expect((await adjust({ workspace_id: team.id })).status).toBe(201)
    for (const answer of [
      await adjust({ account_id: holder }),
      await admin.api.get(`/v1/admin/accounts/${holder}`),
      await admin.api.patch(`/v1/admin/accounts/${holder}`, { status: 'frozen' }),
    ])
      expect([answer.status, answer.body.error]).toEqual([404, 'not_found'])
    expect((await admin.api.get(`/v1/admin/accounts?id=${holder}`)).body.data).toEqual([])
    const read = [
      ...['payments', 'payment-batches', 'payment-refusals', 'approvals', 'notifications', 'intent-mandates', 'beneficiaries'],
      ...['workspaces', 'workspaces/current/history', 'workspaces/current/statement', 'workspaces/current/audit-log'],
      `payments/${waits.body.id}/receipt`,
    ]
    const texts = await Promise.all([
      ...read.map((path) => team.owner.api.get(`/v1/${path}${path.includes('receipt') ? '' : '?limit=100'}`)),
      ...['accounts', 'payments?attention=late_success', 'adjustments', 'audit-log'].map((path) =>
        admin.api.get(`/v1/admin/${path}`),
      ),
    ])
    for (const { status, text } of texts) expect([status, text.includes(holder)]).toEqual([200, false])
    expect(rule.status).toBe(201)
    expect(await findBreaches(service)).toEqual([])
  })
})

describe('money and the rules that guard it have one home', () => {
  let owner: Person
  let home: string
  let team: Team
  let member: Teammate
  beforeAll(async () => {
    team = await createTeam(service)
    owner = team.owner
    home = await personalOf(owner)
    member = await join(service, team, 'admin')
    const inHome = { headers: { 'workspace-id': home } }
    await credit(service, owner.accountId, 1_000_000n)
    await credit(service, team.id, 1_000_000n)
    const signed = { name: 'Signed', approval_threshold_minor: '0', required_approval_count: 1, approval_proof: 'signature' }
    expect((await owner.api.post('/v1/spending-policies', signed, inHome)).status).toBe(201)
    const two = { name: 'Two people', approval_threshold_minor: '0', required_approval_count: 2 }
    expect((await owner.api.post('/v1/spending-policies', two)).status).toBe(201)
  })

  test('a stolen cookie makes a new workspace, and finds no money in it', async () => {
    const thief: Client = service.api.as({ cookie: owner.cookie })
    const made = await thief.post('/v1/workspaces', { name: 'Elsewhere' })
    expect([made.status, made.body.workspace.balance.available_minor]).toEqual([201, '0'])
    const there = { headers: { 'workspace-id': made.body.workspace.id } }
    const payee = { type: 'person', display_name: 'Me', payment_rail: 'MPESA_B2C', destination: '0712345678' }
    const { id } = (await thief.post('/v1/beneficiaries', payee, there)).body
    const paid = await thief.post('/v1/payments', { beneficiary_id: id, amount_minor: '4000000' }, there)
    expect([paid.status, paid.body.error]).toEqual([402, 'insufficient_funds'])
    expect([await ownBalance(owner), await availableIn(owner)]).toEqual(['1000000', '1000000'])
  })

  test('no way of any principal in one workspace moves the balance of another', async () => {
    const inTeam = { headers: { 'workspace-id': team.id } }
    const [own, theirs] = [
      (
        await owner.api.post(
          '/v1/beneficiaries',
          { type: 'x', display_name: 'Home', payment_rail: 'MPESA_B2C', destination: '0722000001' },
          { headers: { 'workspace-id': home } },
        )
      ).body.id,
      await newBeneficiary(owner.api),
    ]
    const waiting = await pay(owner, theirs, { amount_minor: '20000' })
    expect(waiting.body.status).toBe('pending_approval')
    const list = await owner.api.post('/v1/payment-batches', { items: [{ beneficiary_id: theirs, amount_minor: '20100' }] })
    const mandate = await createMandate(service, owner.wallet, { workspace_id: team.id })
    const before = await availableIn(owner)
    // The owner's key, an agent's child of it, and a member's own workspace: all outside the team's workspace.
    await standIn(owner, home)
    const key = await createKey(owner, {
      permissions: ['payment.create', 'payment.read', 'beneficiary.read', 'topup.create', 'approval.read', 'key.manage'],
    })
    const child = await createKey(key, { permissions: ['payment.create', 'payment.read'] })
    const agent = await authorizeAgent(service.api, owner)
    const topup = (await member.api.post('/v1/topups/initiate', { method: 'MPESA_PAYBILL' })).body.id
    const outsider = await signIn(service.api)
    const elsewhere = await createTeam(service)
    const callers: Record<string, Client> = {
      owner: owner.api,
      key: key.api,
      child: child.api,
      agent: agent.api,
      'a token of the key': key.api.as({ bearer: (await key.api.post('/v1/auth/dashboard-tokens')).body.token }),
      outsider: outsider.api,
      'another team': elsewhere.owner.api,
    }
    const ways: Record<string, (api: Client) => Promise<Answer>> = {
      'pay its payee': (api) => api.post('/v1/payments', { beneficiary_id: theirs, amount_minor: '10000' }),
      'pay under its mandate': (api) =>
        api.post('/v1/payments', { beneficiary_id: own, amount_minor: '10000', mandate_id: mandate.id }),
      'repeat its payment': (api) =>
        api.post('/v1/payments', { beneficiary_id: own, amount_minor: '10000', duplicate_of: waiting.body.id }),
      'pay a list to its payee': (api) =>
        api.post('/v1/payment-batches', { items: [{ beneficiary_id: theirs, amount_minor: '10000' }] }),
      'pay its list again': (api) => api.post('/v1/payment-batches', { again: list.body.id }),
      'cancel its payment': (api) => api.post(`/v1/payments/${waiting.body.id}/cancel`),
      'cancel its list': (api) => api.post(`/v1/payment-batches/${list.body.id}/cancel`),
      'decide its approval': (api) => api.post(`/v1/approvals/${waiting.body.approval_id}/decide`, { decision: 'approve' }),
      'simulate with its mandate': (api) =>
        api.post('/v1/spending-policies/simulate', { beneficiary_id: theirs, amount_minor: '10000', mandate_id: mandate.id }),
      'confirm its payee': (api) => api.post(`/v1/beneficiaries/${theirs}/confirm`),
      'revoke its mandate': (api) => api.post(`/v1/intent-mandates/${mandate.id}/revoke`),
      'read its code for topping up': (api) => api.get(`/v1/topups/${topup}`),
      'read its receipt': (api) => api.get(`/v1/payments/${waiting.body.id}/receipt`),
      'read its payment': (api) => api.get(`/v1/payments/${waiting.body.id}`),
      'separate a balance': (api) => api.post('/v1/workspaces/current/separate-balance', { amount_minor: '10000' }),
    }
    for (const [name, api] of Object.entries(callers))
      for (const [way, tried] of Object.entries(ways)) {
        const { status } = await tried(api)
        expect([name, way, status < 400]).toEqual([name, way, false])
      }
    // A grant is bound to its workspace. A stranger's header has no effect.
    for (const api of [key.api, child.api, agent.api])
      expect((await api.post('/v1/payments', { beneficiary_id: theirs, amount_minor: '10000' }, inTeam)).status).toBe(404)
    expect((await outsider.api.get('/v1/workspaces/current', inTeam)).status).toBe(404)
    // A mandate covers a workspace only if its signer is the owning account.
    const foreign = await sendMandate(
      service.api,
      await signedMandate(service.api, member.wallet, mandateTerms(service, { workspace_id: team.id })),
    )
    expect(foreign.status).toBe(404)
    // Incoming money goes to the account of its code.
    await payIn(key.api, '4000')
    await payIn(agent.api, '3000')
    expect(await ownBalance(owner)).toBe('1007000')
    await standIn(owner, team.id)
    expect(await availableIn(owner)).toBe(before)
    // An administrator moves it only as an administrator, and never in their own workspace.
    const adjusted = await admin.api.post('/v1/admin/adjustments', {
      account_id: owner.accountId,
      direction: 'debit',
      amount_minor: '7000',
      reason: 'back',
    })
    expect([adjusted.status, await ownBalance(owner), await availableIn(owner)]).toEqual([201, '1000000', before])
    expect(await findBreaches(service)).toEqual([])
  })

  test('the schema refuses a payment, a list, a top-up and a transfer on another balance, whichever version writes them', async () => {
    const { db } = service.deps
    await pay(member, await newBeneficiary(member.api))
    const [mine, others] = [parseId('account', owner.accountId), await holderOf(team.id)]
    const copy = (table: string, changes: string) =>
      db.query(`insert into ${table} select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'idempotency_key', null,
        'request_hash', null, 'deposit_code', null, ${changes}))).* from ${table} t where t.account_id = '${others}' limit 1`)
    await fund(service, member, 10_000n)
    for (const table of ['payments', 'payment_batches', 'topups'])
      await expect(copy(table, `'account_id', '${mine}'`)).rejects.toThrow()
    await expect(db.query('update payments set account_id = $1 where account_id = $2', [mine, others])).rejects.toThrow()
    const move = (type: string, of: string) =>
      db.query(
        `insert into ledger_transfers (id, amount_minor, available_after_minor, created_at, kind, debit_account_id, credit_account_id, reference_type, reference_id, customer_account_id)
         select gen_random_uuid(), 1, 0, now(), 'direct', $1, c.id, '${type}', ${of}, $1 from ledger_accounts c where c.code = 'rail_clearing'`,
        [mine],
      )
    for (const [type, table] of [
      ['payment', 'payments'],
      ['topup', 'topups'],
    ] as const)
      await expect(move(type, `(select id from ${table} where account_id = '${others}' limit 1)`)).rejects.toThrow()
    await expect(move('adjustment', 'gen_random_uuid()')).rejects.toThrow()
  })

  test('verify notices a holder that was made a person, and a payment that was moved to another balance', async () => {
    const holder = await holderOf(team.id)
    const broken = async (text: string, values: unknown[]): Promise<string[]> =>
      service.deps.db
        .transaction(async (tx) => {
          await tx.query('set local session_replication_role = replica')
          await tx.query(text, values)
          throw Object.assign(new Error('undone'), { found: await findBreaches(service, tx) })
        })
        .catch((error: Error & { found?: string[] }) => error.found ?? [String(error)])
    expect(await broken('update accounts set email = $2 where id = $1', [holder, 'x@example.com'])).toEqual(
      expect.arrayContaining([expect.stringContaining('and no person')]),
    )
    expect(
      await broken('update payments set account_id = $1 where account_id = $2', [parseId('account', owner.accountId), holder]),
    ).not.toEqual([])
  })
})

describe('a workspace that shares the balance of its owner, as all did before version 0.4.0', () => {
  test('goes on as it was, says so, and shows the balance to its owner alone', async () => {
    const team = await createTeam(service)
    await shareBalance(service, team.id)
    await credit(service, team.owner.accountId, 100_000n)
    const member = await join(service, team, 'member')
    expect(await viewOf(team.owner)).toMatchObject({ balance_shared: true, balance: { available_minor: '100000' } })
    expect(await viewOf(member)).toMatchObject({ balance_shared: true, balance: null })
    expect((await pay(member, await newBeneficiary(member.api))).status).toBe(201)
    const short = await pay(member, await newBeneficiary(member.api), { amount_minor: '9000000' })
    expect([short.body.error, short.body.details?.available_minor]).toEqual(['insufficient_funds', undefined])
    await service.settle()
    expect(await ownBalance(team.owner)).toBe('90000')
    expect((await member.api.get('/v1/workspaces/current/statement')).body).toMatchObject({
      opening_balance_minor: null,
      closing_balance_minor: null,
      out_minor: '10000',
      entries: [{ balance_after_minor: null }],
    })
    expect((await member.api.get('/v1/workspaces/current/history/summary?days=1')).body.days[0]).toMatchObject({
      in_minor: '0',
      out_minor: '10000',
      available_minor: null,
    })
    expect(await findBreaches(service)).toEqual([])
  })
})
