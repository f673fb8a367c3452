import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { programs } from '../harness/programs.ts'
import { startRoundRobin } from '../harness/round-robin.ts'
import { freePort } from '../harness/service.ts'
import { killAll, spawnServer } from './process.ts'

let database: TestDatabase
let folder: string
beforeAll(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'rolling-'))
})
afterEach(killAll)
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

describe('two processes that are restarted one after the other', () => {
  test('refuse no request of their clients', { timeout: 180_000 }, async () => {
    const front = await startRoundRobin()
    const shared = {
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      PUBLIC_URL: `http://localhost:${front.port}`,
      SHUTDOWN_DELAY_MS: '5000',
    }
    const spawn = async (more: Record<string, string> = {}) => {
      const port = await freePort()
      const server = spawnServer({ ...shared, PORT: String(port), ...more })
      await server.waitForOutput(/is ready after/)
      front.add(port)
      return { server, port }
    }
    const sandbox = spawnServer(
      { SANDBOX_PORT: String(await freePort()), DATA_DIR: folder },
      { command: [process.execPath, programs.sandbox] },
    )
    const [, sandboxUrl = ''] = await sandbox.waitForOutput(/(http:\/\/\S+)\/control/)
    const more = { SANDBOX_URL: sandboxUrl }
    const begun = [await spawn(more), await spawn(more)]
    const person = await signIn(createClient(`http://localhost:${front.port}`))
    const topup = await person.api.post('/v1/topups/initiate', { amount_minor: '20000000', phone_number: '254722000001' })
    await expect
      .poll(async () => (await person.api.get(`/v1/topups/${topup.body.id}`)).body.status, { timeout: 30_000 })
      .toBe('succeeded')
    const beneficiary = await newBeneficiary(person.api)
    let replaced = false
    const statuses: number[] = []
    const client = async () => {
      while (!replaced || statuses.length < 500) {
        const answer = await person.api
          .post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })
          .catch(() => ({ status: 0 }))
        statuses.push(answer.status)
      }
    }
    const clients = Promise.all(Array.from({ length: 8 }, client))
    for (const { server, port } of begun) {
      await spawn(more)
      server.kill('SIGTERM')
      // As a load balancer does that asks for readiness.
      await server.waitForOutput(/finishing what is under way/)
      expect((await fetch(`http://localhost:${port}/readyz`)).status).toBe(503)
      front.remove(port)
      expect(await server.ended).toEqual({ code: 0, signal: null })
    }
    replaced = true
    await clients
    expect(statuses.filter((status) => status !== 201)).toEqual([])
    await front.close()
  })
})
