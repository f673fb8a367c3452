import { afterAll, beforeAll, expect, test } from 'vitest'
import { fund } from '../harness/money.ts'
import { createKey, newWallet, type Person, signIn, walletMessage } from '../harness/people.ts'
import type { TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { startAdministered } from './administrators.ts'

let service: TestService
let admin: Person
let second: Person
beforeAll(async () => {
  ;({ service, admin, second } = await startAdministered())
})
afterAll(() => service.close())

const link = async (person: Person, wallet: Person['wallet']) => {
  const message = await walletMessage(service.api, wallet)
  return person.api.post('/v1/accounts/me/identities', {
    provider: 'wallet',
    message,
    signature: await wallet.signMessage({ message }),
  })
}

const adjust = async (account_id: string, direction: string, amount_minor: string) => {
  const made = await admin.api.post('/v1/admin/adjustments', { account_id, direction, amount_minor, reason: 'ticket 4711' })
  if (made.body.status === 'pending') await second.api.post(`/v1/admin/adjustments/${made.body.id}/confirm`)
}

test('docs/merging-accounts.md, step by step: money and sign-in methods end up in one account, the other is closed', async () => {
  const [from, to] = [await signIn(service.api), await signIn(service.api)]
  await fund(service, from, 2_000_000n)
  const key = await createKey(from)
  expect((await from.api.post('/v1/accounts/me/grants/revoke-all', { kind: 'api_key' })).status).toBe(200)
  await admin.api.patch(`/v1/admin/accounts/${from.accountId}`, { capabilities: { topups: 'disabled', payments: 'disabled' } })
  await adjust(from.accountId, 'debit', '2000000')
  await adjust(to.accountId, 'credit', '2000000')

  const fresh = newWallet()
  expect((await link(from, fresh)).status).toBe(201)
  const remaining = await signIn(service.api, fresh)
  const { body } = await remaining.api.get('/v1/accounts/me/identities')
  const moved = body.data.find(({ subject }: { subject: string }) => subject === from.wallet.address)
  expect((await link(to, from.wallet)).status).toBe(409)
  expect((await remaining.api.delete(`/v1/accounts/me/identities/${moved.id}`)).status).toBe(200)
  expect((await link(to, from.wallet)).status).toBe(201)

  const closed = await admin.api.patch(`/v1/admin/accounts/${from.accountId}`, { status: 'closed', reason: 'ticket 4711' })
  expect(closed.body).toMatchObject({ status: 'closed', balance: { available_minor: '0', held_minor: '0' } })
  for (const { api } of [from, remaining, key]) expect((await api.get('/v1/accounts/me')).status).toBe(401)
  const landed = await signIn(service.api, from.wallet)
  expect(landed.accountId).toBe(to.accountId)
  expect((await landed.api.get('/v1/accounts/me')).body.balance.available_minor).toBe('2000000')
  expect((await admin.api.get('/v1/admin/ledger/trial-balance')).body.balanced).toBe(true)
  expect(await findBreaches(service)).toEqual([])
})
