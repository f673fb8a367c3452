import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, describe, expect, test } from 'vitest'
import { commands } from '../../client/src/cli/commands.ts'
import { clientOf } from '../../client/src/cli/session.ts'
import { type Login, readLogin, writeLogin } from '../../client/src/cli/store.ts'
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

  test('take over the lock of a command that was killed', async () => {
    await storeExpired()
    await writeFile(`${file}.lock`, '1\n')
    await utimes(`${file}.lock`, 0, 0)
    await (await clientOf({ env }, undefined)).credentials.current()
    await expect(stat(`${file}.lock`)).rejects.toThrow('ENOENT')
  })

  test('stop once another command has logged out', async () => {
    await storeExpired()
    const client = await clientOf({ env }, undefined)
    await run('logout', [])
    await expect(client.credentials.current()).rejects.toThrow('was removed: run payments login')
  })
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
