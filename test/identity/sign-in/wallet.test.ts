import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { newWallet, nonceIn, signIn, walletMessage } from '../../harness/people.ts'
import { openService, startService } from '../../harness/service.ts'
import { copiedForms, refusedForms } from '../../harness/signature-forms.ts'

const service = await openService()

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

test('asking for a nonce stores nothing', async () => {
  const stored = async () =>
    (await service.deps.db.query<{ count: number }>('select count(*)::int as count from nonces'))[0]?.count
  const before = await stored()
  for (let count = 0; count < 3; count += 1) await walletMessage(service.api, newWallet())
  expect(await stored()).toBe(before)
})

test('a nonce that was altered, or that this service did not make, is refused', async () => {
  const wallet = newWallet()
  const message = await walletMessage(service.api, wallet)
  const nonce = nonceIn(message)
  expect(nonce).toMatch(/^[0-9a-f]{64}$/)
  const later = `f${nonce.slice(1)}`
  const other = nonce.slice(0, 20) + (nonce[20] === '0' ? '1' : '0') + nonce.slice(21)
  const code = nonce.slice(0, 63) + (nonce[63] === '0' ? '1' : '0')
  for (const wrong of [later, other, code, randomBytes(32).toString('hex'), nonce.slice(0, 62), `${nonce}00`]) {
    const altered = message.replace(nonce, wrong)
    const signature = await wallet.signMessage({ message: altered })
    const answer = await service.api.post('/v1/auth/wallet/verify', { message: altered, signature })
    expect([answer.status, answer.body.details?.field]).toEqual([401, 'nonce'])
  }
})

test('a nonce is valid for one sign-in, even if twenty try at once, at two processes, one of them with a new key', async () => {
  const { current } = service.deps.config.TOKEN_SECRETS ?? { current: { id: '', bytes: Buffer.alloc(0) } }
  const ring = `new:${randomBytes(32).toString('base64')},${current.id}:${current.bytes.toString('base64')}`
  const rotated = await startService({
    database: service.database,
    clock: service.clock,
    env: { TOKEN_SECRETS: ring, PUBLIC_URL: service.api.url },
  })
  try {
    for (const wallet of [newWallet(), (await signIn(service.api)).wallet]) {
      const message = await walletMessage(service.api, wallet)
      const signature = await wallet.signMessage({ message })
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 ? service : rotated).api.post('/v1/auth/wallet/verify', { message, signature }),
        ),
      )
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
      expect(answers.filter((answer) => answer.status === 401 && answer.body.error === 'invalid_signature')).toHaveLength(19)
    }
    expect((await signIn(rotated.api)).cookie).not.toBe('')
  } finally {
    await rotated.close()
  }
})

describe('a sign-in says what it is for', () => {
  const path = '/v1/auth/wallet/verify'
  const signed = async (wallet: ReturnType<typeof newWallet>, intent?: string) => {
    const asked = await service.api.post('/v1/auth/wallet/nonce', { address: wallet.address, ...(intent && { intent }) })
    const { message, statement } = asked.body
    expect(message.split('\n')[3]).toBe(statement)
    return { message, signature: await wallet.signMessage({ message }) }
  }

  test('as a sign-in it ignores a planted session: the wallet is not added to that account', async () => {
    const planter = await signIn(service.api)
    const victim = newWallet()
    const answer = await planter.api.post(path, { ...(await signed(victim, 'sign_in')), intent: 'sign_in' })
    expect([answer.status, answer.body.outcome]).toEqual([200, 'account_created'])
    expect(answer.body.account.id).not.toBe(planter.accountId)
    expect(answer.headers.get('set-cookie')).toContain('service_session=')
    expect((await planter.api.get('/v1/accounts/me/identities')).body.data).toHaveLength(1)
  })

  test('as a sign-in it ignores even a session of a frozen account, which gets no new wallet', async () => {
    const planter = await signIn(service.api)
    await service.deps.db.query(
      "update accounts set status = 'frozen' where id = (select account_id from identities where subject = $1)",
      [planter.wallet.address],
    )
    const answer = await planter.api.post(path, { ...(await signed(newWallet(), 'sign_in')), intent: 'sign_in' })
    expect([answer.status, answer.body.outcome]).toEqual([200, 'account_created'])
    for (const intent of ['link', undefined]) {
      const refused = await planter.api.post(path, { ...(await signed(newWallet(), intent)), ...(intent && { intent }) })
      expect([refused.status, refused.body.error]).toEqual([403, 'account_frozen'])
    }
    expect((await planter.api.get('/v1/accounts/me/identities')).body.data).toHaveLength(1)
  })

  test('as a link it needs a session, and adds the wallet to its account', async () => {
    const person = await signIn(service.api)
    const wallet = newWallet()
    const nobody = await service.api.post(path, { ...(await signed(wallet, 'link')), intent: 'link' })
    expect([nobody.status, nobody.body.error]).toEqual([401, 'authentication_required'])
    const answer = await person.api.post(path, { ...(await signed(wallet, 'link')), intent: 'link' })
    expect([answer.body.outcome, answer.body.session]).toEqual(['linked', null])
  })

  test('a text that was made for the one is refused for the other, and one without an intent serves both', async () => {
    const person = await signIn(service.api)
    const refused = [
      person.api.post(path, { ...(await signed(newWallet(), 'sign_in')), intent: 'link' }),
      person.api.post(path, await signed(newWallet(), 'sign_in')),
      person.api.post(path, { ...(await signed(newWallet(), 'link')), intent: 'sign_in' }),
      service.api.post(path, await signed(newWallet(), 'link')),
      person.api.post('/v1/accounts/me/identities', { provider: 'wallet', ...(await signed(newWallet(), 'sign_in')) }),
    ]
    for (const { status, body } of await Promise.all(refused))
      expect([status, body.error, body.details.field]).toEqual([401, 'invalid_signature', 'statement'])
    expect((await person.api.post(path, await signed(newWallet()))).body.outcome).toBe('linked')
    expect((await service.api.post(path, await signed(newWallet()))).body.outcome).toBe('account_created')
    const own = await person.api.post('/v1/accounts/me/identities', {
      provider: 'wallet',
      ...(await signed(newWallet(), 'link')),
    })
    expect(own.status).toBe(201)
  })
})

describe('a signature and an address as wallets and people copy them', () => {
  const sent = async (change: (signature: string) => string) => {
    const wallet = newWallet()
    const message = await walletMessage(service.api, wallet)
    return service.api.post('/v1/auth/wallet/verify', { message, signature: change(await wallet.signMessage({ message })) })
  }

  test.each(copiedForms)('%s a signature is read', async (_name, change) => {
    expect((await sent(change)).status).toBe(200)
  })

  test.each(refusedForms)('one that is %s is refused by a sentence that names the form', async (_name, change, form) => {
    const { status, body } = await sent(change)
    expect([status, body.error, body.message]).toEqual([401, 'invalid_signature', expect.stringContaining(form)])
  })

  test('an address in mixed case with a wrong checksum is refused wherever one is typed', async () => {
    const person = await signIn(service.api)
    const wrong = '0x64A7e737B2Bc146D963762Cc7e00054EE1a4d491'
    const typed = async (address: string) => [
      (await person.api.post('/v1/workspaces/current/invitations', { role: 'viewer', wallet_address: address })).body,
      (await service.api.post('/v1/auth/wallet/nonce', { address })).body,
      (await service.api.post('/v1/intent-mandates/prepare', { address, terms: {} })).body,
    ]
    for (const { message } of await typed(wrong)) expect(message).toContain('wrong checksum (EIP-55)')
    for (const digits of [wrong.slice(2).toLowerCase(), wrong.slice(2).toUpperCase()])
      for (const { message } of await typed(`0x${digits}`)) expect(message ?? '').not.toContain('address')
    const named = await person.api.post('/v1/workspaces/current/invitations', {
      role: 'viewer',
      wallet_address: `eip155:1:${wrong}`,
    })
    expect(named.status).toBe(400)
  })

  test.each<[string, (message: string) => string, string]>([
    ['carriage returns', (message) => message.replaceAll('\n', '\r\n'), 'carriage returns'],
    ['a line end at its end', (message) => `${message}\n`, 'after its last line'],
    ['a chain in hexadecimal', (message) => message.replace('Chain ID: 1', 'Chain ID: 0x1'), 'line 8: "Chain ID: 0x1"'],
    [
      'an address with a wrong checksum',
      (message) => message.replace(/0x\w{40}/, '0x64A7e737B2Bc146D963762Cc7e00054EE1a4d491'),
      'line 2',
    ],
  ])('a message with %s is refused by its line', async (_name, change, line) => {
    const message = change(await walletMessage(service.api, newWallet()))
    const { status, body } = await service.api.post('/v1/auth/wallet/verify', { message, signature: '0x00' })
    expect([status, body.details.fields?.[0]?.message]).toEqual([400, expect.stringContaining(line)])
  })
})
