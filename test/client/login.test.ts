import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { commands } from '../../client/src/cli/commands.ts'
import { clientOf } from '../../client/src/cli/session.ts'
import { type Login, readLogin, withLock, writeLogin } from '../../client/src/cli/store.ts'
import { discover, loginByDevice, refreshTokens } from '../../client/src/oauth.ts'
import { authorizeAgent } from '../harness/oauth.ts'
import { signIn } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

const service = await openService()
const person = await signIn(service.api)
const folder = await mkdtemp(join(tmpdir(), 'payments-login-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const file = join(folder, 'login.json')
const env = { PAYMENTS_LOGIN_FILE: file }

/** Stores a login whose access token has to be refreshed before the next call. */
const storeExpired = async (): Promise<void> => {
  const { client, access, refreshToken, tokens } = await authorizeAgent(service.api, person)
  const login = { accessToken: access, refreshToken, expiresAt: 0, scope: tokens.scope }
  await writeLogin(file, { baseUrl: service.api.url, clientId: client.id, tokens: login })
}
const stored = async (): Promise<Login> => {
  const login = await readLogin(file)
  if (!login) throw new Error('there is no login')
  return login
}
/** The lock file that the last command to take the lock created. */
const newestLock = async (path: string): Promise<string> => {
  const names = (await readdir(folder)).filter((name) => name.startsWith(`${basename(path)}.lock.`))
  return join(
    folder,
    names.toSorted((one, two) => Number(one.split('.').at(-1)) - Number(two.split('.').at(-1))).at(-1) ?? 'none',
  )
}
const makeOld = (lock: string): Promise<void> => utimes(lock, 0, 0)
const unknownClient = 'oac_01h455vb4pex5vsknk084sn02q'

/** Runs a command in this process until it ends, or until it says something that `until` matches. */
const run = async (name: string, args: string[], until?: RegExp): Promise<string[]> => {
  const said: string[] = []
  const stop = new AbortController()
  const say = (line: string) => {
    said.push(line)
    if (until?.test(line)) stop.abort()
  }
  const ended = commands[name]?.run({ args, env, out: say, say, progress: say, signal: stop.signal })
  await ended?.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  return said
}

describe('commands that share a login', () => {
  test('refresh its tokens once, one after the other or at once, and keep its access', async () => {
    await storeExpired()
    const open = () => clientOf({ env }, undefined)
    const [first, second, third, fourth] = [await open(), await open(), await open(), await open()]
    await first.credentials.current()
    const { tokens } = await stored()
    await second.credentials.current()
    await Promise.all([third.credentials.current(), fourth.credentials.current()])
    expect((await stored()).tokens).toEqual(tokens)
    expect((await service.api.get('/v1/credentials/current', { bearer: tokens.accessToken })).status).toBe(200)
  })

  test('send a refresh again at once if its answer does not come, and get the same tokens', async () => {
    await storeExpired()
    const { clientId, tokens } = await stored()
    const metadata = await discover(service.api.url)
    let lost: Promise<Response> | undefined
    vi.spyOn(globalThis, 'fetch').mockImplementationOnce(async (...request) => {
      vi.restoreAllMocks()
      lost = fetch(...request)
      throw new DOMException('The operation was aborted due to timeout', 'TimeoutError')
    })
    const refreshed = await refreshTokens(metadata, clientId, tokens.refreshToken ?? '')
    expect(await (await lost)?.json()).toMatchObject({
      access_token: refreshed.accessToken,
      refresh_token: refreshed.refreshToken,
    })
  })

  test('take over the lock of a command that was killed', async () => {
    await storeExpired()
    await withLock(file, async () => undefined)
    const lock = await newestLock(file)
    await writeFile(lock, '1\n')
    await utimes(lock, new Date(), new Date(Date.now() - 60_000))
    await (await clientOf({ env }, undefined)).credentials.current()
    expect((await stored()).tokens.expiresAt).toBeGreaterThan(0)
  })

  test('take over an old lock one at a time, however many find it', async () => {
    const one = join(folder, 'one.json')
    await withLock(one, async () => makeOld(await newestLock(one)))
    let inside = 0
    const seen: number[] = []
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn += 1) await readdir(folder)
    }
    const command = async (start: number) => {
      await turns(start)
      await withLock(one, async () => {
        inside += 1
        seen.push(inside)
        await turns(10)
        inside -= 1
      })
    }
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(command))
    expect(seen).toEqual(Array(8).fill(1))
  })

  test('do not release the lock of a command that took theirs over', async () => {
    const two = join(folder, 'two.json')
    const order: string[] = []
    const [began, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let second: Promise<void> | undefined
    await withLock(two, async () => {
      await makeOld(await newestLock(two))
      second = withLock(two, async () => {
        began.resolve()
        await mayEnd.promise
        order.push('second')
      })
      await began.promise
    })
    const third = withLock(two, async () => void order.push('third'))
    // The third command has the time to find a lock that was released too early.
    for (let turn = 0; turn < 20; turn += 1) await readdir(folder)
    mayEnd.resolve()
    await Promise.all([second, third])
    expect(order).toEqual(['second', 'third'])
  })

  test('stop once another command has logged out', async () => {
    await storeExpired()
    const client = await clientOf({ env }, undefined)
    await run('logout', [])
    await expect(client.credentials.current()).rejects.toThrow('was removed: run payments login')
  })
})

describe('the service that a command acts at', () => {
  const other = 'https://payments.example'

  test('is that of the login in every spelling of its address', async () => {
    await storeExpired()
    const { url } = service.api
    for (const PAYMENTS_URL of [url, `${url}/`, url.replace('http', 'HTTP')])
      expect((await clientOf({ env: { ...env, PAYMENTS_URL } }, undefined)).baseUrl).toBe(url)
    expect((await clientOf({ env }, `${url}/`)).baseUrl).toBe(url)
  })

  test('is never another one than --url or PAYMENTS_URL names', async () => {
    await storeExpired()
    const refusal = `The login is for ${service.api.url}, not for ${other}: run payments login --url ${other}`
    await expect(clientOf({ env: { ...env, PAYMENTS_URL: `${other}/` } }, undefined)).rejects.toThrow(refusal)
    await expect(clientOf({ env: { ...env, PAYMENTS_URL: service.api.url } }, other)).rejects.toThrow(refusal)
    await expect(run('logout', ['--url', other])).rejects.toThrow(refusal)
    expect((await stored()).baseUrl).toBe(service.api.url)
  })

  test('needs an address: a word or an empty variable is refused, not replaced by the login', async () => {
    await storeExpired()
    await expect(clientOf({ env }, 'localhost:3000')).rejects.toThrow('"localhost:3000" is not the address of a service')
    await expect(clientOf({ env: { ...env, PAYMENTS_URL: '' } }, undefined)).rejects.toThrow('"" is not the address')
    await expect(clientOf({ env: { ...env, PAYMENTS_API_KEY: '' } }, undefined)).rejects.toThrow('PAYMENTS_API_KEY is empty')
  })
})

test('a login that was revoked says to log in again', async () => {
  await storeExpired()
  const { clientId, tokens } = await stored()
  const fields = { token: tokens.accessToken, client_id: clientId }
  await fetch(`${service.api.url}/v1/oauth/revoke`, { method: 'POST', body: new URLSearchParams(fields) })
  const client = await clientOf({ env }, undefined)
  await expect(client.credentials.current()).rejects.toThrow(
    `The login has expired or was revoked: run payments login --url ${service.api.url}`,
  )
})

test('a login file that is damaged is named', async () => {
  await writeFile(file, '{"baseUrl":')
  await expect(clientOf({ env }, undefined)).rejects.toThrow(`The file ${file} is damaged`)
  await rm(file)
})

test('payments logout without a login says so', async () => {
  expect(await run('logout', [])).toEqual(['There was no login.'])
})

describe('payments login, while it waits for a person,', () => {
  const answer = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const tokens = { access_token: 'oat_1', refresh_token: 'ort_1', token_type: 'Bearer', expires_in: 3_600, scope: 'payment.read' }

  /** A login at a service that answers its polls so, one after the other. */
  const poll = async (answers: ((response: ServerResponse) => void)[], signal = new AbortController().signal) => {
    const server = createServer((request, response) => {
      if (request.url === '/token') answers.shift()?.(response)
      else answer(response, 200, { device_code: 'code', user_code: 'BCDF-BCDF', expires_in: 600, interval: 0.001 })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const metadata = {
      registration_endpoint: `${url}/register`,
      device_authorization_endpoint: `${url}/device`,
      token_endpoint: `${url}/token`,
      revocation_endpoint: `${url}/revoke`,
    }
    try {
      return await loginByDevice({ metadata, clientId: 'oac_1', scope: undefined, show: () => {}, signal })
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }

  test('goes on after a lost connection, a full service and a restart', async () => {
    const lost = (response: ServerResponse) => void response.socket?.destroy()
    const refused = (status: number, error: string) => (response: ServerResponse) => void answer(response, status, { error })
    const answers = [
      lost,
      refused(429, 'rate_limited'),
      refused(503, 'unavailable'),
      refused(400, 'authorization_pending'),
      (response: ServerResponse) => void answer(response, 200, tokens),
    ]
    expect(await poll(answers)).toMatchObject({ accessToken: 'oat_1', refreshToken: 'ort_1' })
    await expect(poll([lost, refused(400, 'access_denied')])).rejects.toMatchObject({ code: 'access_denied' })
  })

  test('ends at once when it is stopped, during a poll too', async () => {
    const stop = new AbortController()
    await expect(poll([() => stop.abort(new Error('Stopped.'))], stop.signal)).rejects.toThrow('Stopped.')
  })
})

test('payments listen refuses a secret or an address that can never work, before it connects', async () => {
  const listen = (...args: string[]) => run('listen', args)
  await expect(listen('--forward', 'http://localhost:4000/hook', '--secret', 'short')).rejects.toThrow(
    'A signing secret is whsec_',
  )
  await expect(listen('--forward', 'localhost:4000/hook')).rejects.toThrow('Name the address')
})

test('payments logout ends the access even after the service has removed the expired token', async () => {
  const { client, access, refreshToken, tokens } = await authorizeAgent(service.api, person)
  const login = { accessToken: access, refreshToken, expiresAt: 0, scope: tokens.scope }
  await writeLogin(file, { baseUrl: service.api.url, clientId: client.id, tokens: login })
  service.clock.advance(26 * 3_600)
  await service.deps.jobs.sweep()
  await run('logout', [])
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: client.id }
  const again = await fetch(`${service.api.url}/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(fields) })
  expect([again.status, await again.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })])
})

describe('a login whose client the service has removed', () => {
  const forgotten = async () => {
    await storeExpired()
    await writeLogin(file, { ...(await stored()), clientId: unknownClient })
  }

  test('is replaced by payments login, with a new client', async () => {
    await forgotten()
    const said = await run('login', [], /compare the code/)
    const [, code] = /compare the code: (\S+)/.exec(said.join('\n')) ?? []
    const asked = await person.api.get(`/v1/oauth/device/${code}`)
    expect([asked.status, asked.body.client.name]).toEqual([200, expect.stringMatching(/^Command line on /)])
  })

  test('is forgotten by payments logout', async () => {
    await forgotten()
    expect(await run('logout', [])).toEqual(['Logged out: the access is revoked.'])
    expect(await readLogin(file)).toBeUndefined()
  })
})

test('a replay that is given no secret says with which one it signs', async () => {
  const received: { headers: IncomingHttpHeaders; body: string }[] = []
  const program = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    response.end()
  })
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
  try {
    const undelivered = join(folder, 'undelivered')
    const event = { id: 'evt_1', type: 'payment.created', created_at: new Date().toISOString(), data: { id: 'pay_1' } }
    await writeFile(undelivered, `${JSON.stringify({ event, status: '500', tries: 5, at: event.created_at })}\n`)
    const { port } = program.address() as AddressInfo
    const said = await run('listen', [
      ...['--forward', `http://127.0.0.1:${port}/hook`],
      ...['--undelivered', undelivered, '--replay'],
    ])
    const [, secret = ''] = /^Events are signed with (whsec_\S+)$/.exec(said[0] ?? '') ?? []
    const [{ headers, body } = { headers: {}, body: '' }] = received
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({ type: 'payment.created' })
    expect(await readFile(undelivered, 'utf8').catch(() => '')).toBe('')
  } finally {
    program.close()
  }
})
