import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startOptions } from '../../src/process/processes.ts'
import { type Client, createClient, type Json } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { programs } from '../harness/programs.ts'
import { startRoundRobin } from '../harness/round-robin.ts'
import { connectAgent } from '../mcp/connect.ts'
import { killAll, patience, type ServerProcess, spawnServer } from './process.ts'

let database: TestDatabase
let folder: string
beforeAll(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'processes-'))
})
afterEach(killAll)
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

/** Repeats the call with the same key, like a client without an answer. */
const insist = async (ask: () => ReturnType<Client['post']>): ReturnType<Client['post']> => {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask().catch(() => undefined)
    if (answer && answer.status < 500) return answer
    if (tries === 40) throw new Error(`no answer: ${answer?.text ?? 'the connection was lost'}`)
    await wait(100)
  }
}

const run = promisify(execFile)

const workersOf = async (pid: number): Promise<number[]> => {
  const { stdout } = await run('pgrep', ['-P', String(pid)])
  return stdout.trim().split('\n').map(Number)
}

const until = async <T>(what: string, look: () => Promise<T | undefined>): Promise<T> => {
  for (const giveUp = performance.now() + 150_000; performance.now() < giveUp; ) {
    const response = await look().catch(() => undefined)
    if (response !== undefined) return response
    await wait(100)
  }
  throw new Error(`it never came to ${what}`)
}

const fund = async (api: Client): Promise<void> => {
  const topup = await api.post('/v1/topups/initiate', { amount_minor: '20000000', phone_number: '254722000001' })
  await until('a top-up', async () => {
    const { body } = await api.get(`/v1/topups/${topup.body.id}`)
    return body.status === 'succeeded' ? true : undefined
  })
}

describe('three processes behind a round robin', () => {
  test('lose nothing and do nothing twice when one is killed under load, and apply a revocation at once', {
    timeout: 180_000,
  }, async () => {
    const [front, operator] = [await startRoundRobin(), await startRoundRobin()]
    const shared = {
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      PUBLIC_URL: `http://localhost:${front.port}`,
      OPERATOR_URL: `http://127.0.0.1:${operator.port}`,
      SANDBOX_DELAY_MS: '50',
    }
    const spawn = async (more: Record<string, string> = {}): Promise<ServerProcess> => {
      const [port, operatorPort] = [await freePort(), await freePort()]
      const server = spawnServer({ ...shared, PORT: String(port), OPERATOR_PORT: String(operatorPort), ...more })
      await server.waitForOutput(/is ready after/)
      front.add(port)
      operator.add(operatorPort)
      return server
    }
    const first = await spawn()
    const [, sandboxUrl = ''] = await first.waitForOutput(/journal at (http:\/\/\S+)\/control/)
    const [doomed] = await Promise.all([spawn({ SANDBOX_URL: sandboxUrl }), spawn({ SANDBOX_URL: sandboxUrl })])
    const person = await signIn(createClient(`http://localhost:${front.port}`))
    await fund(person.api)
    const beneficiary = await newBeneficiary(person.api)
    const { id, api } = await createKey(person)
    const pay = (key: string) =>
      insist(() => api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '10000' }, { key }))
    const keys = Array.from({ length: 72 }, () => randomUUID())
    const waiting = [...keys]
    const worker = async () => {
      const made: string[] = []
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
        if (waiting.length === 36) doomed.kill('SIGKILL')
        const answer = await pay(key)
        expect(answer.status).toBe(201)
        made.push(answer.body.id)
      }
      return made
    }
    const made = (await Promise.all(Array.from({ length: 12 }, worker))).flat()
    expect(new Set(made).size).toBe(keys.length)
    // Every payment is paid, even those that the killed process had taken. Only the provider knows the outcome of the one that it
    // was sending. That one stays unknown, is not sent again, and its money stays held.
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const sandbox = createClient(sandboxUrl)
    const received = async (): Promise<Set<string>> =>
      new Set((await sandbox.get('/control/orders')).body.data.map(({ reference }: Json) => reference))
    const sentAs = async (statuses: readonly string[]): Promise<{ status: string; reference: string }[]> => {
      const text = `select p.status, a.reference from payments p left join rail_attempts a on a.subject_id = p.id and a.state <> 'not_sent' where p.status = any($1)`
      return (await client.query(text, [statuses])).rows
    }
    // The killed process's sends stay its own for half a minute, which passes once nothing else is left to do.
    let last = { count: 0, at: performance.now() }
    const passTime = async (count: number) => {
      if (count === last.count && performance.now() - last.at < 2_000) return
      if (count === last.count) await sandbox.post('/control/clock', { advance_seconds: 40 })
      last = { count, at: performance.now() }
    }
    const unsent = await until('the last payment', async () => {
      const [open, orders] = [await sentAs(['processing', 'unknown']), await received()]
      await passTime(open.length)
      return open.every(({ status, reference }) => status === 'unknown' && !orders.has(reference)) ? open.length : undefined
    })
    const [paid, orders] = [await sentAs(['succeeded']), await received()]
    await client.end()
    expect(paid.length).toBe(keys.length - unsent)
    expect(paid.filter(({ reference }) => !orders.has(reference))).toEqual([])
    const { body } = await person.api.get('/v1/accounts/me')
    expect(body.balance).toMatchObject({
      available_minor: String(20_000_000 - keys.length * 10_000),
      held_minor: String(unsent * 10_000),
    })
    // From the next request on, every process refuses the key.
    expect((await person.api.delete(`/v1/accounts/me/api-keys/${id}`)).status).toBe(200)
    const answers = await Promise.all(Array.from({ length: 30 }, () => api.get('/v1/workspaces/current')))
    expect(answers.map((answer) => answer.body.error)).toEqual(answers.map(() => 'api_key_revoked'))
    await Promise.all([front.close(), operator.close()])
  })
})

/** An agent's payment over several calls, each on its own connection, while a person approves over others. */
const payByAgent = async (url: string): Promise<void> => {
  const person = await signIn(createClient(url))
  await fund(person.api)
  const beneficiary = await newBeneficiary(person.api)
  const { key } = await createKey(person, { spending_controls: { approval_threshold_minor: '5000' } })
  const withAgent = async (tool: string, input: object): Promise<Json> => {
    const agent = await connectAgent(url, { bearer: key, headers: { connection: 'close' } })
    return agent.call(tool, input).finally(agent.close)
  }
  const paymentBody = { beneficiary_id: beneficiary, amount_minor: '10000', idempotency_key: 'once' }
  // The same call on several connections at once makes one payment, at any process.
  const made = await Promise.all(Array.from({ length: 6 }, () => withAgent('create_payment', paymentBody)))
  expect(new Set(made.map(({ payment_id, next }) => `${payment_id} ${next}`)).size).toBe(1)
  const [payment] = made
  expect(payment.next).toBe('ask_a_person')
  const waiting = withAgent('get_payment', { payment_id: payment.payment_id, wait_seconds: 20 })
  expect((await person.api.post(`/v1/approvals/${payment.approval.id}/decide`, { decision: 'approve' })).status).toBe(200)
  let outcome = await waiting
  while (outcome.next === 'wait') outcome = await withAgent('get_payment', { payment_id: payment.payment_id, wait_seconds: 20 })
  expect([outcome.next, outcome.status]).toEqual(['done', 'succeeded'])
}

describe('npm start -- --processes 2', () => {
  test('serves one port by two processes, replaces those that die, and ends all of them', patience, async () => {
    const shared = { DATABASE_URL: database.url, DATA_DIR: folder, SANDBOX_URL: `http://127.0.0.1:${await freePort()}` }
    // With the sandbox elsewhere, as with real providers, the first process opens nothing itself.
    await spawnServer(shared, { command: [process.execPath, programs.sandbox] }).waitForOutput(/is ready/)
    const command: [string, ...string[]] = [process.execPath, programs.server, '--processes', '2']
    const server = spawnServer(shared, { command })
    const { url } = await server.ready()
    expect(server.stdout()).toContain('(2 processes)')
    const pids = await workersOf(server.pid)
    expect(pids).toHaveLength(2)
    await payByAgent(url)
    for (const count of [1, 2]) {
      const killed = (await workersOf(server.pid)).slice(0, count)
      for (const pid of killed) process.kill(pid, 'SIGKILL')
      await until('other processes', async () => {
        const now = await workersOf(server.pid)
        return now.length === 2 && !now.some((pid) => killed.includes(pid)) ? true : undefined
      })
      await until('an answer', async () => ((await fetch(`${url}/readyz`)).ok ? true : undefined))
    }
    const last = await workersOf(server.pid)
    server.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
    for (const pid of last) expect(() => process.kill(pid, 0)).toThrow()
  })

  test('starts with a database address from a file, as containers give it', patience, async () => {
    const file = join(folder, 'database_url')
    await writeFile(file, `${database.url}\n`)
    const command: [string, ...string[]] = [process.execPath, programs.server, '--processes', '2']
    const server = spawnServer({ DATABASE_URL_FILE: file, DATA_DIR: folder }, { command })
    const { url } = await server.ready()
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    server.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  test.each(['0', 'many', '65', '1.5'])('%s is refused with a sentence', (count) => {
    expect(() => startOptions(['--processes', count])).toThrow('--processes must be a number from 1 to 64')
  })

  test('"cores" is as many as this machine has, and nothing is one', () => {
    expect([startOptions(['--processes', 'cores']), startOptions([])].map(({ processes }) => processes)).toEqual([
      availableParallelism(),
      1,
    ])
    expect(() => startOptions(['--proceses', '2'])).toThrow('Valid options: --processes and --ready-file')
  })
})
