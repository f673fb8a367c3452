import { describe, expect, test } from 'vitest'
import { shellOperator } from '../../../src/modules/operators.ts'
import { readCommand } from '../../../src/operate/admin/commands.ts'
import { newWallet, signIn, walletMessage } from '../../harness/people.ts'
import { openService, type TestService } from '../../harness/service.ts'
import { standIn } from '../../workspaces/team.ts'
import { continueWith, newPerson } from './providers.ts'

const head = newWallet()
const env = { ADMIN_ACCOUNTS: head.address, SUPPORT_CONTACT: 'help@pay.example' }
const invited = await openService({ env: { ...env, SIGN_UP: 'invited' } })
const closed = await openService({ env: { ...env, SIGN_UP: 'closed' } })

const attempt = async ({ api }: TestService, wallet = newWallet()) => {
  const message = await walletMessage(api, wallet)
  return api.post('/v1/auth/wallet/verify', { message, signature: await wallet.signMessage({ message }) })
}
const refused = (status: number, body: { error: string; details: { reason: string } }) => [
  status,
  body.error,
  body.details.reason,
]
const stranger = [403, 'forbidden', 'sign_up']

const admin = (service: TestService, ...args: string[]) =>
  readCommand(args).run({
    deps: service.deps,
    databaseUrl: service.database.url,
    operator: shellOperator('amina'),
    close: async () => undefined,
  })

/** The rows of every table that a sign-in writes to. */
const rows = async ({ deps }: TestService) =>
  deps.db.query<object>(
    `select (select count(*) from accounts) as a, (select count(*) from identities) as i, (select count(*) from workspaces) as w,
       (select count(*) from sessions) as s, (select count(*) from events) as e, (select count(*) from audit_log where action <> 'sign_in.start') as l`,
  )

describe.each([
  ['invited', invited],
  ['closed', closed],
])('where sign-up is %s', (_name, service) => {
  test('a stranger with a wallet is refused, is told whom to ask, and leaves no row', async () => {
    await signIn(service.api, head)
    const before = await rows(service)
    const { status, body } = await attempt(service)
    expect(refused(status, body)).toEqual(stranger)
    expect(body.message).toContain('Ask help@pay.example for access.')
    expect(await rows(service)).toEqual(before)
  })

  test.each(['google', 'github'] as const)('a stranger from %s gets a page that says so, and leaves no row', async (provider) => {
    const before = await rows(service)
    const { response, cookie } = await continueWith(service, provider, newPerson())
    expect([response.status, cookie]).toEqual([403, ''])
    expect(response.html).toContain('Ask help@pay.example for access.')
    expect(await rows(service)).toEqual(before)
  })

  test('who has an account goes on signing in', async () => {
    expect((await attempt(service, head)).body.outcome).toBe('signed_in')
  })
})

test('the operator invites an e-mail, a wallet, or a wallet on a chain', async () => {
  const [one, two, person] = [newWallet(), newWallet(), newPerson()]
  for (const name of [one.address, `eip155:8453:${two.address}`, person.email.toUpperCase()]) {
    await admin(invited, 'invite', name)
    await admin(invited, 'invite', name)
  }
  expect((await attempt(invited, one)).body.outcome).toBe('account_created')
  expect((await attempt(invited, two)).body.outcome).toBe('account_created')
  const unverified = await continueWith(invited, 'google', { ...person, verified: false })
  expect([unverified.response.status, unverified.cookie]).toEqual([403, ''])
  expect((await continueWith(invited, 'google', person)).outcome).toBe('account_created')
  await expect(admin(invited, 'invite', 'nobody')).rejects.toThrow('must be an e-mail address')
  const audited = await invited.deps.db.query(`select from audit_log where action = 'admin.invite'`)
  expect(audited).toHaveLength(3)
})

test('an invitation to a workspace opens an account to its addressee alone, while it can be accepted', async () => {
  const owner = await signIn(invited.api, head)
  await standIn(owner, (await owner.api.post('/v1/workspaces', { name: 'Team' })).body.workspace.id)
  const [addressee, late] = [newWallet(), newWallet()]
  const invite = (fields: object) => owner.api.post('/v1/workspaces/current/invitations', { role: 'member', ...fields })
  await invite({})
  const { body: toLate } = await invite({ wallet_address: late.address })
  expect((await invite({ wallet_address: addressee.address })).status).toBe(201)
  expect((await attempt(invited, addressee)).body.outcome).toBe('account_created')
  expect((await owner.api.delete(`/v1/workspaces/current/invitations/${toLate.id}`)).status).toBe(200)
  for (const wallet of [late, newWallet()]) {
    const { status, body } = await attempt(invited, wallet)
    expect(refused(status, body)).toEqual(stranger)
  }
  const person = newPerson()
  await invite({ email: person.email })
  expect((await continueWith(invited, 'github', person)).outcome).toBe('account_created')
})

test('no invitation opens an account where sign-up is closed', async () => {
  const wallet = newWallet()
  await admin(closed, 'invite', wallet.address)
  const { status, body } = await attempt(closed, wallet)
  expect(refused(status, body)).toEqual(stranger)
})
