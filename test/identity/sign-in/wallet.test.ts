import { afterAll, beforeAll, expect, test } from 'vitest'
import { newWallet, signIn, walletMessage } from '../../harness/people.ts'
import { startService, type TestService } from '../../harness/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

test('a first sign-in makes an account with a personal workspace and an empty balance', async () => {
  const person = await signIn(service.api)
  const me = await person.api.get('/v1/accounts/me')
  expect(me.status).toBe(200)
  expect(me.body).toMatchObject({
    id: person.accountId,
    status: 'active',
    balance: { currency: 'KES', available_minor: '0', held_minor: '0' },
  })
  expect(me.body.identities).toMatchObject([{ provider: 'wallet', subject: person.wallet.address }])
  const workspace = await person.api.get('/v1/workspaces/current')
  expect(workspace.body).toMatchObject({
    workspace: { kind: 'personal', status: 'active' },
    membership: { role: 'owner', status: 'active' },
  })
})

test('a nonce is valid for one sign-in, even if twenty try at once', async () => {
  const wallet = newWallet()
  const message = await walletMessage(service.api, wallet)
  const signature = await wallet.signMessage({ message })
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => service.api.post('/v1/auth/wallet/verify', { message, signature })),
  )
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
  expect(answers.filter((answer) => answer.status === 401 && answer.body.error === 'invalid_signature')).toHaveLength(19)
})

test('logging out ends the session with the next request', async () => {
  const person = await signIn(service.api)
  expect((await person.api.post('/v1/auth/logout')).status).toBe(204)
  const after = await person.api.get('/v1/accounts/me')
  expect([after.status, after.body.error]).toEqual([401, 'session_revoked'])
})
