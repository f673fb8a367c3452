import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countHours } from '../../src/ledger/count-hours.ts'
import { formatId, parseId } from '../../src/lib/ids.ts'
import { registerAtEmulator } from '../../src/modules/deposits/registration.ts'
import { holdAccount } from '../harness/account-hold.ts'
import type { Client, Json } from '../harness/client.ts'
import { credit, newBeneficiary, shareBalance } from '../harness/money.ts'
import { createKey, newWallet, type Person, signIn, walletMessage } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { allNamed, answersToForms, copied } from '../harness/signature-forms.ts'
import { afterSweepRead } from '../harness/sweep-reads.ts'
import { findBreaches } from '../harness/verify.ts'
import { createTeam, join, standIn, type Team, type Teammate } from './team.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  await registerAtEmulator(service.deps)
})
afterAll(async () => {
  service.clock.advance(700)
  await service.deps.jobs.sweep()
  expect(await findBreaches(service)).toEqual([])
  await service.close()
})

const path = '/v1/workspaces/current/separate-balance'

/** A team as under version 0.3.0: it uses its owner's balance, with KES 10,000 on it. */
const sharedTeam = async (): Promise<Team> => {
  const team = await createTeam(service)
  await shareBalance(service, team.id)
  await credit(service, team.owner.accountId, 1_000_000n)
  return team
}
const balances = async ({ owner }: Team): Promise<(string | undefined)[]> => [
  (await owner.api.get('/v1/accounts/me')).body.balance.available_minor,
  (await owner.api.get('/v1/workspaces/current')).body.workspace.balance?.available_minor,
]
const ask = ({ api }: { api: Client }, amount_minor = '300000') => api.post(path, { amount_minor })
const personalOf = async ({ api }: Person): Promise<string> =>
  (await api.get('/v1/workspaces')).body.data.find(({ workspace }: Json) => workspace.kind === 'personal').workspace.id
const pass = async (seconds: number) => {
  service.clock.advance(seconds)
  await service.deps.jobs.sweep()
}
/** The same person a day later, in a new session. */
const again = async (person: Person, workspace: string): Promise<Person> => {
  const fresh = await signIn(service.api, person.wallet)
  await standIn(fresh, workspace)
  return fresh
}

describe('a balance that no rule for two guards', () => {
  test('is separated at once: the sum moves, with an entry on both sides, and once only', async () => {
    const team = await sharedTeam()
    const done = await ask(team.owner)
    expect([done.status, done.body]).toMatchObject([
      200,
      { workspace: { balance_shared: false, balance: { available_minor: '300000' } }, pending_separation: null },
    ])
    expect(await balances(team)).toEqual(['700000', '300000'])
    const entries = async (address: string) =>
      ((await team.owner.api.get(address)).body.data as Json[]).map(({ type, amount_minor }) => [type, amount_minor])
    expect(await entries('/v1/accounts/me/history?type=separation')).toEqual([['separation', '-300000']])
    expect(await entries('/v1/workspaces/current/history')).toEqual([['separation', '300000']])
    expect((await ask(team.owner)).body.details.reason).toBe('balance_own')
    const told = (await team.owner.api.get('/v1/notifications?type=workspace.separated')).body.data
    expect(told[0]).toMatchObject({ account_id: team.owner.accountId, workspace_id: team.id, data: { balance_shared: false } })
  })

  test('is separated by its owning account in person alone, and by nothing that is more than available', async () => {
    const team = await sharedTeam()
    const member = await join(service, team, 'owner')
    expect((await ask(member)).body.error).toBe('forbidden')
    const key = await createKey(team.owner, { permissions: ['workspace.manage'] })
    expect((await ask(key)).body.error).toBe('forbidden')
    const short = await ask(team.owner, '1000001')
    expect([short.status, short.body.details.available_minor]).toEqual([402, '1000000'])
    await standIn(team.owner, await personalOf(team.owner))
    expect((await ask(team.owner)).body.details.reason).toBe('balance_own')
    expect((await team.owner.api.post('/v1/workspaces/current/freeze')).status).toBe(200)
    await standIn(team.owner, team.id)
    expect((await ask(team.owner)).body.error).toBe('workspace_frozen')
    service.clock.advance(601)
    expect((await service.api.as({ cookie: team.owner.cookie }).post(path, { amount_minor: '1' })).body.error).toBe(
      'step_up_required',
    )
  })

  test('settles what holds money on the old balance; what is scheduled, deposits and limits follow the workspace', async () => {
    const team = await sharedTeam()
    const { api } = team.owner
    const payee = await newBeneficiary(api)
    await api.post('/v1/spending-policies', { name: 'Day', daily_limit_minor: '100000', approval_threshold_minor: '50000' })
    const pay = (amount_minor: string, more: object = {}) =>
      api.post('/v1/payments', { beneficiary_id: payee, amount_minor, ...more })
    const [held, waits] = [await pay('20000', {}), await pay('51000')]
    const at = new Date(service.clock.now().getTime() + 7_200_000).toISOString()
    const scheduled = await pay('11000', { execute_at: at })
    const list = await api.post('/v1/payment-batches', {
      items: [{ beneficiary_id: payee, amount_minor: '12000' }],
      execute_at: at,
    })
    expect([held.status, waits.status, scheduled.status, list.status]).toEqual([201, 201, 201, 201])
    const { account_number: reference } = (await api.post('/v1/topups/initiate', { method: 'MPESA_PAYBILL' })).body.instructions
    service.clock.advance(3_700)
    await countHours(service.deps.db, service.clock.now())
    const first = { headers: { 'idempotency-key': 'rent-of-march' } }
    const paid = await api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '10100' }, first)
    expect((await ask(await again(team.owner, team.id))).status).toBe(200)
    expect(await balances(team)).toEqual(['618900', '300000'])
    // Payments before and after count together: 20,000 + 51,000 + 10,100 of 100,000.
    expect((await pay('19000')).body).toMatchObject({ error: 'policy_denied' })
    const replayed = await api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '10100' }, first)
    expect([replayed.body.id, replayed.headers.get('idempotency-replayed')]).toEqual([paid.body.id, 'true'])
    expect((await api.post(`/v1/approvals/${waits.body.approval_id}/decide`, { decision: 'approve' })).status).toBe(200)
    const cancelled = await pay('10200')
    expect(cancelled.status).toBe(201)
    await service.settle()
    expect(await balances(team)).toEqual(['618900', '289800'])
    await fetch(`${service.sandboxUrl}/control/deposits`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ reference, amount_minor: '5000' }),
    })
    await service.settle()
    expect(await balances(team)).toEqual(['618900', '294800'])
    service.clock.set(new Date(at))
    await pass(1)
    await service.settle()
    expect((await api.get(`/v1/payments/${held.body.id}`)).body.status).toBe('succeeded')
    expect((await api.get(`/v1/payments/${waits.body.id}`)).body.status).toBe('succeeded')
    const late = [scheduled.body.id, ((await api.get(`/v1/payments?batch_id=${list.body.id}`)).body.data as Json[])[0]?.id]
    for (const id of late)
      expect((await api.get(`/v1/payments/${id}`)).body).toMatchObject({ status: expect.stringMatching(/succeeded|failed/) })
    expect((await balances(team))[0]).toBe('618900')
    const holder = await service.deps.db.query<{ id: string }>('select balance_account_id as id from workspaces where id = $1', [
      parseId('workspace', team.id),
    ])
    const texts = await Promise.all(
      ['/v1/payments', '/v1/notifications?limit=100', '/v1/approvals'].map((address) => api.get(address)),
    )
    for (const { text } of texts) expect(text).not.toContain(formatId('account', holder[0]?.id ?? ''))
  })
})

describe('an approval that waits over a separation', () => {
  const ownBalance = "Paid from: this workspace's own balance"
  const sharedBalance = "Paid from: the balance shared with the owner's account"
  const textOf = async ({ approval_id }: Json): Promise<string> =>
    (await service.api.get(`/v1/approvals/${approval_id}/message?decision=approve`)).body.message
  const waiting = async (team: Team, beneficiary_id: string): Promise<{ now: Json; later: Json; list: Json }> => {
    const { api } = team.owner
    await api.post('/v1/spending-policies', { name: 'Ask', approval_threshold_minor: '50000' })
    const item = { beneficiary_id, amount_minor: '51000' }
    const execute_at = new Date(service.clock.now().getTime() + 7_200_000).toISOString()
    return {
      now: (await api.post('/v1/payments', item)).body,
      later: (await api.post('/v1/payments', { ...item, execute_at })).body,
      list: (await api.post('/v1/payment-batches', { items: [{ ...item, amount_minor: '52000' }], execute_at })).body,
    }
  }

  test('of a scheduled payment or list says that the workspace’s own balance pays, and the old text decides nothing', async () => {
    const team = await sharedTeam()
    const { now, later, list } = await waiting(team, await newBeneficiary(team.owner.api))
    const sign = async ({ approval_id }: Json, message: string) =>
      service.api.post(`/v1/approvals/${approval_id}/decide-by-signature`, {
        decision: 'approve',
        signature: await team.owner.wallet.signMessage({ message }),
      })
    const old = await textOf(later)
    expect(old).toContain(sharedBalance)
    expect((await ask(team.owner)).status).toBe(200)
    for (const each of [later, list]) {
      const text = await textOf(each)
      expect(text).toContain(ownBalance)
      expect(text).not.toContain(sharedBalance)
    }
    // The money of this payment is held on the shared balance.
    expect(await textOf(now)).toContain(sharedBalance)
    expect((await sign(later, old)).body.details.reason).toBe('message_changed')
    expect((await sign(later, await textOf(later))).body.status).toBe('approved')
  })

  test('and is signed in the same moment says so, and is signed afterwards', async () => {
    const team = await sharedTeam()
    const { later } = await waiting(team, await newBeneficiary(team.owner.api))
    const sign = async () => {
      const signature = await team.owner.wallet.signMessage({ message: await textOf(later) })
      return service.api.post(`/v1/approvals/${later.approval_id}/decide-by-signature`, { decision: 'approve', signature })
    }
    const hold = await holdAccount(service, team.owner.accountId)
    const separated = ask(team.owner)
    await hold.waiting(1)
    const signed = sign()
    await hold.waiting(2)
    await hold.release()
    expect((await separated).status).toBe(200)
    const late = await signed
    expect([late.status, late.body.error, late.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
    expect((await sign()).body.status).toBe('approved')
  })

  test('gets the registered name of a later check', async () => {
    const party = '254722100001'
    const team = await sharedTeam()
    const payee = await newBeneficiary(team.owner.api, { display_name: 'Wanjiru Kamau', destination: party })
    await service.settle()
    const { now, later } = await waiting(team, payee)
    expect((await ask(team.owner)).status).toBe(200)
    service.sandbox.names.set({ party, name: 'JANE WANGARI DOE' })
    service.clock.advance(60)
    expect((await team.owner.api.post(`/v1/beneficiaries/${payee}/verify`)).status).toBe(202)
    await service.settle()
    service.sandbox.names.set({ party, name: 'WANJIRU NJERI KAMAU' })
    expect((await team.owner.api.get(`/v1/beneficiaries/${payee}`)).body.verification.status).toBe('no_match')
    for (const each of [now, later]) expect(await textOf(each)).toMatch(/Registered name: JANE .* \(DOES NOT MATCH\)/)
  })
})

describe('a balance that a rule for two guards', () => {
  let team: Team
  let home: string
  let approver: Teammate
  beforeAll(async () => {
    team = await sharedTeam()
    home = await personalOf(team.owner)
    approver = await join(service, team, 'approver')
    const two = { name: 'Two', approval_threshold_minor: '0', required_approval_count: 2 }
    expect((await team.owner.api.post('/v1/spending-policies', two)).status).toBe(201)
  })

  test('waits a day, tells both workspaces, and is withdrawn by an approver', async () => {
    const waits = await ask(team.owner)
    expect([waits.status, waits.body.pending_separation]).toMatchObject([
      202,
      { workspace_id: team.id, amount_minor: '300000', requested_by: team.owner.accountId },
    ])
    expect(waits.body.pending_separation.message).toContain('Amount: KES 3,000.00')
    expect(await balances(team)).toEqual(['1000000', '1000000'])
    expect((await ask(team.owner)).body.details.reason).toBe('change_pending')
    expect((await approver.api.get(path)).body.pending_separation.amount_minor).toBe('300000')
    const told = (await approver.api.get('/v1/notifications?type=workspace.separation_requested')).body.data
    expect(told[0].data.pending_separation).toMatchObject({ amount_minor: '300000' })
    expect((await team.owner.api.post(`${path}/confirm`, {})).body.error).toBe('separation_of_duties')
    expect((await approver.api.delete(path)).body.pending_separation).toBeNull()
    await pass(86_401)
    expect(await balances({ ...team, owner: await again(team.owner, team.id) })).toEqual(['1000000', '1000000'])
  })

  test('is separated by the confirmation of an approver who counts, and not of one of today', async () => {
    const owner = await again(team.owner, team.id)
    const young = await join(service, { ...team, owner }, 'approver')
    expect((await ask(owner)).status).toBe(202)
    expect((await young.api.post(`${path}/confirm`, {})).body.error).toBe('forbidden')
    const confirmer = await again(approver, team.id)
    const other = await confirmer.api.post(`${path}/confirm`, { message_digest: '0'.repeat(64) })
    expect(other.body.details.reason).toBe('message_changed')
    const once = { key: 'confirm-1' }
    const confirmed = await confirmer.api.post(`${path}/confirm`, {}, once)
    expect(confirmed.body).toMatchObject({ workspace: { balance_shared: false } })
    const repeated = await confirmer.api.post(`${path}/confirm`, {}, once)
    expect([repeated.status, repeated.text]).toEqual([200, confirmed.text])
    expect((await confirmer.api.post(`${path}/confirm`, {})).status).toBe(404)
    expect(await balances({ ...team, owner })).toEqual(['700000', '300000'])
    expect(home).not.toBe(team.id)
  })

  test('is not confirmed while another workspace on it is frozen', async () => {
    const shared = await sharedTeam()
    const inHome = { headers: { 'workspace-id': await personalOf(shared.owner) } }
    const confirms = await join(service, shared, 'approver')
    const two = { name: 'Two', approval_threshold_minor: '0', required_approval_count: 2 }
    expect((await shared.owner.api.post('/v1/spending-policies', two)).status).toBe(201)
    await pass(86_401)
    const owner = await again(shared.owner, shared.id)
    const confirmer = await again(confirms, shared.id)
    expect((await ask(owner)).status).toBe(202)
    expect((await owner.api.post('/v1/workspaces/current/freeze', {}, inHome)).status).toBe(200)
    const refused = await confirmer.api.post(`${path}/confirm`, {})
    expect([refused.status, refused.body.error]).toEqual([403, 'workspace_frozen'])
    expect(await balances({ ...shared, owner })).toEqual(['1000000', '1000000'])
    expect((await owner.api.post('/v1/workspaces/current/unfreeze', {}, inHome)).status).toBe(200)
    expect((await confirmer.api.post(`${path}/confirm`, {})).status).toBe(200)
    expect(await balances({ ...shared, owner })).toEqual(['700000', '300000'])
  })

  test('stays pending when due, if a workspace on it is frozen while the sweep runs', async () => {
    const shared = await sharedTeam()
    const inHome = { headers: { 'workspace-id': await personalOf(shared.owner) } }
    await join(service, shared, 'approver')
    const two = { name: 'Two', approval_threshold_minor: '0', required_approval_count: 2 }
    expect((await shared.owner.api.post('/v1/spending-policies', two)).status).toBe(201)
    expect((await ask(shared.owner)).status).toBe(202)
    service.clock.advance(86_401)
    const owner = await again(shared.owner, shared.id)
    let frozen = 0
    afterSweepRead(service, 'balances.separate', async () => {
      frozen = (await owner.api.post('/v1/workspaces/current/freeze', {}, inHome)).status
    })
    await service.deps.jobs.sweep()
    expect([frozen, await balances({ ...shared, owner })]).toEqual([200, ['1000000', '1000000']])
    expect((await owner.api.post('/v1/workspaces/current/unfreeze', {}, inHome)).status).toBe(200)
    await pass(30)
    expect(await balances({ ...shared, owner })).toEqual(['700000', '300000'])
  })

  test('is not confirmed while the balance does not cover it, and waits on', async () => {
    const short = await sharedTeam()
    const confirmer = await join(service, short, 'approver')
    const two = { name: 'Two', approval_threshold_minor: '500000', required_approval_count: 2 }
    expect((await short.owner.api.post('/v1/spending-policies', two)).status).toBe(201)
    expect((await ask(short.owner, '1000000')).status).toBe(202)
    const payee = await newBeneficiary(short.owner.api)
    expect((await short.owner.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '10000' })).status).toBe(201)
    const refused = await confirmer.api.post(`${path}/confirm`, {})
    // Only the owner may see the balance. An account that may not confirm gets that error first.
    expect((await short.owner.api.post(`${path}/confirm`, {})).body.error).toBe('separation_of_duties')
    const { error, message, details } = refused.body
    expect([error, message]).toEqual(['insufficient_funds', 'The available balance does not cover this amount.'])
    expect([details.available_minor, details.requested_minor]).toEqual([undefined, '1000000'])
    expect((await confirmer.api.get(path)).body.pending_separation).toMatchObject({ amount_minor: '1000000' })
    await credit(service, short.owner.accountId, 10_000n)
    expect((await confirmer.api.post(`${path}/confirm`, {})).status).toBe(200)
    expect(await balances(short)).toEqual(['0', '1000000'])
  })

  test('with a rule for signatures and nobody else: its owner signs, and without that nothing moves after a day', async () => {
    const alone = await sharedTeam()
    const inHome = { headers: { 'workspace-id': await personalOf(alone.owner) } }
    const signed = { name: 'Signed', approval_threshold_minor: '0', required_approval_count: 1, approval_proof: 'signature' }
    expect((await alone.owner.api.post('/v1/spending-policies', signed, inHome)).status).toBe(201)
    expect((await ask(alone.owner)).status).toBe(202)
    await pass(86_401)
    const owner = await again(alone.owner, alone.id)
    expect(await balances({ ...alone, owner })).toEqual(['1000000', '1000000'])
    expect((await owner.api.get(path)).body.pending_separation).toBeNull()
    const { message } = (await ask(owner)).body.pending_separation
    expect((await owner.api.post(`${path}/confirm`, {}, inHome)).status).toBe(400)
    const forged = await signIn(service.api)
    const wrong = await owner.api.post(`${path}/confirm`, { signature: await forged.wallet.signMessage({ message }) }, inHome)
    expect(wrong.body.error).toBe('invalid_signature')
    const send = (signature: string) => owner.api.post(`${path}/confirm`, { signature }, inHome)
    const own = await alone.owner.wallet.signMessage({ message })
    expect(await answersToForms(own, send)).toEqual(allNamed)
    const confirmed = await send(copied(own))
    expect(confirmed.status).toBe(200)
    expect(await balances({ ...alone, owner })).toEqual(['700000', '300000'])
  })

  test('is withdrawn at its time where the money is gone', async () => {
    const short = await sharedTeam()
    const two = { name: 'Two', approval_threshold_minor: '500000', required_approval_count: 2 }
    await short.owner.api.post('/v1/spending-policies', two)
    expect((await ask(short.owner, '1000000')).status).toBe(202)
    const payee = await newBeneficiary(short.owner.api)
    expect((await short.owner.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '10000' })).status).toBe(201)
    await service.settle()
    await pass(86_401)
    const owner = await again(short.owner, short.id)
    expect(await balances({ ...short, owner })).toEqual(['990000', '990000'])
    const log = await owner.api.get('/v1/workspaces/current/audit-log?action=workspace.separation_withdraw')
    expect(log.body.data).toMatchObject([{ after: { amount_minor: '1000000', reason: 'insufficient_funds' } }])
  })
})

describe('a balance that rules of two workspaces guard', () => {
  const two = { name: 'Two', approval_threshold_minor: '500000', required_approval_count: 2 }
  /** A team with one approver in it and another in its owner's personal workspace. Its separation waits for both. */
  const guarded = async () => {
    const shared = await sharedTeam()
    const { owner } = shared
    const home = await personalOf(owner)
    const ofTeam = await join(service, shared, 'approver')
    await standIn(owner, home)
    const ofHome = await join(service, { ...shared, id: home }, 'approver')
    expect((await owner.api.post('/v1/spending-policies', two)).status).toBe(201)
    await standIn(owner, shared.id)
    const policy = (await owner.api.post('/v1/spending-policies', two)).body
    expect((await ask(owner)).status).toBe(202)
    const requireSignatures = async () => {
      const change = { version: policy.version, approval_proof: 'signature' }
      expect((await owner.api.patch(`/v1/spending-policies/${policy.id}`, change)).status).toBe(200)
    }
    return { shared, ofTeam, ofHome, requireSignatures }
  }
  const signWith = async ({ api }: Person, wallet: Person['wallet']) => {
    const { message } = (await api.get(path)).body.pending_separation
    return api.post(`${path}/confirm`, { signature: await wallet.signMessage({ message }) })
  }

  test('is separated by the confirmations of both, and both workspaces are told so', async () => {
    const { shared, ofTeam, ofHome } = await guarded()
    expect((await ofTeam.api.post(`${path}/confirm`, {})).body.pending_separation).not.toBeNull()
    expect((await ofHome.api.post(`${path}/confirm`, {})).body.pending_separation).toBeNull()
    expect(await balances(shared)).toEqual(['700000', '300000'])
    for (const { api } of [ofTeam, ofHome]) {
      const { data } = (await api.get('/v1/notifications?type=workspace.separated')).body
      expect(data.map(({ data }: Json) => data)).toMatchObject([{ id: shared.id, balance_shared: false }])
    }
    const inHome = { headers: { 'workspace-id': await personalOf(shared.owner) } }
    const log = (await shared.owner.api.get('/v1/workspaces/current/audit-log?action=workspace.separate', inHome)).body
    expect(log.data).toMatchObject([{ after: { amount_minor: '300000' } }])
  })

  test('a confirmation that is signed later replaces one without a signature', async () => {
    const { shared, ofTeam, ofHome, requireSignatures } = await guarded()
    expect((await ofTeam.api.post(`${path}/confirm`, {})).status).toBe(200)
    await requireSignatures()
    expect((await signWith(ofTeam, ofTeam.wallet)).body.pending_separation).not.toBeNull()
    expect((await ofHome.api.post(`${path}/confirm`, {})).body.pending_separation).toBeNull()
    expect(await balances(shared)).toEqual(['700000', '300000'])
  })

  test('a confirmation signed by a wallet that was unlinked counts as unsigned', async () => {
    const { shared, ofTeam, ofHome, requireSignatures } = await guarded()
    await requireSignatures()
    const stolen = newWallet()
    const message = await walletMessage(service.api, stolen)
    const linked = await ofTeam.api.post('/v1/accounts/me/identities', {
      provider: 'wallet',
      message,
      signature: await stolen.signMessage({ message }),
    })
    expect((await signWith(ofTeam, stolen)).status).toBe(200)
    expect((await ofTeam.api.delete(`/v1/accounts/me/identities/${linked.body.id}`)).status).toBe(200)
    expect((await ofHome.api.post(`${path}/confirm`, {})).body.pending_separation).not.toBeNull()
    expect(await balances(shared)).toEqual(['1000000', '1000000'])
    expect((await signWith(ofTeam, ofTeam.wallet)).body.pending_separation).toBeNull()
    expect(await balances(shared)).toEqual(['700000', '300000'])
  })
})

test('while an upgrade runs, neither a team is made nor a balance separated', async () => {
  const team = await sharedTeam()
  const finish = (at: string) =>
    service.deps.db.query(`insert into installation (id, currency, created_at, upgrade_finished_at) values (gen_random_uuid(), 'KES', now(), ${at})
      on conflict (one) do update set upgrade_finished_at = excluded.upgrade_finished_at`)
  await finish('null')
  for (const answer of [await ask(team.owner), await team.owner.api.post('/v1/workspaces', { name: 'New' })])
    expect([answer.status, answer.body.error, answer.body.details.reason]).toEqual([503, 'unavailable', 'upgrade_running'])
  await finish('now()')
  expect((await ask(team.owner)).status).toBe(200)
})
