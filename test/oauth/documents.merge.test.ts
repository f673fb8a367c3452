import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGuardedFetch, guardedFetch, isPublicAddress } from '../../src/http/guarded-fetch.ts'
import { parseId } from '../../src/lib/ids.ts'
import {
  answerOf,
  authorizeAgent,
  authorizePath,
  decide,
  newPkce,
  postForm,
  redirectUri,
  requestConsent,
} from '../harness/oauth.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

/** A client's own web server. Each test sets its answer; `hits` counts the requests. */
let site: Server
let siteUrl: string
let hits = 0
let respond: (path: string, answer: import('node:http').ServerResponse) => void
let service: TestService
let strict: TestService
let person: Person

const documentOf = (path: string, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    client_id: siteUrl + path,
    client_name: 'Document agent',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
    ...more,
  })
const serve = (more: Record<string, unknown> = {}, headers: Record<string, string> = {}) => {
  respond = (path, answer) =>
    answer.writeHead(200, { 'content-type': 'application/json', ...headers }).end(documentOf(path, more))
}

beforeAll(async () => {
  site = createServer((request, answer) => {
    hits += 1
    respond(request.url ?? '', answer)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  siteUrl = `http://localhost:${(site.address() as AddressInfo).port}`
  service = await startService({ fixed: { metadataLoopback: true } })
  strict = await startService()
  person = await signIn(service.api)
})
afterAll(async () => {
  await service.close()
  await strict.close()
  site.closeAllConnections()
  await new Promise((resolve) => site.close(resolve))
})

let count = 0
const newClient = () => {
  count += 1
  return {
    id: `${siteUrl}/client-${count}.json`,
    secret: undefined,
    credentials: { client_id: `${siteUrl}/client-${count}.json` },
  }
}
const begin = async (clientId: string, at = service) => {
  const answer = await at.api.get(authorizePath({ id: clientId }, newPkce()), { headers: { accept: 'application/json' } })
  return [answer.status, answer.body?.error ?? null, answer.headers.get('location')?.slice(0, 8) ?? null]
}
const refused = [400, 'invalid_client', null]

describe('a client whose id is the address of its metadata document', () => {
  test('needs no registration: it gets a consent and tokens and refreshes them with its address', async () => {
    serve()
    const client = newClient()
    const agent = await authorizeAgent(service.api, person, { client })
    expect((await agent.api.get('/v1/accounts/me')).status).toBe(200)
    const again = await postForm(service.api, '/v1/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: agent.refreshToken,
      client_id: client.id,
    })
    expect(again.status).toBe(200)
    const [grant] = (await person.api.get('/v1/accounts/me/grants')).body.data
    expect(grant.label).toBe('Document agent')
  })

  test('can push a request and begin a device flow without an earlier request', async () => {
    serve({ grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'] })
    const pkce = newPkce()
    const ask = { response_type: 'code', code_challenge: pkce.challenge, code_challenge_method: 'S256' }
    expect((await postForm(service.api, '/v1/oauth/par', { ...newClient().credentials, ...ask })).status).toBe(201)
    expect((await postForm(service.api, '/v1/oauth/device_authorization', { ...newClient().credentials, ...ask })).status).toBe(
      200,
    )
    expect(
      (await postForm(service.api, '/v1/oauth/token', { ...newClient().credentials, grant_type: 'refresh_token' })).status,
    ).toBe(401)
  })

  test('is read again when its document is old, and the new content applies', async () => {
    serve({}, { 'cache-control': 'max-age=120' })
    const client = newClient()
    const before = hits
    await begin(client.id)
    await begin(client.id)
    expect(hits - before).toBe(1)
    serve({ redirect_uris: ['http://127.0.0.1/elsewhere'] })
    service.clock.advance(120)
    expect(await begin(client.id)).toEqual([400, 'invalid_request', null])
    expect(hits - before).toBe(2)
  })

  test('is identified by its host only if the answer goes to that host', async () => {
    serve()
    const client = newClient()
    const id = await requestConsent(person, client, newPkce())
    expect((await person.api.get(`/v1/oauth/authorizations/${id}`)).body.client).toMatchObject({
      id: client.id,
      verified_host: null,
    })
    expect(answerOf(await decide(person, id)).get('code')).toMatch(/^service_oac_/)
  })

  test.each([
    ['its own host', 'https://bank.example/callback', 'bank.example'],
    ['another host', 'https://attacker.example/callback', null],
    ['another port of its host', 'https://bank.example:8443/callback', null],
    ['its host without encryption', 'http://bank.example/callback', null],
  ])('whose answer goes to %s is shown with that host', async (_, answerTo, host) => {
    serve()
    const client = newClient()
    const id = await requestConsent(person, client, newPkce())
    // The stored form of a document at an https address.
    await service.deps.db.query(
      `with client as (update oauth_clients set url = $3 where url = $2)
       update oauth_authorizations set redirect_uri = $4 where id = $1`,
      [parseId('oauth_authorization', id), client.id, `https://bank.example/client-${count}.json`, answerTo],
    )
    expect((await person.api.get(`/v1/oauth/authorizations/${id}`)).body.client.verified_host).toBe(host)
  })

  test('has no verified host when it comes by a device: no answer goes to its host', async () => {
    serve({ grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] })
    const client = newClient()
    // The stored form of a document at an https address.
    const pkce = newPkce()
    const ask = { ...client.credentials, code_challenge: pkce.challenge, code_challenge_method: 'S256' }
    const { body } = await postForm(service.api, '/v1/oauth/device_authorization', ask)
    await service.deps.db.query('update oauth_clients set url = $2 where url = $1', [
      client.id,
      'https://bank.example/client.json',
    ])
    const view = (await person.api.get(`/v1/oauth/device/${body.user_code}`)).body
    expect(view.client).toMatchObject({ id: 'https://bank.example/client.json', verified_host: null })
  })

  test.each<[string, () => void]>([
    ['another client_id', () => serve({ client_id: 'http://localhost/other.json' })],
    ['no client_id', () => serve({ client_id: undefined })],
    ['a secret in a public document', () => serve({ client_secret: 'x' })],
    ['a secret for its method', () => serve({ token_endpoint_auth_method: 'client_secret_basic' })],
    ['more than 5 KB', () => serve({ padding: 'x'.repeat(5 * 1024) })],
    ['another content type', () => serve({}, { 'content-type': 'text/html' })],
    [
      'a redirect, even to a good document',
      () => {
        respond = (path, answer) =>
          path.endsWith('good')
            ? answer.writeHead(200, { 'content-type': 'application/json' }).end(documentOf(path))
            : answer.writeHead(302, { location: `${siteUrl}/good` }).end()
      },
    ],
    ['an error', () => (respond = (_path, answer) => answer.writeHead(500, { 'content-type': 'application/json' }).end('{}'))],
    ['no JSON', () => (respond = (_path, answer) => answer.writeHead(200, { 'content-type': 'application/json' }).end('['))],
    ['a list', () => (respond = (_path, answer) => answer.writeHead(200, { 'content-type': 'application/json' }).end('[]'))],
    [
      'a body that never ends',
      () => (respond = (_path, answer) => answer.writeHead(200, { 'content-type': 'application/json' }).write('{')),
    ],
    ['no answer at all', () => (respond = () => undefined)],
  ])('with %s is refused', async (_what, prepare) => {
    prepare()
    expect(await begin(newClient().id)).toEqual(refused)
  })

  // A document is for many servers: values that are not acceptable here do not matter until a request uses them.
  test('with a redirect URI that is not acceptable here serves requests that use another', async () => {
    serve({
      redirect_uris: [
        redirectUri,
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'javascript:alert(1)',
        'http://client.example/cb',
      ],
    })
    const client = newClient()
    expect(await requestConsent(person, client, newPkce())).toMatch(/^oaz_/)
    const editor = { redirect_uri: 'cursor://anysphere.cursor-mcp/oauth/callback' }
    expect(await requestConsent(person, client, newPkce(), editor)).toMatch(/^oaz_/)
    const run = await person.api.get(authorizePath(client, newPkce(), { redirect_uri: 'javascript:alert(1)' }))
    expect([run.status, run.headers.get('location')]).toEqual([400, null])
  })

  test('with a redirect URI that a browser would run is refused', async () => {
    serve({ redirect_uris: ['javascript:alert(1)'] })
    expect(await begin(newClient().id)).toEqual([400, 'invalid_redirect_uri', null])
  })
})

describe('by default', () => {
  test.each([
    'http://localhost/client.json',
    'https://localhost/client.json',
    'https://127.0.0.1/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/client.json',
    'https://[::ffff:127.0.0.1]/client.json',
    'https://[::ffff:7f00:1]/client.json',
    'https://[64:ff9b::7f00:1]/client.json',
    'https://10.0.0.1/client.json',
    'https://2130706433/client.json',
    'https://0x7f.1/client.json',
    'https://client.example',
    'https://client.example/',
    'https://client.example:8443/client.json',
    'https://user@client.example/client.json',
    'https://client.example/client.json#part',
    'https://client.example/a/../client.json',
    'HTTPS://client.example/client.json',
  ])('%s is not read', async (id) => {
    const before = hits
    expect(await begin(id, strict)).toEqual(refused)
    expect(hits).toBe(before)
  })

  test('a document on this machine is never read, even if a server answers there', async () => {
    serve()
    const before = hits
    expect(await begin(`${siteUrl}/client.json`, strict)).toEqual(refused)
    expect(await begin(`${siteUrl.replace('localhost', '127.0.0.1')}/client.json`, strict)).toEqual(refused)
    expect(hits).toBe(before)
  })
})

describe('the connection', () => {
  const port = () => new URL(siteUrl).port
  const options = { timeoutMs: 30_000, maxBytes: 5_000 }

  test('goes to the address that was checked: the name is resolved once, and never again', async () => {
    serve()
    let requestCount = 0
    const resolve = async () => {
      requestCount += 1
      return [{ address: requestCount === 1 ? '127.0.0.1' : '127.0.0.99', family: 4 }]
    }
    const checked: string[] = []
    const allows = (address: string) => checked.push(address) > 0
    const { text } = await guardedFetch(new URL(`http://client.example:${port()}/x`), { ...options, resolve, allows })
    expect(JSON.parse(text).client_name).toBe('Document agent')
    expect([requestCount, checked]).toEqual([1, ['127.0.0.1']])
  })

  test('is one of a few at once: others wait, and too many are refused at once', async () => {
    const release = Promise.withResolvers<[]>()
    let underWay = 0
    const resolve = () => {
      underWay += 1
      return release.promise
    }
    const read = createGuardedFetch({ timeoutMs: 30_000, resolve })
    const reading = Array.from({ length: 32 }, () =>
      read(new URL('https://client.example/x'), { maxBytes: 1, allows: () => true }),
    )
    await expect(read(new URL('https://client.example/x'), { maxBytes: 1, allows: () => true })).rejects.toThrow('too many')
    expect(underWay).toBe(16)
    release.resolve([])
    expect(new Set((await Promise.allSettled(reading)).map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(underWay).toBe(32)
    await expect(read(new URL('https://client.example/x'), { maxBytes: 1, allows: () => true })).rejects.toThrow('fetched')
  })

  test('ends in time where the answer only changes the protocol, which is no answer', async () => {
    const other = createTcpServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'))
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const url = new URL(`http://client.example:${(other.address() as AddressInfo).port}/x`)
    const fetched = guardedFetch(url, { timeoutMs: 100, maxBytes: 5_000, resolve, allows: () => true })
    await expect(fetched).rejects.toThrow('could not be fetched')
    other.close()
  })

  test('is not made when one of several addresses is not allowed', async () => {
    const before = hits
    const resolve = async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ]
    const allows = (address: string) => address === '127.0.0.1'
    await expect(guardedFetch(new URL(`http://client.example:${port()}/x`), { ...options, resolve, allows })).rejects.toThrow(
      'could not be fetched',
    )
    expect(hits).toBe(before)
  })

  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '198.18.0.1',
    '::',
    '::1',
    '::ffff:8.8.8.8',
    '::ffff:127.0.0.1',
    '64:ff9b::808:808',
    'fc00::1',
    'fe80::1',
    'ff02::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2001::1',
    '3fff::1',
    '168.63.129.16',
  ])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false))
  test.each([
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '1.1.1.1',
    '2606:4700::1111',
    '2a00:1450:4001::1',
    '2001:4860::8888',
  ])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true))
})

describe('host names without an answer', () => {
  let names: Socket
  let lookedUp: string[] = []
  let waiting: TestService
  let settings: { OAUTH_METADATA_DNS_SERVERS: string[] }
  beforeAll(async () => {
    names = createSocket('udp4')
    // A query's name begins after twelve bytes of header. Its labels carry their length.
    names.on('message', (message) => lookedUp.push(message.subarray(13, 13 + (message[12] ?? 0)).toString()))
    names.bind(0, '0.0.0.0')
    await once(names, 'listening')
    // Four addresses of one silent server, which the resolver tries in turn.
    const servers = [1, 2, 3, 4].map((each) => `127.0.0.${each}:${names.address().port}`)
    settings = { OAUTH_METADATA_DNS_SERVERS: servers }
    waiting = await startService({ fixed: { ...settings, OAUTH_METADATA_TIMEOUT_MS: 10_000 } })
  })
  afterAll(async () => {
    await waiting.close()
    names.close()
  })
  const document = (name: string) => `https://${name}.example/client.json`
  const flood = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => begin(document(`${prefix}-${index}`), waiting))

  test('delay nothing else: no sign-in and no other lookup waits for them', async () => {
    const began = performance.now()
    const silent = flood('silent', 16)
    let isSilent = true
    void Promise.race(silent).then(() => {
      isSilent = false
    })
    await expect.poll(() => lookedUp.length).toBeGreaterThanOrEqual(16)
    // getaddrinfo, files and hashing share a pool of threads, which is free.
    expect(await lookup('localhost')).toMatchObject({ address: expect.any(String) })
    await signIn(waiting.api)
    expect(isSilent).toBe(true)
    expect(await Promise.all(silent)).toEqual(Array(16).fill(refused))
    // The whole lookup has one deadline, however many servers do not answer: four in turn take forty seconds.
    expect(performance.now() - began).toBeLessThan(35_000)
  })

  test('are not looked up again for a minute', async () => {
    const hasty = await startService({ fixed: { ...settings, OAUTH_METADATA_TIMEOUT_MS: 300 } })
    await begin(document('again'), hasty)
    lookedUp = []
    expect(await begin(document('again'), hasty)).toEqual(refused)
    expect(lookedUp).toEqual([])
    hasty.clock.advance(60)
    await begin(document('again'), hasty)
    await expect.poll(() => new Set(lookedUp)).toEqual(new Set(['again']))
    await hasty.close()
  })
})
