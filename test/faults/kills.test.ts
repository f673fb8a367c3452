import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createClient } from '../harness/client.ts'
import { freePort } from '../harness/service.ts'
import { killAll } from '../start/process.ts'
import { report } from './report.ts'
import { type Cast, castAt, isFull, startWorld, type World } from './world.ts'

let folder: string
let world: World
let cast: Cast
let survivor: { url: string }

/** The survivor takes requests and callbacks and works on nothing; the victim does the work, or takes the request, and is killed. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faults-'))
  world = await startWorld(folder)
  const port = String(await freePort())
  await world.start({ PORT: port, OPERATOR_PORT: String(world.operatorPort), JOBS: 'off' })
  survivor = { url: `http://127.0.0.1:${port}` }
  cast = await castAt(survivor.url)
}, 120_000)
afterAll(async () => {
  await killAll()
  await world.close()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const startVictim = async () => {
  const port = String(await freePort())
  const process = await world.start({ PORT: port, OPERATOR_PORT: String(await freePort()), DATABASE_URL: world.proxy.url })
  return { process, url: `http://127.0.0.1:${port}` }
}

/** kill -9 when the victim sends its message number `at`, which still arrives or does not. */
const killAt = (victim: Awaited<ReturnType<typeof startVictim>>, at: number): void =>
  world.proxy.arm(({ number }) => {
    if (number !== at) return 'forward'
    victim.process.kill('SIGKILL')
    return 'cut'
  })

const statusOf = async (path: string): Promise<string> => (await cast.api.get(path)).body.status
const ended = ['succeeded', 'failed']

type Act = { name: string; path: string; body: () => object; read: string }
const acts: readonly Act[] = [
  {
    name: 'a top-up',
    path: '/v1/topups/initiate',
    body: () => ({ amount_minor: '500000', phone_number: '254722000001' }),
    read: '/v1/topups/',
  },
  {
    name: 'a payment by B2C',
    path: '/v1/payments',
    body: () => ({ beneficiary_id: cast.beneficiaries.MPESA_B2C, amount_minor: '10000' }),
    read: '/v1/payments/',
  },
  {
    name: 'a payment by PesaLink',
    path: '/v1/payments',
    body: () => ({ beneficiary_id: cast.beneficiaries.PESALINK, amount_minor: '10000' }),
    read: '/v1/payments/',
  },
]

/** Every message in the full suite, one in an ordinary run; FAULT_POINTS spreads another number of them over the usual ones. */
const wanted = Number(process.env.FAULT_POINTS ?? (isFull ? '150' : '1'))
const points =
  wanted >= 150
    ? Array.from({ length: 150 }, (_, index) => 1 + index)
    : Array.from({ length: wanted }, (_, index) => 1 + Math.floor((index * 60) / wanted) + (process.pid % Math.ceil(60 / wanted)))

test.each(acts)(
  'a process that is killed at any message while it works on $name loses nothing and doubles nothing; another ends it within ten seconds',
  async ({ name, path, body, read }) => {
    let victim = await startVictim()
    let [kills, slowestMs] = [0, 0]
    // Money first, undisturbed.
    const funded = await cast.api.post('/v1/topups/initiate', { amount_minor: '20000000', phone_number: '254722000001' })
    await vi.waitFor(async () => expect(await statusOf(`/v1/topups/${funded.body.id}`)).toBe('succeeded'), {
      timeout: 30_000,
      interval: 100,
    })
    for (const at of points) {
      const key = `kill-${name}-${at}`
      const client = createClient(victim.url, cast.api.credentials)
      killAt(victim, at)
      // The request goes to the process that dies: it may be answered, cut off, or finished before the message comes.
      const first = await client.post(path, body(), { key }).catch(() => undefined)
      await Promise.race([victim.process.ended, wait(1_500)])
      const seen = world.proxy.disarm()
      const died = seen >= at
      if (died) await victim.process.ended
      const again = await createClient(survivor.url, cast.api.credentials).post(path, body(), { key })
      expect(again.status, again.text).toBe(201)
      if (first && first.status < 300) expect(again.body.id).toBe(first.body.id)
      if (died) {
        kills += 1
        victim = await startVictim()
      }
      const from = performance.now()
      const end = async () => expect(ended).toContain(await statusOf(read + again.body.id))
      try {
        await vi.waitFor(end, { timeout: 10_000, interval: 50 })
        slowestMs = Math.max(slowestMs, performance.now() - from)
      } catch {
        // Killed between the record of the attempt and the provider's answer: taken for lost after two minutes, then asked about.
        await world.provider.advance(130)
        await wait(7_000)
        await world.provider.advance(130)
        await vi.waitFor(end, { timeout: 30_000, interval: 100 })
      }
      if (!died) break
    }
    victim.process.kill('SIGTERM')
    await victim.process.ended
    report('process_kills', kills)
    report('slowest_recovery_ms', Math.round(slowestMs))
    expect(await world.faults()).toEqual([])
  },
  isFull ? 3_600_000 : 120_000,
)
