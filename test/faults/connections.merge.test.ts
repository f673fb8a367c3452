import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAdministered } from '../admin/administrators.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { propertySeed } from '../harness/seed.ts'
import type { TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { findFaults } from './belief.ts'
import { type Fate, type Message, type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts'
import { createRandom } from './random.ts'
import { report } from './report.ts'
import { type Scenario, type Stage, scenarios } from './scenarios.ts'

const isFull = process.env.FAULTS === 'full'
const maxMessages = 400
/** The number of tried messages: all in the full suite, one random message per scenario in an ordinary run. */
const pointCount = Number(process.env.FAULT_POINTS ?? (isFull ? String(maxMessages) : '1'))
/** The least number of messages per scenario, so that the chosen one exists in an ordinary run. Most send about forty. */
const usualMessages = isFull ? 42 : 8
const pointsOf = (name: string, shape: string): number[] => {
  if (pointCount >= maxMessages) return Array.from({ length: maxMessages }, (_, index) => index + 1)
  const random = createRandom(propertySeed, `${name} ${shape}`)
  const part = usualMessages / pointCount
  return Array.from(
    { length: pointCount },
    (_, index) => 1 + Math.floor(index * part) + random.below(Math.max(1, Math.floor(part))),
  )
}

let database: TestDatabase
let proxy: PostgresProxy
let stage: Stage
let service: TestService

beforeAll(async () => {
  database = await createTestDatabase()
  proxy = await startPostgresProxy(database.url)
  const administered = await startAdministered({
    database: { url: proxy.url, drop: async () => undefined },
    // One administrator decides about many payments within a day.
    env: { ADJUSTMENT_CONFIRM_MINOR: '10000000000' },
  })
  service = administered.service
  const person = await signIn(service.api)
  await credit(service, person.accountId, 1_000_000_000n)
  const strict = await newBeneficiary(person.api)
  await person.api.post('/v1/spending-policies', { name: 'strict', beneficiary_ids: [strict], approval_threshold_minor: '1' })
  stage = { service, person, administrator: administered.admin, strict, plain: await newBeneficiary(person.api) }
})
afterAll(async () => {
  await service.close()
  await proxy.close()
  await database.drop()
})

type Shape = (at: number) => (message: Message) => Fate
const shapes: Readonly<Record<string, Shape>> = {
  'before it arrives': (at) => (message) => (message.number === at ? 'cut' : 'forward'),
  'after it took effect': (at) => (message) => (message.number === at ? 'forward_then_cut' : 'forward'),
}

/** Repeats the same act until it succeeds, as a client does after a 503. */
const converge = async (act: Awaited<ReturnType<Scenario['prepare']>>) => {
  for (let tries = 1; ; tries += 1) {
    const answer = await act()
    if (answer.status < 300) return answer
    if (answer.status !== 503 || tries === 10)
      throw new Error(`it did not converge: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
}

/** The number of connections that the process knows to be lost. */
const losses = (): number => service.log.filter((line) => /connection .*was lost/.test(line)).length

const faultsNow = async () => [...(await findFaults(database.url, service.sandbox.movements())), ...(await findBreaches(service))]

/** After every wait, unknown outcomes are queried, and unsent payments are sent again. */
const afterwards = async (): Promise<void> => {
  for (const seconds of [125, 60, 120]) {
    service.clock.advance(seconds)
    await service.deps.jobs.sweep()
    await service.settle()
  }
}

/** In an ordinary run, each act loses its connection in one of two ways, chosen by the seed. */
const tried = scenarios.map((scenario, index) => ({
  ...scenario,
  ways: Object.entries(shapes).filter((_, way) => isFull || way === (propertySeed + index) % 2),
}))

describe.each(tried)('$name', ({ name, prepare, ways }) => {
  test.each(ways)(
    'a connection that is lost at any of its messages, %s, leaves one effect or none, and the same request again converges',
    async (shapeName, shape) => {
      let points = 0
      for (const at of pointsOf(name, shapeName)) {
        const act = await prepare(stage)
        const known = losses()
        proxy.arm(shape(at))
        const answer = await act()
        const seen = proxy.disarm()
        expect([200, 201, 202, 503], `message ${at}: ${JSON.stringify(answer.body)}`).toContain(answer.status)
        const again = await converge(act)
        if (answer.status !== 503 && name.startsWith('POST /v1/payments')) expect(again.body?.id).toBe(answer.body.id)
        // Work after the process knows of the loss must not fail because of it, not even once.
        if (seen >= at) await expect.poll(losses).toBeGreaterThan(known)
        await service.settle()
        if (seen < at) break
        points += 1
      }
      report('connection_points', points)
      if (!isFull) return
      await afterwards()
      expect(await faultsNow(), `${name}, ${shapeName}`).toEqual([])
    },
    isFull ? 3_600_000 : 180_000,
  )
})

test('afterwards nothing is lost, doubled or half done', async () => {
  await afterwards()
  expect(await faultsNow()).toEqual([])
})
