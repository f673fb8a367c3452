import { afterAll, describe, expect, test } from 'vitest'
import { tools } from '../../src/mcp/tools.ts'
import { mcpScopes } from '../../src/modules/oauth/scopes.ts'
import { fund, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { connectAgent, connectOldAgent, ToolError } from './connect.ts'

const service = await openService()
const person = await signIn(service.api)
await fund(service, person, 10_000_000n)
const payee = await newBeneficiary(person.api, { display_name: 'Wanjiru Kamau' })
const key = await createKey(person)
const agent = await connectAgent(service.api.url, { bearer: key.key })
afterAll(() => agent.close())

let serial = 0
const order = (amount: string, more: object = {}) => {
  serial += 1
  // Without its own reference, an order of the same amount would be a duplicate.
  const own = { idempotency_key: `order ${serial}`, account_reference: `Invoice ${serial + 100}` }
  return { ...own, beneficiary_id: payee, amount_minor: amount, ...more }
}
const caught = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ToolError)) throw new Error(`not refused by the tool: ${error}`)
  return error.envelope
}
const agentWith = async (fields: Record<string, unknown>, owner = person) => {
  const made = await createKey(owner, fields)
  return { ...made, agent: await connectAgent(service.api.url, { bearer: made.key }) }
}

describe('the tools', () => {
  test('are listed in one order, each with schemas, a short description and honest hints', async () => {
    const listed = await agent.tools()
    expect(listed.map(({ name }) => name)).toEqual([
      'get_credential',
      'get_balance',
      'list_beneficiaries',
      'propose_beneficiary',
      'simulate_payment',
      'create_payment',
      'get_payment',
      'list_payments',
      'cancel_payment',
      'create_payment_batch',
      'get_payment_batch',
      'list_approvals',
      'list_mandates',
      'request_topup',
      'get_topup',
      'list_events',
    ])
    for (const tool of listed) {
      expect(tool.outputSchema?.type, tool.name).toBe('object')
      expect(tool.description.length, tool.name).toBeLessThan(300)
      expect(Object.keys(tool.annotations).toSorted()).toEqual([
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
        'readOnlyHint',
      ])
    }
    const hints = Object.fromEntries(listed.map(({ name, annotations }) => [name, annotations]))
    expect(hints.create_payment).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: true,
    })
    expect(hints.get_payment.readOnlyHint).toBe(true)
    expect(agent.instructions()).toMatch(/idempotency_key/)
  })

  test('take little of a model’s context: the whole list is at most 25 KB, with at most 16 tools', async () => {
    const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }
    const listing = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const { text } = await service.api.post('/mcp', listing, { bearer: key.key, headers })
    expect(text).toContain('create_payment_batch')
    expect(Buffer.byteLength(text)).toBeLessThan(25_000)
    expect(tools.length).toBeLessThanOrEqual(16)
  })

  test('include no tool that decides an approval', async () => {
    const listed = await agent.tools()
    expect(listed.filter(({ name }) => /approve|decide|reject/.test(name))).toEqual([])
  })

  test('need no more scopes than the server’s metadata offers, and every operation that they name exists', () => {
    const needed = tools.flatMap(({ operation }) => {
      const route = service.routes.find((entry) => entry.operation === operation)
      if (operation !== null && !route) throw new Error(`there is no ${operation}`)
      return route?.permissions[0] ?? []
    })
    // account.read is enough for a personal workspace's balance.
    expect([...new Set([...needed, 'account.read'])].toSorted()).toEqual([...mcpScopes].toSorted())
  })

  test('are the same for a client of 2025, which pays as well', async () => {
    const old = await connectOldAgent(service.api.url, { bearer: key.key })
    expect((await old.tools()).map(({ name }) => name)).toEqual((await agent.tools()).map(({ name }) => name))
    expect(await old.call('create_payment', order('1000'))).toMatchObject({ status: 'processing', next: 'wait' })
    await old.close()
  })
})

describe('create_payment', () => {
  test('pays, and the wait for it ends with the receipt', async () => {
    const made = await agent.call('create_payment', order('25000', { narrative: 'Eggs' }))
    expect(made).toMatchObject({
      status: 'processing',
      next: 'wait',
      retry_after_seconds: 5,
      decision: { outcome: 'allow', reasons: [] },
      receipt: null,
    })
    const waiting = agent.call('get_payment', { payment_id: made.payment_id, wait_seconds: 20 })
    await service.settle()
    expect(await waiting).toMatchObject({
      status: 'succeeded',
      next: 'done',
      payment_id: made.payment_id,
      receipt: expect.any(String),
    })
    expect((await agent.call('get_payment', { payment_id: made.payment_id })).status).toBe('succeeded')
    const { payments } = await agent.call('list_payments', { status: 'succeeded', limit: 1 })
    expect(payments[0]).toMatchObject({ id: made.payment_id, narrative: 'Eggs' })
  })

  test('pays once for one key, also if the same key came by REST, and answers with the payment’s current status', async () => {
    const { idempotency_key, ...body } = order('1000')
    const first = await key.api.post('/v1/payments', { ...body, on_duplicate: 'confirm' }, { key: idempotency_key })
    await service.settle()
    const second = await agent.call('create_payment', { idempotency_key, ...body })
    expect(second).toMatchObject({ payment_id: first.body.id, status: 'succeeded', next: 'done' })
    const other = await agent.call('create_payment', { idempotency_key, ...body, amount_minor: '2000' })
    expect(other).toMatchObject({
      status: 'refused',
      next: 'change_request',
      refusal: { code: 'conflict' },
      existing: { payment_id: first.body.id, status: 'succeeded', receipt: expect.any(String) },
    })
    expect(other.message).toMatch(new RegExp(`${first.body.id}, succeeded at .* use a new idempotency_key`))
    const rest = await key.api.post('/v1/payments', { ...body, amount_minor: '2000' }, { key: idempotency_key })
    expect([rest.status, rest.body.details.existing]).toMatchObject([
      409,
      { payment_id: first.body.id, status: 'succeeded', receipt: second.receipt, amount_minor: '1000' },
    ])
  })

  test('is denied with the rule, its numbers, and the smallest change that passes', async () => {
    const limited = await agentWith({ spending_controls: { per_payment_limit_minor: '5000', daily_limit_minor: '8000' } })
    await limited.agent.call('create_payment', order('5000'))
    const denied = await limited.agent.call('create_payment', order('6000'))
    expect(denied).toMatchObject({
      status: 'refused',
      payment_id: null,
      next: 'change_request',
      message: expect.stringContaining('50.00'),
      refusal: { code: 'policy_denied' },
      decision: {
        outcome: 'deny',
        change: { max_amount_minor: '3000' },
        reasons: [
          { rule: 'per_payment_limit', limit_minor: '5000', requested_minor: '6000' },
          { rule: 'daily_limit', limit_minor: '8000', used_minor: '5000', resets_at: expect.any(String) },
        ],
      },
    })
    expect((await limited.agent.call('create_payment', order('3000'))).status).toBe('processing')
    expect(await limited.agent.call('create_payment', order('1000'))).toMatchObject({
      next: 'wait',
      retry_after_seconds: expect.any(Number),
    })
    await limited.agent.close()
  })

  test('names the page for the approval, continues after it, and cannot be approved by the agent', async () => {
    const topupInput = await agentWith({ spending_controls: { approval_threshold_minor: '20000' } })
    const made = await topupInput.agent.call('create_payment', order('25000', { narrative: 'Rent', account_reference: 'March' }))
    expect(made).toMatchObject({
      status: 'pending_approval',
      next: 'ask_a_person',
      decision: { outcome: 'require_approval', required_approvals: 1 },
      approval: {
        url: `${service.api.url}/approve/${made.approval.id}`,
        summary: { payee: '"Wanjiru Kamau"', purpose: '"Rent" · "March"', amount: expect.stringContaining('250.00') },
      },
    })
    expect(made.approval.summary.why).toMatch(/^1 approval is needed\. Key or agent .*200\.00/)
    expect(Date.parse(made.approval.expires_at)).toBeGreaterThan(service.clock.now().getTime())
    const { approvals } = await topupInput.agent.call('list_approvals')
    const { id, url } = made.approval
    expect(approvals[0]).toMatchObject({ approval: { id, url }, payee: 'Wanjiru Kamau' })
    expect((await topupInput.api.post(`/v1/approvals/${made.approval.id}/decide`, { decision: 'approve' })).status).toBe(403)
    expect((await topupInput.agent.call('get_payment', { payment_id: made.payment_id, wait_seconds: 1 })).next).toBe(
      'ask_a_person',
    )
    const waiting = topupInput.agent.call('get_payment', { payment_id: made.payment_id, wait_seconds: 25 })
    expect((await person.api.post(`/v1/approvals/${made.approval.id}/decide`, { decision: 'approve' })).status).toBe(200)
    await service.settle()
    expect(await waiting).toMatchObject({ status: 'succeeded', next: 'done' })
    await topupInput.agent.close()
  })

  test('asks a client with URL elicitation to open the approval, and shows its status afterwards', async () => {
    const { key: bearer } = await createKey(person, { spending_controls: { approval_threshold_minor: '20000' } })
    const opened: { url?: string; message?: string }[] = []
    const able = await connectAgent(service.api.url, {
      bearer,
      capabilities: { elicitation: { url: {} } },
      onElicit: ({ params }) => {
        opened.push(params)
        return { action: 'accept' }
      },
    })
    const made = await able.call('create_payment', order('25000'))
    expect(opened).toEqual([
      expect.objectContaining({ url: made.approval.url, message: expect.stringContaining('Wanjiru Kamau') }),
    ])
    expect(made).toMatchObject({ status: 'pending_approval', next: 'ask_a_person' })
    expect((await able.call('list_payments', { status: 'pending_approval' })).payments).toHaveLength(1)
    expect(await able.call('cancel_payment', { payment_id: made.payment_id })).toMatchObject({
      status: 'cancelled',
      next: 'stop',
    })
    await able.close()
  })

  test('pays what looks like an earlier payment only when a person wants it twice', async () => {
    const same = { amount_minor: '7700', account_reference: 'Invoice 7' }
    const first = await agent.call('create_payment', order('7700', same))
    expect(first.decision.warnings).toEqual([])
    const second = await agent.call('create_payment', order('7700', same))
    expect(second).toMatchObject({
      status: 'refused',
      next: 'wait',
      refusal: { code: 'conflict', existing_payment_id: first.payment_id },
      existing: { payment_id: first.payment_id, status: 'processing', receipt: null },
    })
    expect(second.message).toContain(`Already being paid: ${first.payment_id}`)
    const meant = await agent.call('create_payment', order('7700', { ...same, duplicate_of: first.payment_id }))
    expect(meant.decision.warnings).toEqual([{ code: 'possible_duplicate', payment_id: first.payment_id }])
    expect(meant).toMatchObject({ status: 'pending_approval', next: 'ask_a_person' })
    expect(meant.message).toContain(first.payment_id)
    const { idempotency_key: _key, ...what } = order('7700', same)
    expect(await agent.call('simulate_payment', what)).toMatchObject({
      outcome: 'deny',
      next: 'ask_a_person',
      existing: { payment_id: meant.payment_id, status: 'pending_approval' },
      message: expect.stringContaining('Already requested'),
    })
  })

  test('says about a failed payment why it failed, who can do something about it, and what', async () => {
    const unregistered = await newBeneficiary(person.api, { destination: '254700002040' })
    const made = await agent.call('create_payment', order('1000', { beneficiary_id: unregistered }))
    await service.settle()
    expect(await agent.call('get_payment', { payment_id: made.payment_id })).toMatchObject({
      status: 'failed',
      next: 'stop',
      message: expect.stringMatching(
        /Reason: The receiver is not a registered customer\. Next step for the requester: Check the number/,
      ),
    })
  })

  test('says about an unknown outcome that paying again would pay twice', async () => {
    const unanswered = await newBeneficiary(person.api, { destination: '254711000004' })
    const made = await agent.call('create_payment', order('1000', { beneficiary_id: unanswered }))
    await service.deps.jobs.drain()
    const now = await agent.call('get_payment', { payment_id: made.payment_id })
    expect(now).toMatchObject({ status: 'unknown', next: 'wait', message: expect.stringMatching(/pay twice/) })
  })

  test('has the same shape for a refusal', async () => {
    expect(await agent.call('create_payment', order('1050'))).toMatchObject({
      status: 'refused',
      payment_id: null,
      next: 'change_request',
      refusal: { code: 'invalid_request', fields: [{ path: 'amount_minor' }] },
    })
    expect(await agent.call('create_payment', order('24000000'))).toMatchObject({
      next: 'ask_a_person',
      refusal: { code: 'insufficient_funds' },
    })
    const stranger = await newBeneficiary((await signIn(service.api)).api)
    expect(await agent.call('create_payment', order('1000', { beneficiary_id: stranger }))).toMatchObject({
      next: 'change_request',
      refusal: { code: 'not_found' },
    })
    await person.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: true })
    expect(await agent.call('create_payment', order('1000'))).toMatchObject({ next: 'stop', refusal: { code: 'grant_frozen' } })
    await person.api.patch(`/v1/accounts/me/grants/${key.grantId}`, { frozen: false })
    expect(await agent.call('create_payment', { ...order('1000'), tyop: true })).toMatchObject({
      status: 'refused',
      next: 'change_request',
      refusal: { code: 'invalid_request', fields: [{ path: 'tyop' }] },
    })
  })
})

describe('the other tools', () => {
  test('show the credential, the remaining limits and the balance', async () => {
    const limited = await agentWith({ spending_controls: { daily_limit_minor: '8000', approval_threshold_minor: '2000' } })
    const who = await limited.agent.call('get_credential')
    expect(who).toMatchObject({ account_id: person.accountId, headroom: { today_minor: '8000', approval_from_minor: '2000' } })
    const { balance } = (await person.api.get('/v1/accounts/me')).body
    expect(await limited.agent.call('get_balance')).toMatchObject({ ...balance, next: 'done' })
    await limited.agent.close()
  })

  test('simulate, and move nothing', async () => {
    const before = await agent.call('get_balance')
    const { idempotency_key: _key, ...what } = order('2000')
    const described = { ...what, narrative: 'Nails', purpose_code: 'GDDS' }
    expect(await agent.call('simulate_payment', described)).toMatchObject({ outcome: 'allow' })
    expect(await agent.call('simulate_payment', what)).toMatchObject({ outcome: 'allow' })
    expect(await agent.call('get_balance')).toEqual(before)
  })

  test('find a beneficiary by a part of its name, and show no destination', async () => {
    await newBeneficiary(person.api, { display_name: 'Otieno & Sons' })
    const { beneficiaries } = await agent.call('list_beneficiaries', { name: 'wanjiru' })
    expect(beneficiaries).toEqual([expect.objectContaining({ id: payee, destination_mask: expect.stringMatching(/^\*+\d{4}$/) })])
    const page = await agent.call('list_beneficiaries', { limit: 1 })
    expect(page.beneficiaries).toHaveLength(1)
    expect((await agent.call('list_beneficiaries', { limit: 1, cursor: page.next_cursor })).beneficiaries[0].id).not.toBe(
      page.beneficiaries[0].id,
    )
  })

  test('send one M-PESA prompt for one key', async () => {
    const topupInput = { idempotency_key: 'top-up', amount_minor: '100000', phone_number: '0712345678' }
    const made = await agent.call('request_topup', topupInput)
    expect(made).toMatchObject({ status: 'pending', phone_number_mask: expect.stringMatching(/5678$/) })
    expect((await agent.call('request_topup', topupInput)).id).toBe(made.id)
    await service.settle()
    expect(await agent.call('get_topup', { topup_id: made.id })).toMatchObject({ status: 'succeeded' })
  })

  test('list what happened since an event', async () => {
    const { events } = await agent.call('list_events', { limit: 1 })
    const made = await agent.call('create_payment', order('1000'))
    const since = await agent.call('list_events', { after: events[0].id })
    expect(since.events).toContainEqual(expect.objectContaining({ type: 'payment.created', resource_id: made.payment_id }))
  })

  test('answer for another tenant’s id and a malformed id as for one that does not exist', async () => {
    const other = await agentWith({}, await signIn(service.api))
    const made = await agent.call('create_payment', order('1000'))
    for (const id of [made.payment_id, 'pay_nothing', '../accounts/me'])
      expect(await caught(other.agent.call('get_payment', { payment_id: id })), id).toMatchObject({
        refusal: { code: 'not_found' },
      })
    await other.agent.close()
  })
})
