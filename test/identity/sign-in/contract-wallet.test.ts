import { type Hex, serializeErc6492Signature } from 'viem'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { newWallet, type Person, prove, sessionCookieOf, signIn } from '../../harness/people.ts'
import { openService, startService } from '../../harness/service.ts'
import { type Chain, type Said, startChain, type Trouble } from './chain.ts'
import { me } from './providers.ts'

const mainnet: Chain = await startChain(1)
const base = await startChain(8453)
const service = await openService({ env: { EVM_RPC_URLS: `1=${mainnet.url},8453=${base.url}`, SIWE_CHAIN_IDS: '1,8453,10' } })
afterAll(async () => {
  mainnet.trouble = 'none'
  await mainnet.close()
  await base.close()
})
beforeEach(() => {
  mainnet.trouble = 'none'
})

/** A signature by a contract's owner: no key of the address itself made it. */
const signature: Hex = `0x${'ab'.repeat(80)}`
const wrapped = (inner: Hex): Hex =>
  serializeErc6492Signature({ address: `0x${'fa'.repeat(20)}`, data: '0xdeadbeef', signature: inner })

type AttemptOptions = { chainId?: number; on?: Chain; deployed?: boolean; signature?: Hex; knows?: boolean; as?: Person }

const attempt = async (address: string, options: AttemptOptions = {}) => {
  const { chainId = 1, on = mainnet, deployed = true, knows = true } = options
  const nonce = await service.api.post('/v1/auth/wallet/nonce', { address, chain_id: chainId })
  const { message } = nonce.body
  const signed = options.signature ?? signature
  if (knows) on.contracts.set(address.toLowerCase(), { message, signature: signed, deployed })
  const answer = await (options.as?.api ?? service.api).post('/v1/auth/wallet/verify', { message, signature: signed })
  return { status: answer.status, error: answer.body.error, outcome: answer.body.outcome, answer, message }
}

const newAddress = () => newWallet().address

test('a deployed contract wallet signs in by ERC-1271, under its checksummed address', async () => {
  const address = newAddress()
  const first = await attempt(address)
  expect([first.status, first.outcome]).toEqual([200, 'account_created'])
  expect((await me(service, sessionCookieOf(first.answer.headers))).identities).toMatchObject([
    { provider: 'wallet', subject: address },
  ])
  expect((await attempt(address)).outcome).toBe('signed_in')
})

test('a contract wallet that is not deployed yet signs in by ERC-6492', async () => {
  const address = newAddress()
  expect((await attempt(address, { deployed: false, signature: wrapped(signature) })).outcome).toBe('account_created')
  expect((await attempt(address, { deployed: false, signature })).error).toBe('invalid_signature')
})

test('a signature that the contract does not accept is refused, and so is one where no contract is', async () => {
  expect((await attempt(newAddress(), { knows: false })).error).toBe('invalid_signature')
  const address = newAddress()
  const { message } = await attempt(address)
  const other = await service.api.post('/v1/auth/wallet/nonce', { address })
  const replayed = await service.api.post('/v1/auth/wallet/verify', { message: other.body.message, signature })
  expect([replayed.status, message === other.body.message]).toEqual([401, false])
  expect((await attempt(newAddress(), { knows: false, signature: wrapped(signature) })).error).toBe('invalid_signature')
})

/** Troubles in which the chain says nothing about the signature. */
const said: Partial<Record<Trouble, boolean>> = { error: true, http_500: true, garbage: true, other_chain: true }

describe.each([
  ['deployed', true],
  ['predicted', false],
])('a %s wallet', (_kind, deployed) => {
  test.each<Trouble>(['error', 'http_500', 'garbage', 'reverts', 'other_chain', 'empty_answer'])(
    'is refused if its chain fails (%s), and the nonce is used',
    async (trouble) => {
      mainnet.trouble = trouble
      const signed = deployed ? signature : wrapped(signature)
      const { status, error, answer, message } = await attempt(newAddress(), { deployed, signature: signed })
      expect([status, error]).toEqual([401, 'invalid_signature'])
      if (said[trouble]) expect(answer.body.message).toContain('Chain 1 did not answer whether it is by a contract there')
      mainnet.trouble = 'none'
      expect((await service.api.post('/v1/auth/wallet/verify', { message, signature: signed })).body.details.field).toBe('nonce')
    },
  )
})

const error = (code: number, message: string, data?: string) => ({ error: { code, message, ...(data && { data }) } })

test.each<[string, Said]>([
  ['code 3 with data', { body: error(3, 'execution reverted: GS026', '0x08c379a0') }],
  ['code 3 without data', { body: error(3, 'execution reverted') }],
  ['HTTP 400 around it', { status: 400, body: error(3, 'execution reverted: Hash not approved') }],
  ['-32000', { body: error(-32_000, 'execution reverted') }],
  ['-32015', { body: error(-32_015, 'VM execution error.', 'Reverted 0x') }],
  ['an invalid opcode', { body: error(-32_000, 'invalid opcode: INVALID') }],
  ['nothing', { body: { result: '0x' } }],
  ['a short word', { body: { result: '0x1626ba7e' } }],
])('a contract that says no by %s has refused the signature', async (_name, said) => {
  mainnet.trouble = said
  const { status, error, answer } = await attempt(newAddress(), { deployed: true })
  expect([status, error]).toEqual([401, 'invalid_signature'])
  expect(answer.body.message).not.toContain('did not answer')
})

test.each<[string, Said]>([
  ['a limit', { body: error(-32_005, 'limit exceeded') }],
  ['HTTP 429', { status: 429, body: error(3, 'execution reverted') }],
  ['a page', { body: '<html>execution reverted</html>' }],
  ['a failure of its own', { body: error(-32_000, 'header not found') }],
])('%s is no answer of the chain', async (_name, said) => {
  mainnet.trouble = said
  const { answer } = await attempt(newAddress(), { deployed: true })
  expect(answer.body.message).toContain('Chain 1 did not answer whether it is by a contract there')
})

test('a chain without an RPC has no contract wallets', async () => {
  const { error, answer } = await attempt(newAddress(), { chainId: 10 })
  expect([error, answer.body.message]).toEqual(['invalid_signature', expect.stringContaining('contracts on chain 10')])
})

test('a contract wallet is linked by the message that an old session was asked for its proof with', async () => {
  const person = await signIn(service.api)
  const session = service.api.as({ cookie: person.cookie })
  service.clock.advance(11 * 60)
  const address = newAddress()
  const { message } = (await session.post('/v1/auth/wallet/nonce', { address, chain_id: 1 })).body
  mainnet.contracts.set(address.toLowerCase(), { message, signature, deployed: true })
  mainnet.calls.length = 0
  const send = () => session.post('/v1/accounts/me/identities', { provider: 'wallet', message, signature })
  expect((await send()).body.error).toBe('step_up_required')
  expect(mainnet.calls).toEqual([])
  await prove({ api: session, wallet: person.wallet })
  expect((await send()).status).toBe(201)
})

test('the same address on another chain is another identity: it opens another account, and locks nobody out of theirs', async () => {
  const address = newAddress()
  const taken = await attempt(address, { chainId: 8453, on: base })
  expect(taken.outcome).toBe('account_created')
  const owner = await attempt(address)
  expect(owner.outcome).toBe('account_created')
  const accounts = [taken, owner].map(({ answer }) => answer.body.account.id)
  expect(new Set(accounts).size).toBe(2)
  const again = await attempt(address)
  expect([again.outcome, again.answer.body.account.id]).toEqual(['signed_in', accounts[1]])
  const { identities } = await me(service, sessionCookieOf(owner.answer.headers))
  expect(identities).toMatchObject([{ subject: address, chain_id: 1 }])
  const linking = await attempt(address, { as: await signIn(service.api) })
  expect(linking.status).toBe(409)
  expect(linking.answer.text).not.toContain(accounts[1])
})

test('a contract’s answer opens no account of the key with its address', async () => {
  const person = await signIn(service.api)
  const other = await attempt(person.wallet.address)
  expect(other.outcome).toBe('account_created')
  expect(other.answer.body.account.id).not.toBe(person.accountId)
  expect((await signIn(service.api, person.wallet)).accountId).toBe(person.accountId)
})

test('a chain that never answers delays a request only briefly, and is queried once for a message', async () => {
  mainnet.trouble = 'silent'
  mainnet.calls.length = 0
  const address = newAddress()
  const { body } = await service.api.post('/v1/auth/wallet/nonce', { address, chain_id: 1 })
  const send = () => service.api.post('/v1/auth/wallet/verify', { message: body.message, signature })
  // The node never answers: only the timeout ends these requests.
  const answers = await Promise.all(Array.from({ length: 8 }, send))
  expect(answers.map((answer) => answer.body.details.field).sort()).toEqual([...Array(7).fill('nonce'), 'signature'])
  expect(mainnet.calls).toHaveLength(1)
})

test('a contract that sends its caller to another address is refused, and nothing is asked of that address', async () => {
  mainnet.trouble = 'looks_elsewhere'
  mainnet.calls.length = 0
  const address = newAddress()
  mainnet.contracts.set(address.toLowerCase(), { message: '', signature, deployed: true })
  expect((await attempt(address, { knows: false })).error).toBe('invalid_signature')
  expect(mainnet.calls).toEqual(['eth_chainId', 'eth_getCode', 'eth_call'])
})

test('a wallet with a key never waits for a chain', async () => {
  mainnet.trouble = 'http_500'
  const before = mainnet.calls.length
  await signIn(service.api)
  expect(mainnet.calls).toHaveLength(before)
})

test('a used or invented nonce causes no query to a chain', async () => {
  const { message } = await attempt(newAddress())
  const before = mainnet.calls.length
  await service.api.post('/v1/auth/wallet/verify', { message, signature })
  expect(mainnet.calls).toHaveLength(before)
})

test("the log says why a chain confirmed nothing, without the RPC's address and the signature", async () => {
  for (const [trouble, reason] of [
    ['http_500', 'NoAnswer'],
    ['other_chain', 'OtherChain'],
  ] as const) {
    mainnet.trouble = trouble
    await attempt(newAddress())
    const [line] = service.log.filter((one) => one.includes('the chain did not confirm')).slice(-1)
    expect(JSON.parse(line ?? '{}')).toMatchObject({ chainId: 1, error: reason })
  }
  const log = service.log.join('\n')
  expect(log).toContain('the chain did not confirm the signature of a contract wallet')
  expect(log).not.toContain(mainnet.url)
  expect(log).not.toContain(signature)
})

test('a contract wallet on another chain is not the administrator of that address', async () => {
  const [contract, bare] = [newAddress(), newWallet()]
  const env = {
    EVM_RPC_URLS: `1=${mainnet.url},8453=${base.url}`,
    ADMIN_ACCOUNTS: `eip155:1:${contract.toLowerCase()},${bare.address}`,
  }
  const named = await startService({ database: service.database, clock: service.clock, env })
  const signedIn = async (address: string, chainId: number, on: Chain) => {
    const nonce = await named.api.post('/v1/auth/wallet/nonce', { address, chain_id: chainId })
    on.contracts.set(address.toLowerCase(), { message: nonce.body.message, signature, deployed: true })
    const answer = await named.api.post('/v1/auth/wallet/verify', { message: nonce.body.message, signature })
    expect(answer.status).toBe(200)
    return { api: named.api.as({ cookie: sessionCookieOf(answer.headers) }), accountId: answer.body.account.id }
  }
  const isAdmin = async ({ api }: Pick<Person, 'api'>) => [
    (await api.get('/v1/credentials/current')).body.is_admin,
    (await api.get('/v1/admin/accounts')).status,
  ]
  // A contract at the bare address, although the settings name only its own key.
  expect(await isAdmin(await signedIn(bare.address, 1, mainnet))).toEqual([false, 403])
  const real = await signedIn(contract, 1, mainnet)
  expect(await isAdmin(real)).toEqual([true, 200])
  const listed = await real.api.get(`/v1/admin/accounts?wallet_address=${contract}`)
  expect(listed.body.data).toMatchObject([{ id: real.accountId, is_admin: true }])
  await service.deps.db.query(
    `update identities set chain_id = 8453, subject_key = replace(subject_key, ':1:', ':8453:') where subject = $1`,
    [contract],
  )
  expect(await isAdmin(real)).toEqual([false, 403])
  // With a key of its own it is the same wallet on every chain.
  const key = newWallet()
  const own = await startService({
    database: service.database,
    clock: service.clock,
    env: { ADMIN_ACCOUNTS: `EIP155:10:${key.address}` },
  })
  expect(await isAdmin(await signIn(own.api, key))).toEqual([true, 200])
  await own.close()
  await named.close()
})

test('an invitation of an address is not for a contract, and one of a contract only for that chain', async () => {
  const owner = await signIn(service.api)
  const workspace = await owner.api.post('/v1/workspaces', { name: 'Team' })
  const headers = { 'workspace-id': workspace.body.workspace.id }
  const address = newAddress()
  const { answer } = await attempt(address, { chainId: 8453, on: base })
  const person = service.api.as({ cookie: sessionCookieOf(answer.headers) })
  const accepted = async (name: string) => {
    const body = { role: 'admin', wallet_address: name }
    const invited = await owner.api.post('/v1/workspaces/current/invitations', body, { headers })
    expect([invited.status, invited.body.wallet_address]).toEqual([201, name])
    return (await person.post('/v1/workspaces/invitations/accept', { token: invited.body.token })).status
  }
  expect(await accepted(address)).toBe(403)
  expect(await accepted(`eip155:1:${address}`)).toBe(403)
  expect(await accepted(`eip155:8453:${address}`)).toBe(200)
})
