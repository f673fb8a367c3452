import { describe, expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { createMandate } from '../harness/mandates.ts'
import { createKey, newWallet, signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService({ env: { RATE_LIMIT_ENABLED: 'false' } })
const person = await signIn(service.api)
const stranger = await signIn(service.api)

const path = (mandate: Json, rest = '') => `/v1/intent-mandates/${mandate.id}${rest}`
const agree = (fields: Record<string, unknown> = {}, signer = person) => createMandate(service, signer.wallet, fields)
const status = async (mandate: Json) => (await person.api.get(path(mandate))).body.status
const later = (seconds: number) => new Date(service.clock.now().getTime() + seconds * 1000).toISOString()
const messageOf = async (mandate: Json): Promise<string> => (await service.api.get(path(mandate, '/message'))).body.message
const trail = async (mandate: Json) =>
  (
    await service.deps.db.query<{ action: string; way: string; signed: boolean }>(
      "select action, credential_kind as way, coalesce(after::jsonb ? 'signature', false) as signed from audit_log where subject_type = 'mandate' and subject_id = (select id from intent_mandates where nonce = $1) and action <> 'mandate.create' order by transaction, id",
      [/Nonce: (\w+)/.exec(mandate.message)?.[1]],
    )
  ).map(({ action, way, signed }) => `${action} ${way}${signed ? ' signed' : ''}`)

describe('by credential', () => {
  test('ends the mandate for good; a repetition has the same answer', async () => {
    const mandate = await agree()
    const first = await person.api.post(path(mandate, '/revoke'))
    expect([first.status, first.body.status, first.body.revoked_at]).toEqual([200, 'revoked', later(0)])
    service.clock.advance(5)
    expect((await person.api.post(path(mandate, '/revoke'), {})).text).toBe(first.text)
    expect(await trail(mandate)).toEqual(['mandate.revoked session'])
    const events = await service.deps.db.query<{ data: Json }>(
      "select data from events where type = 'mandate.revoked' and data->>'id' = $1",
      [mandate.id],
    )
    expect(events.map(({ data }) => data)).toEqual([first.body])
  })

  test('needs the permission: no credential, a key without the permission and a viewer are refused', async () => {
    const mandate = await agree()
    const stranger = await service.api.post(path(mandate, '/revoke'))
    expect([stranger.status, stranger.body.error]).toEqual([401, 'authentication_required'])
    const key = await createKey(person)
    const refused = await key.api.post(path(mandate, '/revoke'))
    expect([refused.status, refused.body.error, refused.body.details.required_permission]).toEqual([
      403,
      'forbidden',
      'mandate.manage',
    ])
    const wrong = await service.api.post(path(mandate, '/revoke'), undefined, { bearer: `service_live_${'0'.repeat(64)}` })
    expect([wrong.status, wrong.body.error]).toEqual([401, 'invalid_token'])
    expect(await status(mandate)).toBe('active')
    const trusted = await createKey(person, { permissions: ['mandate.manage'] })
    expect((await trusted.api.post(path(mandate, '/revoke'))).body.status).toBe('revoked')
  })

  test("answers for another tenant's mandate as for one that does not exist", async () => {
    const mandate = await agree()
    const foreign = await stranger.api.post(path(mandate, '/revoke'))
    const missing = await stranger.api.post('/v1/intent-mandates/man_01h455vb4pex5vsknk084sn02q/revoke')
    expect([foreign.status, { ...foreign.body, details: {} }]).toEqual([404, { ...missing.body, details: {} }])
    expect(await status(mandate)).toBe('active')
  })

  test('is a conflict if the mandate has ended otherwise', async () => {
    const mandate = await agree({ expires_at: later(10) })
    service.clock.advance(10)
    const late = await person.api.post(path(mandate, '/revoke'))
    expect([late.status, late.body.error, late.body.details.reason]).toEqual([409, 'conflict', 'expired'])
  })

  test('works in a frozen workspace', async () => {
    const owner = await signIn(service.api)
    const mandate = await agree({}, owner)
    expect((await owner.api.post('/v1/workspaces/current/freeze', {})).status).toBe(200)
    expect((await owner.api.post(path(mandate, '/revoke'))).body.status).toBe('revoked')
  })
})

describe('by signature', () => {
  test('needs only the signature over the text that the service returns', async () => {
    const mandate = await agree()
    const revocationText = await service.api.get(path(mandate, '/message'))
    expect([revocationText.status, revocationText.body.expires_at, revocationText.headers.get('cache-control')]).toEqual([
      200,
      mandate.expires_at,
      'no-store',
    ])
    expect(revocationText.body.message.split('\n')).toEqual([
      `${new URL(service.deps.config.publicUrl).host} asks you to revoke an intent mandate.`,
      '',
      'By signing you end it: no further payment is approved by it.',
      '',
      'Description: Groceries this week',
      'At most in total: KES 1,000.00 (100000 minor units)',
      `Valid until: ${mandate.expires_at}`,
      '',
      'Purpose: intent mandate revocation',
      `Mandate: ${mandate.id}`,
      `Signed by: ${person.wallet.address}`,
      `Terms digest: ${/Terms digest: (\w+)/.exec(mandate.message)?.[1]}`,
    ])
    const signature = await person.wallet.signMessage({ message: revocationText.body.message })
    const revoked = await service.api.post(path(mandate, '/revoke'), { signature })
    expect([revoked.status, revoked.body.status]).toEqual([200, 'revoked'])
    expect((await service.api.post(path(mandate, '/revoke'), { signature })).text).toBe(revoked.text)
    expect(await trail(mandate)).toEqual(['mandate.revoked signature signed'])
  })

  test('by another wallet of the same account counts too', async () => {
    const second = newWallet()
    const message = (await service.api.post('/v1/auth/wallet/nonce', { address: second.address })).body.message
    const signature = await second.signMessage({ message })
    expect((await person.api.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature })).status).toBe(201)
    const mandate = await agree()
    const revocation = await second.signMessage({ message: await messageOf(mandate) })
    expect(
      (await service.api.post(path(mandate, '/revoke'), { signature: revocation, address: second.address })).body.status,
    ).toBe('revoked')
  })

  test('by another account, over another mandate, over the terms themselves, or malformed is refused and audited', async () => {
    const [mandate, other] = [await agree(), await agree()]
    const signatures = [
      await stranger.wallet.signMessage({ message: await messageOf(mandate) }),
      await person.wallet.signMessage({ message: await messageOf(other) }),
      mandate.signature,
      '0x00',
    ]
    for (const signature of signatures) {
      const answer = await service.api.post(path(mandate, '/revoke'), { signature })
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid_signature'])
    }
    // A credential with the permission does not make up for a wrong signature.
    expect((await person.api.post(path(mandate, '/revoke'), { signature: '0x00' })).status).toBe(401)
    expect(await status(mandate)).toBe('active')
    expect(await trail(mandate)).toEqual(Array(5).fill('mandate.refused signature'))
  })

  test('of no mandate is 404, and an unknown field is 400', async () => {
    const unknown = await service.api.post('/v1/intent-mandates/man_01h455vb4pex5vsknk084sn02q/revoke', { signature: '0x00' })
    expect(unknown.status).toBe(404)
    expect((await service.api.get('/v1/intent-mandates/man_01h455vb4pex5vsknk084sn02q/message')).status).toBe(404)
    const mandate = await agree()
    expect((await service.api.post(path(mandate, '/revoke'), { reason: 'x' })).status).toBe(400)
  })
})
