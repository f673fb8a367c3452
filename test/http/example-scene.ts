import { randomBytes } from 'node:crypto'
import type { Example } from '../../scripts/docs/reference.ts'
import { inTx } from '../../src/db/client.ts'
import { statementCsv } from '../../src/dev/sandbox/control.ts'
import { formatId, type Uuid } from '../../src/lib/ids.ts'
import { depositUrls } from '../../src/modules/deposits/registration.ts'
import { reconcileStatement } from '../../src/modules/exceptions/reconciliation/service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { raiseProviderAlert } from '../../src/modules/suspense/provider-alerts-service.ts'
import { recordSuspense } from '../../src/modules/suspense/service.ts'
import { newAuthenticator } from '../harness/authenticator.ts'
import { createBrowser } from '../harness/browser.ts'
import type { Client, Json } from '../harness/client.ts'
import { shareBalance } from '../harness/money.ts'
import { newPkce, obtainCode, postForm } from '../harness/oauth.ts'
import { newWallet, type Person, signIn, walletMessage } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { openStream } from '../harness/stream.ts'
import { callbackUrl, startUrl } from '../identity/sign-in/providers.ts'

export type RecordedExamples = Record<string, Example>
type Texts = Record<string, string>
type OperationInput = { path?: Texts; query?: Texts; body?: Json; form?: Texts }
type Operation = { path: string; method: string; id: string }

/** The calls of one story, each operation once: requests with the service's answers. */
const createStage = (operations: readonly Operation[]) => {
  const examples: RecordedExamples = {}
  const find = (id: string): Operation => {
    const operation = operations.find((one) => one.id === id)
    if (!operation) throw new Error(`there is no operation ${id}`)
    return operation
  }
  const play = async (id: string, api: Client, { path = {}, query, body, form }: OperationInput = {}): Promise<Json> => {
    const operation = find(id)
    const concrete = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '')
    const address = query ? `${concrete}?${new URLSearchParams(query)}` : concrete
    const answer = form
      ? await postForm(api, address, form)
      : await api.call(operation.method.toUpperCase(), address, { body, headers: { accept: 'application/json' } })
    if (answer.status >= 400) throw new Error(`${id} was answered ${answer.status} ${answer.text}`)
    const request = form ?? body
    const parameters = { ...path, ...query }
    const location = answer.headers.get('location')
    examples[id] = {
      ...(Object.keys(parameters).length > 0 && { parameters }),
      ...(request !== undefined && { request }),
      status: answer.status,
      ...(location !== null && { location }),
      ...(answer.body !== undefined && { response: answer.body }),
    }
    return answer.body ?? location
  }
  /** An example from a browser or a stream. */
  const keep = (id: string, example: Example) => {
    examples[find(id).id] = example
  }
  return { examples, play, keep }
}

/** An old event: the stream says that it continues without the missed ones. */
const forgotten = 'evt_01h455vb4pex5vsknk084sn02q'

/** A household in Nairobi, its agent, its clerk and the service's administrators, through the whole API. */
export const playExamples = async (
  service: TestService,
  operations: readonly Operation[],
  [admin, second]: readonly [Person, Person],
): Promise<RecordedExamples> => {
  const { examples, play, keep } = createStage(operations)
  const open = service.api
  const pass = (seconds = 60) => service.clock.advance(seconds)

  await play('service.health', open)
  await play('service.ready', open)
  for (const about of ['server', 'resource', 'mcp_resource']) await play(`oauth.${about}_metadata`, open)
  for (const provider of ['google', 'github'] as const) {
    await play(`sign_in.${provider}_start`, open)
    const browser = createBrowser()
    const back = await callbackUrl(browser, startUrl(service, provider), { email: `${provider}@example.com`, name: 'Juma' })
    const { status, headers } = await browser.step(back)
    const parameters = Object.fromEntries(new URL(back).searchParams)
    keep(`sign_in.${provider}_callback`, { parameters, status, location: headers.get('location') ?? '' })
  }

  // A person signs in, and puts the account in order.
  const wallet = newWallet()
  const walletNonce = await play('sign_in.wallet_nonce', open, { body: { address: wallet.address, chain_id: 1 } })
  const signature = await wallet.signMessage({ message: walletNonce.message })
  await play('sign_in.wallet_verify', open, { body: { message: walletNonce.message, signature } })
  const amina = await signIn(open, wallet)
  const { api } = amina
  await play('accounts.update', api, { body: { display_name: 'Amina Otieno' } })
  await play('accounts.get', api)
  const other = newWallet()
  const message = await walletMessage(open, other)
  const link = { provider: 'wallet', message, signature: await other.signMessage({ message }) }
  const linked = await play('identities.link', api, { body: link })
  await play('identities.list', api)
  await play('identities.unlink', api, { path: { id: linked.id } })
  const asked = await play('passkeys.prepare', api)
  const authenticator = newAuthenticator(service.deps.config.publicUrl)
  const passkey = await play('passkeys.add', api, {
    body: { name: 'My phone', credential: authenticator.create(asked.challenge) },
  })
  await play('passkeys.list', api)
  // The passkey proves later sessions.
  pass()
  const elsewhere = await signIn(open, wallet)
  const { challenge } = await play('sessions.prepare_proof', elsewhere.api)
  await play('sessions.prove', elsewhere.api, { body: { passkey: authenticator.answer(challenge) } })
  await play('passkeys.remove', api, { path: { id: passkey.id } })
  await play('push.key', open)
  const keys = {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  }
  const notices = await play('push_subscriptions.create', api, {
    body: { endpoint: 'https://fcm.googleapis.com/fcm/send/dGVzdA', keys },
  })
  await play('push_subscriptions.list', api)
  await play('push_subscriptions.delete', api, { path: { id: notices.id } })
  await play('notification_settings.get', api)
  await play('notification_settings.update', api, { body: { lists: { email: false }, language: 'sw' } })
  const sessions = await play('sessions.list', api)
  await play('sessions.revoke', api, { path: { id: sessions.data.find(({ current }: Json) => !current).id } })
  await play('sign_in.create_dashboard_token', api)
  await play('sign_in.logout', (await signIn(open, elsewhere.wallet)).api)
  await play('accounts.close', (await signIn(open)).api)

  // Money comes in, payees and limits are set.
  const stream = await openStream(api, { lastEventId: forgotten })
  await stream.next('stream.reset')
  const topup = await play('topups.initiate', api, {
    body: { amount_minor: '2500000', phone_number: '0712345678', metadata: { order: '7' } },
  })
  await service.settle()
  await stream.next('balance.updated')
  stream.close()
  keep('notifications.stream', { parameters: { last_event_id: forgotten }, status: stream.status, response: stream.text() })
  await play('topups.get', api, { path: { id: topup.id } })
  const payee = await play('beneficiaries.create', api, {
    body: {
      type: 'supplier',
      display_name: 'Jane Wanjiru',
      payment_rail: 'MPESA_B2C',
      destination: '0712 345 678',
      legal_name: 'Jane W. Kamau',
      metadata: { vendor: '17' },
    },
  })
  await play('beneficiaries.update', api, { path: { id: payee.id }, body: { display_name: 'Acme Supplies' } })
  await play('beneficiaries.banks', api)
  await play('beneficiaries.verify', api, { path: { id: payee.id } })
  await play('beneficiaries.confirm', api, { path: { id: payee.id } })
  await play('beneficiaries.get', api, { path: { id: payee.id } })
  await play('beneficiaries.list', api)
  const policy = await play('policies.create', api, {
    body: {
      name: 'Ask from KES 1,000 on',
      payment_types: ['MPESA_B2C'],
      approval_threshold_minor: '100000',
      daily_limit_minor: '1000000',
    },
  })
  await play('policies.update', api, { path: { id: policy.id }, body: { version: 1, monthly_limit_minor: '9000000' } })
  await play('policies.get', api, { path: { id: policy.id } })
  await play('policies.list', api)
  const controls = { per_payment_limit_minor: '200000', daily_limit_minor: '500000' }
  const key = await play('api_keys.create', api, { body: { name: 'Invoice agent', spending_controls: controls } })
  const agent = open.as({ bearer: key.key })
  await play('request_log.list', agent)
  await play('credentials.current', agent)

  // The agent pays; larger payments wait for the person.
  pass()
  const proposal = { beneficiary_id: payee.id, amount_minor: '60000' }
  await play('policies.simulate', agent, { body: proposal })
  const paid = await play('payments.create', agent, {
    body: { ...proposal, narrative: 'March rent', account_reference: 'INV-7', metadata: { invoice: '7' } },
  })
  await service.settle()
  await play('payments.get', agent, { path: { id: paid.id } })
  await service.deps.jobs.sweep()
  await play('payments.receipt', agent, { path: { id: paid.id } })
  await play('proof.keys', agent)
  await play('proof.log', agent, { query: { from: '1' } })
  const hold = async (amount_minor: string, narrative: string) => {
    pass()
    return (await agent.post('/v1/payments', { beneficiary_id: payee.id, amount_minor, narrative })).body
  }
  const large = await hold('150000', 'A printer')
  await play('approvals.list', api, { query: { status: 'pending' } })
  await play('approvals.get', api, { path: { id: large.approval_id } })
  await play('approvals.decide', api, {
    path: { id: large.approval_id },
    body: { decision: 'approve', reason: 'Known supplier' },
  })
  await service.settle()
  const signed = await hold('110000', 'Paper')
  const toSign = await play('approvals.message', open, { path: { id: signed.approval_id }, query: { decision: 'approve' } })
  await play('approvals.decide_by_signature', open, {
    path: { id: signed.approval_id },
    body: { decision: 'approve', signature: await wallet.signMessage({ message: toSign.message }) },
  })
  await service.settle()
  const dropped = await hold('120000', 'A mistake')
  await play('payments.cancel', agent, { path: { id: dropped.id } })
  pass()
  await agent.post('/v1/payments', { beneficiary_id: payee.id, amount_minor: '240000', account_reference: 'INV-9' })
  await play('payments.attention', api)
  await play('payment_refusals.list', api, { query: { limit: '1' } })
  await play('payments.list', api, { query: { status: 'succeeded', limit: '2' } })
  await play('payments.summary', api, { query: { days: '2' } })
  await play('beneficiaries.verifications', api, { path: { id: payee.id }, query: { limit: '1' } })
  await play('beneficiaries.payments', api, { path: { id: payee.id }, query: { limit: '1' } })
  await play('accounts.history', api, { query: { limit: '2' } })
  await play('accounts.statement', api, { query: { from: '2026-03-01', to: '2026-03-31', limit: '2' } })
  await play('workspaces.statement', api, { query: { from: '2026-03-01', to: '2026-03-31', limit: '2' } })
  await play('accounts.history_summary', api, { query: { days: '2' } })
  await play('workspaces.history', api, { query: { limit: '2' } })
  await play('workspaces.history_summary', api, { query: { days: '2' } })
  await play('notifications.list', api, { query: { limit: '2' } })

  // A batch: many payments, one approval. It is cancelled again.
  pass()
  const batch = await play('payment_batches.create', agent, {
    body: {
      name: 'March suppliers',
      items: [
        { beneficiary_id: payee.id, amount_minor: '120000', narrative: 'Chairs', account_reference: 'INV-0311' },
        { beneficiary_id: payee.id, amount_minor: '10000', narrative: 'Delivery', account_reference: 'INV-0312' },
      ],
    },
  })
  await play('payment_batches.list', api, { query: { status: 'pending_approval' } })
  await play('payment_batches.get', api, { path: { id: batch.id } })
  await play('payment_batches.lines', api, { path: { id: batch.id } })
  await play('payment_batches.cancel', agent, { path: { id: batch.id } })

  // A mandate: terms that a wallet has signed.
  const expires_at = new Date(service.clock.now().getTime() + 7 * 86_400_000).toISOString()
  const terms = { description: 'Groceries this week', max_total_minor: '100000', expires_at }
  const prepared = await play('mandates.prepare', open, { body: { address: wallet.address, terms } })
  const proof = { nonce: prepared.nonce, signature: await wallet.signMessage({ message: prepared.message }) }
  const mandate = await play('mandates.create', open, { body: { address: wallet.address, terms, ...proof } })
  await play('mandates.get', api, { path: { id: mandate.id } })
  await play('mandates.list', api)
  const revocation = await play('mandates.revocation_message', open, { path: { id: mandate.id } })
  await play('mandates.revoke', open, {
    path: { id: mandate.id },
    body: { address: wallet.address, signature: await wallet.signMessage({ message: revocation.message }) },
  })

  // Keys and grants change and end.
  await play('api_keys.update', api, { path: { id: key.id }, body: { spending_controls: { monthly_limit_minor: '900000' } } })
  await play('api_keys.get', api, { path: { id: key.id } })
  await play('api_keys.list', api)
  await play('grants.list', api)
  await play('grants.get', api, { path: { id: key.grant.id } })
  await play('grants.update', api, { path: { id: key.grant.id }, body: { spending_controls: { daily_limit_minor: '400000' } } })
  const rotated = await play('api_keys.rotate', api, { path: { id: key.id }, body: { overlap_seconds: 600 } })
  await play('api_keys.revoke', api, { path: { id: rotated.id } })
  await play('grants.revoke', api, { path: { id: key.grant.id } })

  await playOAuth(service, play, amina)
  await playTeam(service, play, amina)
  await play('grants.revoke_all', api, { body: { kind: 'oauth' } })
  await play('beneficiaries.archive', api, { path: { id: payee.id } })
  await play('policies.archive', api, { path: { id: policy.id } })
  await playAdministration(service, play, amina, [admin, second])
  return examples
}

type Play = ReturnType<typeof createStage>['play']

const playOAuth = async (service: TestService, play: Play, { api }: Person) => {
  const open = service.api
  const device = 'urn:ietf:params:oauth:grant-type:device_code'
  const client = await play('oauth.register', open, {
    body: {
      client_name: 'Shopping agent',
      redirect_uris: ['http://127.0.0.1:9876/callback'],
      grant_types: ['authorization_code', 'refresh_token', device],
      token_endpoint_auth_method: 'none',
    },
  })
  const { client_id } = client
  const pkce = newPkce()
  const scope = 'payment.create payment.read'
  const ask = {
    client_id,
    response_type: 'code',
    redirect_uri: 'http://127.0.0.1:9876/callback',
    state: randomBytes(16).toString('hex'),
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    scope,
  }
  await play('oauth.push', open, { form: ask })
  const page = await play('oauth.authorize', api, { query: ask })
  const id = new URL(page, open.url).searchParams.get('authorization') ?? ''
  await play('oauth.get_authorization', api, { path: { id } })
  const decided = await play('oauth.decide_authorization', api, {
    path: { id },
    body: {
      decision: 'approve',
      permissions: ['payment.create', 'payment.read'],
      spending_controls: { monthly_limit_minor: '300000' },
    },
  })
  const code = new URL(decided.redirect_to).searchParams.get('code') ?? ''
  const tokens = await play('oauth.token', open, {
    form: { grant_type: 'authorization_code', code, redirect_uri: ask.redirect_uri, client_id, code_verifier: pkce.verifier },
  })
  const started = await play('oauth.device_authorization', open, {
    form: { client_id, scope: 'payment.create', code_challenge: pkce.challenge, code_challenge_method: 'S256' },
  })
  await play('oauth.get_device', api, { path: { user_code: started.user_code } })
  await play('oauth.decide_device', api, {
    path: { user_code: started.user_code },
    body: { decision: 'approve', spending_controls: { daily_limit_minor: '200000' } },
  })
  const server = await open.post('/v1/oauth/register', {
    client_name: 'A shop',
    redirect_uris: ['http://127.0.0.1:9876/callback'],
    token_endpoint_auth_method: 'client_secret_post',
  })
  const own = { client_id: server.body.client_id, client_secret: server.body.client_secret }
  const bought = await obtainCode({ api }, { id: own.client_id })
  const { access_token } = (
    await postForm(open, '/v1/oauth/token', {
      grant_type: 'authorization_code',
      code: bought.code,
      redirect_uri: ask.redirect_uri,
      code_verifier: bought.pkce.verifier,
      ...own,
    })
  ).body
  await play('oauth.introspect', open, { form: { token: access_token, ...own } })
  await play('oauth.revoke', open, { form: { token: tokens.refresh_token, client_id, token_type_hint: 'refresh_token' } })
}

const playTeam = async (service: TestService, play: Play, { api }: Person) => {
  const made = await play('workspaces.create', api, { body: { name: 'Operations', time_zone: 'Europe/Berlin' } })
  const { id } = made.workspace
  const { workspace: personal } = await play('workspaces.current', api)
  await play('workspaces.list', api)
  await play('workspaces.switch', api, { body: { workspace_id: id } })
  await play('workspaces.update', api, { body: { name: 'Operations', time_zone: 'Africa/Nairobi' } })
  const invited = await play('invitations.create', api, { body: { role: 'approver', email: 'otieno@example.com' } })
  await play('invitations.list', api)
  await play('invitations.revoke', api, { path: { id: invited.id } })
  const { token } = (await api.post('/v1/workspaces/current/invitations', { role: 'member' })).body
  const clerk = await signIn(service.api)
  await play('invitations.preview', clerk.api, { body: { token } })
  await play('invitations.accept', clerk.api, { body: { token } })
  await clerk.api.put('/v1/workspaces/current', { workspace_id: id })
  const members = await play('members.list', api)
  const member = members.data.find(({ account_id }: Json) => account_id === clerk.accountId)
  await play('members.update', api, { path: { id: member.id }, body: { role: 'admin' } })
  const rule = (await api.post('/v1/spending-policies', { name: 'Two people', required_approval_count: 2 })).body as Json
  await clerk.api.delete(`/v1/spending-policies/${rule.id}`)
  await play('policies.confirm_change', api, { path: { id: rule.id }, body: {} })
  const kept = (await api.post('/v1/spending-policies', { name: 'Two people', required_approval_count: 2 })).body as Json
  await api.delete(`/v1/spending-policies/${kept.id}`)
  await play('policies.withdraw_change', api, { path: { id: kept.id } })
  await shareBalance(service, id)
  const separation = { amount_minor: '100000' }
  await play('workspaces.separate_balance', api, { body: separation })
  await play('workspaces.read_separation', api)
  await play('workspaces.withdraw_separation', api)
  await api.post('/v1/workspaces/current/separate-balance', separation)
  await play('workspaces.confirm_separation', clerk.api, { body: {} })
  const { grant } = (await clerk.api.post('/v1/accounts/me/api-keys', { name: 'Clerk’s agent' })).body
  await play('workspace_grants.list', api)
  await play('workspace_grants.freeze', api, { path: { id: grant.id }, body: { frozen: true } })
  await play('workspace_grants.freeze_all', api)
  await play('workspace_grants.revoke', api, { path: { id: grant.id } })
  await play('members.remove', api, { path: { id: member.id } })
  await play('workspaces.freeze', api, { body: { reason: 'a lost laptop' } })
  await play('workspaces.unfreeze', api)
  await play('workspaces.audit_log', api, { query: { limit: '2' } })
  await play('workspaces.evidence', api, { query: { from: '2026-03-01', to: '2026-03-31' } })
  await api.put('/v1/workspaces/current', { workspace_id: personal.id })
}

const playAdministration = async (
  service: TestService,
  play: Play,
  amina: Person,
  [admin, second]: readonly [Person, Person],
) => {
  const account = { id: amina.accountId }
  await play('admin.list_accounts', admin.api, { query: { limit: '1' } })
  await play('admin.get_account', admin.api, { path: account })
  const adjustment = { account_id: amina.accountId, direction: 'credit', amount_minor: '100', reason: 'a payment in cash' }
  const made = await play('admin.create_adjustment', admin.api, { body: adjustment })
  await play('admin.get_adjustment', admin.api, { path: { id: made.id } })
  await play('admin.list_adjustments', admin.api, { query: { limit: '1' } })
  const large = async () =>
    (await admin.api.post('/v1/admin/adjustments', { ...adjustment, amount_minor: '900000000' })).body as Json
  await play('admin.confirm_adjustment', second.api, { path: { id: (await large()).id } })
  await play('admin.reject_adjustment', second.api, { path: { id: (await large()).id }, body: { reason: 'a typing error' } })
  await playReconciliation(service, play, admin)
  const lost = await amina.api.post('/v1/beneficiaries', {
    type: 'person',
    display_name: 'Unknown',
    payment_rail: 'MPESA_B2C',
    destination: '254711000004',
  })
  const unknown = await amina.api.post('/v1/payments', { beneficiary_id: lost.body.id, amount_minor: '20000' })
  await service.deps.jobs.drain()
  await play('admin.list_payments', admin.api, { query: { status: 'unknown' } })
  await play('admin.resolve_payment', admin.api, {
    path: { id: unknown.body.id },
    body: { outcome: 'succeeded', evidence: 'statement of 4 March, line 17', provider_receipt: 'QX12AB34CD' },
  })
  const { workspace } = (await amina.api.get('/v1/workspaces/current')).body
  await play('admin.suspend_workspace', admin.api, { path: { id: workspace.id }, body: { reason: 'a court order' } })
  await play('admin.reinstate_workspace', admin.api, { path: { id: workspace.id } })
  await play('admin.update_account', admin.api, { path: account, body: { status: 'frozen', reason: 'suspicious sign-in' } })
  await play('admin.trial_balance', admin.api)
  await play('admin.audit_log', admin.api, { query: { limit: '2' } })
}

/** A person pays in under a name instead of the account number. */
const playAssignment = async (service: TestService, play: Play, admin: Person) => {
  const { confirmation } = depositUrls(service.operatorUrl, service.deps.derivations, 'MPESA_PAYBILL')
  const notice = {
    TransactionType: 'Pay Bill',
    TransID: 'SGH7K2M9QD',
    TransTime: '20260304130500',
    TransAmount: '2500.00',
    BusinessShortCode: '174379',
    BillRefNumber: 'AMINA SHOP',
    MSISDN: '2547 ***** 421',
    FirstName: 'AMINA',
    MiddleName: '',
    LastName: 'OTIENO',
  }
  await fetch(confirmation, { method: 'POST', body: JSON.stringify(notice) })
  const { data } = (await admin.api.get('/v1/admin/suspense?status=open')).body
  const amina = await signIn(service.api)
  await play('admin.assign_suspense', admin.api, {
    path: { id: data[0].id },
    body: { account_id: amina.accountId, note: 'Amina called and named the receipt' },
  })
}

const playReconciliation = async (service: TestService, play: Play, admin: Person) => {
  const stranger = ['QX99ZZ88YY', 'QX99ZZ77YY', 'QX99ZZ66YY']
    .map((receipt) => `${receipt},2026-03-04 20:00:00,Pay Bill from 254***999,Completed,70.00,,254***999,\n`)
    .join('')
  await reconcileStatement(service.deps, shellOperator('the finance team'), {
    source: 'statement of 4 March',
    text: `${statementCsv(service.sandbox.movements(), 'MPESA').trimEnd()}\n${stranger}`,
  })
  await play('admin.upload_statement', admin.api, {
    body: { source: 'statement of 4 March.csv', statement: statementCsv(service.sandbox.movements(), 'MPESA') },
  })
  await play('admin.list_reconciliations', admin.api)
  await play('admin.name_movement', admin.api, {
    body: {
      provider: 'MPESA',
      kind: 'bank_transfer',
      direction: 'out',
      account: '600998',
      provider_receipt: 'QX34CD56EF',
      amount_minor: '25000000',
      moved_at: service.clock.now().toISOString(),
      note: 'to our account at the bank',
    },
  })
  await play('admin.list_movements', admin.api)
  const { data } = await play('admin.list_differences', admin.api, { query: { status: 'open' } })
  await play('admin.resolve_difference', admin.api, { path: { id: data[0].id }, body: { note: 'a deposit by mistake' } })
  await play('admin.resolve_differences', admin.api, {
    body: { ids: data.slice(1, 3).map(({ id }: { id: string }) => id), note: 'deposits by mistake, sent back' },
  })
  await playAssignment(service, play, admin)
  const [topup] = await service.deps.db.query<{ id: Uuid }>(
    `select id from topups where status = 'succeeded' order by id limit 1`,
  )
  const told = {
    subjectKind: 'topup',
    subjectId: topup?.id ?? '',
    word: 'another_amount',
    receipt: 'QX12AB34CD',
    amountMinor: 950000n,
  }
  await inTx(service.deps.db, (tx) => raiseProviderAlert(tx, { rail: 'MPESA_STK', ...told }))
  const raised = await play('admin.list_provider_alerts', admin.api, { query: { status: 'open' } })
  await play('admin.resolve_provider_alert', admin.api, {
    path: { id: raised.data[0].id },
    body: { note: 'the provider sent the notice twice by mistake' },
  })
  const back = { rail: 'PESALINK', direction: 'in', reason: 'unreadable_amount', receipt: 'PLX204417', book: false } as const
  const unread = await inTx(service.deps.db, (tx) => recordSuspense(tx, back))
  const item = await play('admin.enter_suspense_amount', admin.api, {
    path: { id: formatId('suspense', unread ?? '') },
    body: { amount_minor: '127500', note: 'the bank named the amount by telephone' },
  })
  await admin.api.post(`/v1/admin/suspense/${item.id}/resolve`, { outcome: 'reversed', note: 'sent back' })
  const suspense = await play('admin.list_suspense', admin.api, { query: { status: 'open' } })
  await play('admin.resolve_suspense', admin.api, {
    path: { id: suspense.data[0].id },
    body: { outcome: 'reversed', note: 'the statement of 5 March, line 3, shows it going back' },
  })
  await play('admin.resolve_suspense_items', admin.api, {
    body: {
      ids: suspense.data.slice(1, 3).map(({ id }: { id: string }) => id),
      outcome: 'reversed',
      note: 'the statement of 5 March, lines 4 and 5, shows them going back',
    },
  })
}

/** The same characters at the same place. */
const filler = (length: number, characters = '0123456789abcdef') =>
  characters.repeat(Math.ceil(length / characters.length)).slice(0, length)
type Replacement = readonly [RegExp, (match: string, ...groups: string[]) => string]

/** Texts that readers must not see: the test's address, and secrets. */
const private_: readonly Replacement[] = [
  [/(?:localhost|127\.0\.0\.1)(:|%3A)(?!9876)\d+/g, (_text, colon) => `localhost${colon}3000`],
  [/\b(service_[a-z]+_)[\w-]{16,}/g, (text, prefix = '') => prefix + filler(text.length - prefix.length)],
]
/** Values that differ from run to run. */
const passing: readonly Replacement[] = [
  [/0x[0-9a-fA-F]{40}\b/g, () => '0x…'],
  [/0x[0-9a-fA-F]{130}\b/g, () => '0x…'],
  [/\bservice_live_[0-9a-f]{12}\b/g, () => 'service_live_…'],
  [/\b([a-z]{3}_)[0-9a-hjkmnp-tv-z]{26}\b/g, (_text, prefix) => `${prefix}…`],
  [/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, () => 'a time'],
  [/\b[0-9a-f]{32,}\b/g, () => '…'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, () => 'a UUID'],
  [/"(\w*receipt)":"\w+"/g, (_text, name) => `"${name}":"…"`],
  [/\b[A-Z]{4}-[A-Z]{4}\b/g, () => 'XXXX-XXXX'],
  // In a provider's statement.
  [/^[0-9A-Z]{10},/gm, () => '…,'],
  [/(254\*{3}\d{3}[ ,])\d{6,}/g, (_text, payer) => `${payer}…`],
  [/(state|nonce|code_challenge|code)=[\w%.-]{16,}/g, (_text, name) => `${name}=…`],
]

const opaque = new Set([
  'state',
  'code_challenge',
  'code_verifier',
  'provider_receipt',
  'receipt',
  'last_four',
  'credential_id',
  'public_key',
  'rawId',
  'challenge',
  'attestationObject',
  'clientDataJSON',
  'request_uri',
  'jws',
  'x',
  'line',
  'statement',
  'next_cursor',
])

/** A warning's code is a word. A provider's authorization code is random, as are a passkey's own id and its signatures. */
const isOpaque = (name: string, text: string) =>
  opaque.has(name) ||
  (name === 'code' && /^[\w-]{24,}$/.test(text)) ||
  (name === 'id' && /^[\w-]{22}$/.test(text)) ||
  (name === 'signature' && /^[\w-]{90,}$/.test(text))

const rewrite = (value: Json, into: (text: string, name: string) => string, name = ''): Json => {
  if (Array.isArray(value)) return value.map((entry) => rewrite(entry, into, name))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([field, entry]) => [field, rewrite(entry, into, field)]))
  return typeof value === 'string' ? into(value, name) : value
}
const replaced = (text: string, replacements: readonly Replacement[]): string =>
  replacements.reduce((rest, [pattern, into]) => rest.replace(pattern, into), text)

/** The value in the form in which the document may show it. */
export const redacted = (value: Json): Json => rewrite(value, (text) => replaced(text, private_))
/** The value without parts that differ from run to run: ids, times, signatures, addresses. */
export const lasting = (value: Json): Json =>
  rewrite(value, (text, name) => (isOpaque(name, text) ? '…' : replaced(text, [...private_, ...passing])))
