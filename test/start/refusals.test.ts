import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { killAll, patience, spawnServer } from './process.ts'

let folder: string
let database: TestDatabase
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'refusals-'))
  database = await createTestDatabase()
})
afterEach(killAll)
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

/** The whole standard error of a start that must not succeed: one sentence, and nothing on standard output. */
const refusal = async (variables: Record<string, string>): Promise<string> => {
  const server = spawnServer({ DATA_DIR: folder, ...variables })
  expect(await server.ended).toEqual({ code: 1, signal: null })
  expect(server.stdout()).toBe('')
  expect(server.stderr()).toMatch(/^[^\n]+\n$/)
  return server.stderr().trim()
}

const listenSomewhere = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: String((server.address() as AddressInfo).port), close: () => server.close() }
}

const closedPort = async () => {
  const { port, close } = await listenSomewhere()
  close()
  return port
}

const key = () => `k:${randomBytes(32).toString('base64')}`
const needed = ['ENCRYPTION_KEYS', 'TOKEN_SECRETS', 'PUBLIC_URL', 'RAILS', 'DATABASE_URL']
const production = () => ({
  NODE_ENV: 'production',
  ENCRYPTION_KEYS: key(),
  TOKEN_SECRETS: key(),
  PUBLIC_URL: 'https://pay.example',
  RAILS: 'sandbox',
  DATABASE_URL: database.url,
})

describe('a start that can not succeed ends with one sentence and a failure', patience, () => {
  it.each([['PORT'], ['OPERATOR_PORT']])('when the port of %s is taken, naming both', async (variable) => {
    const taken = await listenSomewhere()
    expect(await refusal({ [variable]: taken.port })).toBe(
      `Port ${taken.port} on 127.0.0.1 is already in use: stop what listens there, or choose another ${variable}.`,
    )
    taken.close()
  })

  it('when both listeners are to have the same port', async () => {
    const port = await closedPort()
    expect(await refusal({ PORT: port, OPERATOR_PORT: port })).toContain('OPERATOR_PORT')
  })

  it('when the host is no address of this machine', async () => {
    expect(await refusal({ HOST: '192.0.2.1' })).toBe('192.0.2.1 is not an address of this machine: correct HOST.')
  })

  it('when the data folder can not be written', async () => {
    const below = join(folder, 'a-file', 'data')
    await writeFile(join(folder, 'a-file'), '')
    const sentence = await refusal({ DATA_DIR: below })
    expect(sentence).toContain(`The data folder ${below} is not writable (ENOTDIR`)
    expect(sentence).toContain('choose another DATA_DIR.')
  })

  it('when nothing answers at DATABASE_URL, without telling its password', async () => {
    const port = await closedPort()
    const sentence = await refusal({ DATABASE_URL: `postgresql://somebody:hidden@127.0.0.1:${port}/payments` })
    expect(sentence).toBe(
      `The database payments at 127.0.0.1:${port} can not be used (ECONNREFUSED): start it, or correct DATABASE_URL.`,
    )
  })

  it('when the database does not know the user or the password', async () => {
    const url = new URL(database.url)
    url.username = 'stranger'
    url.password = 'hidden'
    const sentence = await refusal({ DATABASE_URL: url.href })
    expect(sentence).toContain('refuses our user or password: correct DATABASE_URL.')
    expect(sentence).not.toContain('hidden')
  })

  it('when there is no such database', async () => {
    const url = new URL(database.url)
    url.pathname = '/no_such_database'
    expect(await refusal({ DATABASE_URL: url.href })).toContain('does not exist: create it, or correct DATABASE_URL.')
  })

  it('when variables are bad, naming every one of them', async () => {
    const sentence = await refusal({ PORT: 'many', RAILS: 'pigeon', ENCRYPTION_KEYS: 'short:AAAA' })
    for (const name of ['PORT', 'RAILS', 'ENCRYPTION_KEYS']) expect(sentence).toContain(name)
  })
})

describe('production', patience, () => {
  it('starts with keys, a public URL over https and rails that were named, and logs JSON', async () => {
    const server = spawnServer({ DATA_DIR: folder, LOG_LEVEL: 'info', ...production() })
    const [line] = await server.said(/^\{.*\}$/m)
    expect(JSON.parse(line)).toMatchObject({ level: 30, msg: expect.any(String) })
    await server.ready()
  })

  it('does not start without them, and names every one', async () => {
    const sentence = await refusal({ NODE_ENV: 'production' })
    for (const name of needed) expect(sentence).toContain(`${name} must be`)
  })

  it.each([
    ...needed.map((name) => ({ name, value: '' })),
    { name: 'PUBLIC_URL', value: 'http://pay.example' },
    { name: 'RAILS', value: 'sandbox,daraja' },
  ])('does not start when $name alone is "$value"', ({ name, value }) => {
    expect(() => loadConfig(production())).not.toThrow()
    expect(() => loadConfig({ ...production(), [name]: value })).toThrow(name)
  })

  it('does not start with a real rail that lacks its credentials', () => {
    expect(() => loadConfig({ ...production(), RAILS: 'daraja' })).toThrow(
      'DARAJA_CONSUMER_KEY must be set when RAILS has daraja',
    )
  })
})
