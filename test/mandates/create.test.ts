import { describe, expect, test } from 'vitest'
import { createMandate, mandateTerms, sendMandate, signedMandate } from '../harness/mandates.ts'
import { newBeneficiary } from '../harness/money.ts'
import { createKey, newWallet, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'
import { allNamed, answersToForms, copied } from '../harness/signature-forms.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const person = await signIn(service.api)
const stranger = await signIn(service.api)
const workspaceId = (await person.api.get('/v1/workspaces/current')).body.workspace.id

const path = '/v1/intent-mandates'
const terms = (fields: Record<string, unknown> = {}) => mandateTerms(service, fields)
const sign = (fields: Record<string, unknown> = {}, wallet = person.wallet) => signedMandate(service.api, wallet, terms(fields))
const send = (signed: Parameters<typeof sendMandate>[1]) => sendMandate(service.api, signed)
const later = (seconds: number) => new Date(service.clock.now().getTime() + seconds * 1000).toISOString()
const refusalsOf = async (address: string) =>
  (
    await service.deps.db.query<{ reason: string }>(
      "select after->>'reason' as reason from audit_log where action = 'mandate.refused' and after->>'address' = $1 order by transaction, id",
      [address],
    )
  ).map(({ reason }) => reason)

describe('preparing', () => {
  test('returns one readable text that binds domain, purpose, wallet, every term, their digest, nonce and time', async () => {
    const { grantId } = await createKey(person)
    const beneficiary = await newBeneficiary(person.api)
    const fields = {
      workspace_id: workspaceId,
      grant_id: grantId,
      max_per_payment_minor: '12345',
      max_payments: 3,
      beneficiary_ids: [beneficiary],
      payment_types: ['rent', 'MPESA_B2C'],
      valid_from: later(60),
    }
    const prepared = await service.api.post(`${path}/prepare`, {
      address: person.wallet.address.toLowerCase(),
      terms: terms(fields),
    })
    expect(prepared.status).toBe(200)
    expect(prepared.headers.get('cache-control')).toBe('no-store')
    expect(prepared.body.expires_at).toBe(later(600))
    expect(prepared.body.message.split('\n')).toEqual([
      `${new URL(service.deps.config.publicUrl).host} asks you to agree to payments in advance.`,
      '',
      'By signing you approve every payment within these limits, without being asked again, until the mandate ends or you revoke it.',
      '',
      'Description: Groceries this week',
      'At most in total: KES 1,000.00 (100000 minor units)',
      'At most for one payment: KES 123.45 (12345 minor units)',
      'At most this many payments: 3',
      'Beneficiaries:',
      `- ${beneficiary}`,
      'Payment types:',
      '- MPESA_B2C',
      '- rent',
      `Workspace: ${workspaceId}`,
      `For payments by: the grant ${grantId} and those below it`,
      `Valid from: ${later(60)}`,
      `Valid until: ${later(3600)}`,
      '',
      'Purpose: intent mandate',
      `Wallet: ${person.wallet.address}`,
      expect.stringMatching(/^Terms digest: [0-9a-f]{64}$/),
      `Nonce: ${prepared.body.nonce}`,
      `Sign before: ${later(600)}`,
    ])
  })

  test('reveals no account: an unknown wallet gets the same answer', async () => {
    const signed = await sign({}, newWallet())
    expect(signed.message).toContain('Workspace: your personal workspace')
  })

  test.each([
    [{ max_total_minor: '0' }, 'terms.max_total_minor'],
    [{ max_total_minor: '1e3' }, 'terms.max_total_minor'],
    [{ max_per_payment_minor: '100001' }, 'terms.max_per_payment_minor'],
    [{ max_payments: 0 }, 'terms.max_payments'],
    [{ max_payments: 1.5 }, 'terms.max_payments'],
    [{ beneficiary_ids: [] }, 'terms.beneficiary_ids'],
    [{ payment_types: [] }, 'terms.payment_types'],
    [{ valid_from: '2099-01-01T00:00:00Z' }, 'terms.valid_from'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'terms.expires_at'],
    [{ expires_at: 'soon' }, 'terms.expires_at'],
    [{ description: ' ' }, 'terms.description'],
    [{ description: 'x'.repeat(201) }, 'terms.description'],
    [{ description: 'Tea\nAt most in total: KES 1.00' }, 'terms.description'],
    [{ description: 'Tea\u202eSEK' }, 'terms.description'],
    [{ payment_types: ['rent\r\n- food'] }, 'terms.payment_types.0'],
    [{ workspace_id: 'wsp_1' }, 'terms.workspace_id'],
    [{ max_totel_minor: '1' }, 'terms.max_totel_minor'],
  ])('refuses %j', async (fields, field) => {
    const answer = await service.api.post(`${path}/prepare`, { address: person.wallet.address, terms: terms(fields) })
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
    expect(answer.body.details.fields.map((entry: { path: string }) => entry.path)).toEqual([field])
  })

  test('refuses an invalid address', async () => {
    expect((await service.api.post(`${path}/prepare`, { address: '0x12', terms: terms() })).status).toBe(400)
  })
})

describe('creating', () => {
  test('needs only the signature and covers the personal workspace of the wallet’s account', async () => {
    const signed = await sign({ max_payments: 2, payment_types: ['b', 'a', 'b'] })
    const made = await send(signed)
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: expect.stringMatching(/^man_/),
      status: 'active',
      account_id: person.accountId,
      workspace_id: workspaceId,
      grant_id: null,
      description: 'Groceries this week',
      max_total_minor: '100000',
      max_per_payment_minor: null,
      max_payments: 2,
      beneficiary_ids: [],
      payment_types: ['a', 'b'],
      valid_from: later(0),
      expires_at: later(3600),
      spent_minor: '0',
      payments_made: 0,
      message: signed.message,
      signature: signed.signature,
      signer: person.wallet.address,
      created_at: later(0),
      revoked_at: null,
    })
    expect((await person.api.get(`${path}/${made.body.id}`)).body).toEqual(made.body)
    const events = await service.deps.db.query<{ data: unknown }>(
      "select data from events where type = 'mandate.created' and data->>'id' = $1",
      [made.body.id],
    )
    expect(events).toEqual([{ data: made.body }])
  })

  test('again with the same nonce, terms and signature returns the same mandate, even if ten try at once', async () => {
    const signed = await sign()
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(signed)))
    expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(201))
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null)).toHaveLength(1)
    service.clock.advance(601)
    expect((await send(signed)).text).toBe(answers[0]?.text)
    const otherwise = await send({
      ...signed,
      terms: { ...signed.terms, expires_at: (signed.terms.expires_at as string).replace('Z', '+00:00') },
    })
    expect(otherwise.text).toBe(answers[0]?.text)
  })

  test('with a nonce of other terms or another wallet is a conflict, before and after it was used', async () => {
    const wallet = newWallet()
    const owner = await signIn(service.api, wallet)
    const signed = await sign({}, wallet)
    const other = { ...signed, terms: { ...signed.terms, max_total_minor: '999999' } }
    const another = { ...signed, address: stranger.wallet.address }
    for (const round of ['before', 'after']) {
      for (const changed of [other, another]) {
        const answer = await send(changed)
        expect([round, answer.status, answer.body.error, answer.body.details.reason]).toEqual([round, 409, 'conflict', 'nonce'])
      }
      expect((await send(signed)).status).toBe(201)
    }
    expect((await owner.api.get(path)).body.data).toHaveLength(1)
    expect(await refusalsOf(wallet.address)).toEqual(['conflict', 'conflict'])
  })

  test.each([
    ['another wallet', async () => ({ ...(await sign()), signature: (await sign({}, stranger.wallet)).signature })],
    [
      'the wallet over another text',
      async () => ({ ...(await sign()), signature: await person.wallet.signMessage({ message: 'Hello' }) }),
    ],
    [
      'the wallet over an altered text',
      async () => {
        const signed = await sign()
        return { ...signed, signature: await person.wallet.signMessage({ message: signed.message.replace('1,000.00', '10.00') }) }
      },
    ],
    ['nobody', async () => ({ ...(await sign()), signature: '0x' })],
    ['a curve point that is none', async () => ({ ...(await sign()), signature: `0x${'ff'.repeat(65)}` })],
    ['a wallet of no account', async () => sign({}, newWallet())],
  ])('with a signature by %s is refused, and audited', async (_, build) => {
    const signed = await build()
    const before = (await refusalsOf(signed.address)).length
    const answer = await send(signed)
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_signature'])
    expect((await refusalsOf(signed.address)).slice(before)).toEqual(['invalid_signature'])
  })

  test('with the same signature in another form is refused by a sentence that names the form, to revoke it too', async () => {
    const signed = await sign()
    expect(await answersToForms(signed.signature, (signature) => send({ ...signed, signature }))).toEqual(allNamed)
    const made = await send({ ...signed, signature: copied(signed.signature) })
    expect(made.status).toBe(201)
    const own = `/v1/intent-mandates/${made.body.id}`
    const { message } = (await service.api.get(`${own}/message`)).body
    const revocation = await person.wallet.signMessage({ message })
    const revoke = (signature: string) => service.api.post(`${own}/revoke`, { signature })
    expect(await answersToForms(revocation, revoke)).toEqual(allNamed)
    expect((await revoke(copied(revocation))).body.status).toBe('revoked')
  })

  test('with a nonce that was never issued, was issued for a sign-in, or has expired is refused', async () => {
    const signed = await sign()
    const { nonce } = (await service.api.post('/v1/auth/wallet/nonce', {})).body
    for (const wrong of [nonce, '0'.repeat(32), 'x']) {
      const answer = await send({ ...signed, nonce: wrong })
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_signature'])
    }
    service.clock.advance(600)
    const late = await send(signed)
    expect([late.status, late.body.error]).toEqual([401, 'invalid_signature'])
    expect((await send(await sign())).status).toBe(201)
  })

  test('with terms that have already ended is refused', async () => {
    const signed = await sign({ expires_at: later(30) })
    service.clock.advance(30)
    const answer = await send(signed)
    expect([answer.status, answer.body.details.fields[0].path]).toEqual([400, 'terms.expires_at'])
  })

  test('by a frozen account or over a frozen workspace is refused', async () => {
    const owner = await signIn(service.api)
    const signed = await sign({}, owner.wallet)
    const where = 'where owning_account_id = (select account_id from identities where subject = $1)'
    await service.deps.db.query(`update workspaces set frozen_at = now() ${where}`, [owner.wallet.address])
    expect((await send(signed)).body.error).toBe('workspace_frozen')
    await service.deps.db.query(`update workspaces set frozen_at = null ${where}`, [owner.wallet.address])
    await service.deps.db.query(
      "update accounts set status = 'frozen' where id = (select account_id from identities where subject = $1)",
      [owner.wallet.address],
    )
    expect((await send(signed)).body.error).toBe('account_frozen')
  })
})

describe('the scope of a mandate', () => {
  test("includes a workspace only if the signer's account owns it; another workspace does not exist", async () => {
    const team = await person.api.post('/v1/workspaces', { name: 'Team' })
    const teamId = team.body.workspace.id
    expect((await send(await sign({ workspace_id: teamId }))).body.workspace_id).toBe(teamId)
    const missing = await send(await sign({ workspace_id: 'wsp_01h455vb4pex5vsknk084sn02q' }))
    const foreign = await send(await sign({ workspace_id: teamId }, stranger.wallet))
    expect([missing.status, foreign.status]).toEqual([404, 404])
    expect({ ...foreign.body, details: {} }).toEqual({ ...missing.body, details: {} })
  })

  test('includes a grant only if it is active and the account’s own in that workspace', async () => {
    const own = await createKey(person)
    const foreign = await createKey(stranger)
    const team = (await person.api.post('/v1/workspaces', { name: 'Other' })).body.workspace.id
    expect((await send(await sign({ grant_id: own.grantId }))).body.grant_id).toBe(own.grantId)
    expect((await send(await sign({ grant_id: foreign.grantId }))).status).toBe(404)
    expect((await send(await sign({ grant_id: own.grantId, workspace_id: team }))).status).toBe(404)
    await person.api.delete(`/v1/accounts/me/api-keys/${own.id}`)
    const ended = await send(await sign({ grant_id: own.grantId }))
    expect([ended.status, ended.body.error, ended.body.details.reason]).toEqual([409, 'conflict', 'grant_ended'])
  })

  test('includes beneficiaries only if they are the workspace’s', async () => {
    const own = await newBeneficiary(person.api)
    const foreign = await newBeneficiary(stranger.api)
    expect((await send(await sign({ beneficiary_ids: [own] }))).body.beneficiary_ids).toEqual([own])
    const refused = await send(await sign({ beneficiary_ids: [own, foreign] }))
    expect([refused.status, refused.body.details.field]).toEqual([404, 'terms.beneficiary_ids'])
  })
})

describe('reading', () => {
  test('lists the workspace’s mandates newest first, by status, and no others', async () => {
    const owner = await signIn(service.api)
    const first = await createMandate(service, owner.wallet, { expires_at: later(60) })
    const second = await createMandate(service, owner.wallet)
    const ids = async (query = '') =>
      (await owner.api.get(`${path}${query}`)).body.data.map((mandate: { id: string }) => mandate.id)
    expect(await ids()).toEqual([second.id, first.id])
    const page = await owner.api.get(`${path}?limit=1`)
    expect(await ids(`?limit=1&cursor=${page.body.next_cursor}`)).toEqual([first.id])
    service.clock.advance(60)
    expect([await ids('?status=active'), await ids('?status=expired'), await ids('?status=revoked')]).toEqual([
      [second.id],
      [first.id],
      [],
    ])
    expect((await stranger.api.get(path)).body.data).toEqual([])
  })

  test('needs a credential with the permission, and answers 404 for another tenant’s as for none', async () => {
    const { id } = await createMandate(service, person.wallet)
    const foreign = await stranger.api.get(`${path}/${id}`)
    const missing = await stranger.api.get(`${path}/man_01h455vb4pex5vsknk084sn02q`)
    expect([foreign.status, { ...foreign.body, details: {} }]).toEqual([404, { ...missing.body, details: {} }])
    const key = await createKey(person, { permissions: ['payment.read'] })
    for (const call of [path, `${path}/${id}`]) {
      expect((await service.api.get(call)).status).toBe(401)
      const refused = await key.api.get(call)
      expect([refused.status, refused.body.details.required_permission]).toEqual([403, 'mandate.read'])
    }
    expect((await (await createKey(person)).api.get(`${path}/${id}`)).status).toBe(200)
  })
})

test('a mandate whose time is over is published as expired, once, and never becomes active again', async () => {
  const { id } = await createMandate(service, person.wallet, { expires_at: later(10) })
  service.clock.advance(10)
  expect((await person.api.get(`${path}/${id}`)).body.status).toBe('expired')
  await service.deps.jobs.sweep()
  await service.deps.jobs.sweep()
  const events = await service.deps.db.query("select id from events where type = 'mandate.expired' and data->>'id' = $1", [id])
  expect(events).toHaveLength(1)
  expect((await person.api.get(`${path}/${id}`)).body.status).toBe('expired')
})
