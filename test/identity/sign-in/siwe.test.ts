import fc from 'fast-check'
import { SiweMessage } from 'siwe'
import { describe, expect, test } from 'vitest'
import { readSignInMessage, type SignInMessage } from '../../../src/modules/identity/sign-in/siwe-message.ts'
import { newWallet } from '../../harness/people.ts'
import { openService, startService } from '../../harness/service.ts'

const service = await openService()

type Fields = ConstructorParameters<typeof SiweMessage>[0]

/** `statement: null` omits it. */
type MessageFields = Partial<Omit<Exclude<Fields, string>, 'statement'>> & { statement?: string | null }

const messageOf = async ({ statement, ...fields }: MessageFields = {}) => {
  const { body } = await service.api.post('/v1/auth/wallet/nonce')
  const wallet = newWallet()
  const text = new SiweMessage({
    domain: body.domain,
    uri: body.uri,
    address: wallet.address,
    ...(statement !== null && { statement: statement ?? (body.statement as string) }),
    version: '1',
    chainId: body.chain_ids[0],
    nonce: body.nonce,
    issuedAt: body.issued_at,
    ...fields,
  }).prepareMessage()
  return { text, wallet, nonce: body.nonce as string }
}

const verify = (message: string, signature: string) => service.api.post('/v1/auth/wallet/verify', { message, signature })
const inTime = (seconds: number) => new Date(service.clock.now().getTime() + seconds * 1000).toISOString()

test.each<[string, () => MessageFields]>([
  ['with times that hold', () => ({ notBefore: inTime(-60), expirationTime: inTime(60) })],
  ['with resources and a request id', () => ({ resources: ['https://example.com/terms'], requestId: 'r-1' })],
  ['for another chain that is allowed', () => ({ chainId: 8453 })],
  ['for this site with a slash at its end', () => ({ uri: `${service.deps.config.publicUrl}/` })],
  ['by a wallet whose clock is a little ahead', () => ({ issuedAt: inTime(240) })],
  ['by another loopback name, in development', () => ({ domain: `127.0.0.1:${new URL(service.api.url).port}` })],
])('a message %s signs in', async (_what, fields) => {
  const { text, wallet } = await messageOf(fields())
  expect((await verify(text, await wallet.signMessage({ message: text }))).status).toBe(200)
})

describe('a message that is not for this service, here and now, is refused and names what was expected', () => {
  test.each<[string, () => MessageFields]>([
    ['domain', () => ({ domain: 'evil.example' })],
    ['domain', () => ({ domain: `localhost:1` })],
    ['uri', () => ({ uri: 'https://evil.example' })],
    ['uri', () => ({ uri: `http://localhost.evil.example:${new URL(service.api.url).port}` })],
    // A parser takes the text before the @ for a user; a person takes it for the site.
    ['domain', () => ({ domain: `evil.example@${new URL(service.deps.config.publicUrl).host}` })],
    ['uri', () => ({ uri: service.deps.config.publicUrl.replace('//', '//evil.example@') })],
    ['uri', () => ({ uri: service.deps.config.publicUrl.replace('//', '//evil.example:x@') })],
    ['uri', () => ({ uri: service.deps.config.publicUrl.replace('http:', 'https:') })],
    ['uri', () => ({ uri: `${service.deps.config.publicUrl}/v1/approvals` })],
    ['uri', () => ({ uri: `${service.deps.config.publicUrl}/?x=1` })],
    ['statement', () => ({ statement: 'I am here' })],
    ['statement', () => ({ statement: null })],
    ['issued_at', () => ({ issuedAt: inTime(-1000) })],
    ['issued_at', () => ({ issuedAt: inTime(400) })],
    ['chain_id', () => ({ chainId: 5 })],
    ['expiration_time', () => ({ expirationTime: inTime(0) })],
    ['not_before', () => ({ notBefore: inTime(1) })],
    ['nonce', () => ({ nonce: 'a'.repeat(32) })],
  ])('%s', async (field, fields) => {
    const { text, wallet, nonce } = await messageOf(fields())
    const answer = await verify(text, await wallet.signMessage({ message: text }))
    expect([answer.status, answer.body.error, answer.body.details.field]).toEqual([401, 'invalid_signature', field])
    // The expected value of a list of chains is the list.
    expect(Object.keys(answer.body.details.expected)).toContain(field === 'chain_id' ? 'chain_ids' : field)
    expect(answer.body.details.expected).toMatchObject({
      domain: new URL(service.deps.config.publicUrl).host,
      chain_ids: [1, 8453],
    })
    expect(answer.headers.getSetCookie()).toEqual([])
    if (field !== 'nonce') expect(await isUsed(nonce)).toBe(true)
  })
})

const isUsed = async (nonce: string) =>
  (await service.deps.db.query('select from nonces where nonce = $1 and consumed_at is not null', [nonce])).length === 1

test.each(['', 'hello', 'x wants you to sign in with your Ethereum account:\n0x0'])(
  '%j is not a message: 400, with the field',
  async (text) => {
    const answer = await verify(text, '0x00')
    expect([answer.status, answer.body.error, answer.body.details.fields[0].path]).toEqual([400, 'invalid_request', 'message'])
  },
)

test('a wrong signature uses the nonce, so the correct one is refused afterwards', async () => {
  const { text, wallet } = await messageOf()
  expect((await verify(text, await newWallet().signMessage({ message: text }))).body.details.field).toBe('signature')
  expect((await verify(text, await wallet.signMessage({ message: text }))).body.details.field).toBe('nonce')
})

test('a message altered after it was signed is refused', async () => {
  const { text, wallet } = await messageOf()
  const signature = await wallet.signMessage({ message: text })
  const altered = text.replace('moves no money', 'moves all money')
  expect(altered).not.toBe(text)
  expect((await verify(altered, signature)).body.error).toBe('invalid_signature')
})

test.each(['0x', '0x00', 'zz', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`, `0x${'ff'.repeat(2000)}`])(
  'a signature of %j is refused',
  async (signature) => {
    const { text } = await messageOf()
    expect((await verify(text, signature)).body.error).toBe('invalid_signature')
  },
)

test('the other form of a signature (a high s) is not accepted', async () => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const { text, wallet } = await messageOf()
  const signature = await wallet.signMessage({ message: text })
  const s = order - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  const flipped = `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}${v}`
  expect((await verify(text, flipped)).body.error).toBe('invalid_signature')
})

test('a nonce ends after ten minutes', async () => {
  const { text, wallet } = await messageOf()
  service.clock.advance(600)
  expect((await verify(text, await wallet.signMessage({ message: text }))).body.details.field).toBe('nonce')
})

test('a nonce that was given for another purpose is not accepted here', async () => {
  const prepared = await service.deps.db.query<{ nonce: string }>(
    `insert into nonces (nonce, purpose, created_at, expires_at) values (md5(random()::text), 'mandate', now(), now() + interval '100 years') returning nonce`,
  )
  const { text, wallet } = await messageOf({ nonce: prepared[0]?.nonce ?? '' })
  expect((await verify(text, await wallet.signMessage({ message: text }))).body.details.field).toBe('nonce')
})

test('a message in the form that this service gives out is read as the library reads it, and one that is nearly so too', async () => {
  const { config } = service.deps
  const { body } = await service.api.post('/v1/auth/wallet/nonce', { address: newWallet().address, chain_id: 8453 })
  const read = (parse: (text: string) => SignInMessage, text: string) => {
    try {
      const { scheme, domain, address, statement, uri, chainId, nonce, issuedAt, expirationTime, notBefore } = parse(text)
      return [scheme, domain, address, statement, uri, chainId, nonce, issuedAt, expirationTime, notBefore]
    } catch {
      return 'not a message'
    }
  }
  const expectSame = (text: string) => {
    const byLibrary = read((each) => new SiweMessage(each), text)
    expect(read((each) => readSignInMessage(config, each), text)).toEqual(byLibrary)
    return byLibrary
  }
  expect(expectSame(body.message)).not.toBe('not a message')
  const lines: string[] = body.message.split('\n')
  for (const [index, line] of lines.entries()) {
    for (const changed of [[], [line, line], [`${line} `], [line.toLowerCase()], [line.replace(/\d/, '9')], [`${line}\r`]])
      expectSame([...lines.slice(0, index), ...changed, ...lines.slice(index + 1)].join('\n'))
  }
  for (const chain of ['NaN', '-1', '0', '01', '1e3', '1.5', 'Infinity', '9'.repeat(20)])
    expectSame(body.message.replace('Chain ID: 8453', `Chain ID: ${chain}`))
  for (const time of ['2026-02-31T00:00:00.000Z', 'Invalid Date', '2026-01-01', '2026-01-01T00:00:00+03:00'])
    expectSame(body.message.replace(/Issued At: .*/, `Issued At: ${time}`))
  fc.assert(
    fc.property(fc.nat(body.message.length - 1), fc.string({ minLength: 1, maxLength: 2 }), (at, put) => {
      expectSame(body.message.slice(0, at) + put + body.message.slice(at + 1))
    }),
    { numRuns: 200 },
  )
})

test('a message for a chain that is not allowed is not prepared', async () => {
  const answer = await service.api.post('/v1/auth/wallet/nonce', { address: newWallet().address, chain_id: 5 })
  expect([answer.status, answer.body.details.fields[0].path]).toEqual([400, 'chain_id'])
})

test('in production only the public name counts as this service', async () => {
  const strict = await startService({
    env: {
      NODE_ENV: 'production',
      PUBLIC_URL: 'https://pay.example.com',
      DATABASE_URL: service.database.url,
      RAILS: 'sandbox',
      SIGN_UP: 'open',
    },
    database: service.database,
    clock: service.clock,
  })
  try {
    const { body } = await strict.api.post('/v1/auth/wallet/nonce')
    expect(body).toMatchObject({ domain: 'pay.example.com', uri: 'https://pay.example.com' })
    const wallet = newWallet()
    const fields = {
      uri: body.uri,
      address: wallet.address,
      version: '1',
      chainId: 1,
      nonce: body.nonce,
      issuedAt: body.issued_at,
    }
    const message = new SiweMessage({ ...fields, domain: `localhost:${new URL(strict.api.url).port}` }).prepareMessage()
    const answer = await strict.api.post('/v1/auth/wallet/verify', { message, signature: await wallet.signMessage({ message }) })
    expect(answer.body.details.field).toBe('domain')
  } finally {
    await strict.close()
  }
})
