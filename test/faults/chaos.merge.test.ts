import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { effects } from '../../src/dev/sandbox/rules.ts'
import { parseId } from '../../src/lib/ids.ts'
import { createClient } from '../harness/client.ts'
import { freePort } from '../harness/ports.ts'
import { propertySeed } from '../harness/seed.ts'
import { killAll, type ServerProcess } from '../start/process.ts'
import { createRandom } from './random.ts'
import { report } from './report.ts'
import { type Cast, castAt, isFull, startWorld, type World } from './world.ts'

const seconds = Number(process.env.FAULT_SECONDS ?? '600')
/** Ends after this many payments, if its time is not over before. */
const enough = Number(process.env.FAULT_PAYMENTS ?? '1000000')
const processes = Number(process.env.FAULT_PROCESSES ?? '3')

let folder: string
let world: World
let cast: Cast
beforeAll(async () => {
  if (!isFull) return
  folder = await mkdtemp(join(tmpdir(), 'faults-'))
  world = await startWorld(folder)
})
afterAll(async () => {
  if (!isFull) return
  await killAll()
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

type Running = { url: string; process: ServerProcess }

/** The first process has the callback address. All keep their addresses over restarts. */
const fleet = async () => {
  const ports = await Promise.all(Array.from({ length: processes }, freePort))
  const operators = [world.operatorPort, ...(await Promise.all(Array.from({ length: processes - 1 }, freePort)))]
  const start = async (index: number): Promise<Running> => {
    const [port, operator] = [ports[index] ?? 0, operators[index] ?? 0]
    const process = await world.start({ PORT: String(port), OPERATOR_PORT: String(operator) })
    return { url: `http://127.0.0.1:${port}`, process }
  }
  return { start, running: await Promise.all(ports.map((_, index) => start(index))) }
}

const parties = ['254722000001', '254711000001', '254711000002', '254711000004', '254711000007', '254700001032']

/** Sends every kind of request repeatedly until it is stopped. Each write is repeated with its key until it is answered. */
const load = async (
  urls: () => string[],
  random: ReturnType<typeof createRandom>,
  isOver: () => boolean,
  done: (path: string, id: string) => void,
) => {
  let serial = 0
  const payees = Object.values(cast.beneficiaries)
  while (!isOver()) {
    serial += 1
    const key = `chaos-${random.id}-${serial}`
    const isTopup = random.below(4) === 0
    const path = isTopup ? '/v1/topups/initiate' : '/v1/payments'
    const body = isTopup
      ? { amount_minor: '100000', phone_number: parties[random.below(parties.length)] }
      : { beneficiary_id: payees[random.below(payees.length)], amount_minor: '10000' }
    for (let tries = 0; tries < 200; tries += 1) {
      const url = urls()[random.below(processes)] ?? ''
      const answer = await createClient(url, cast.api.credentials)
        .post(path, body, { key })
        .catch(() => undefined)
      if (answer && answer.status < 500 && answer.status !== 429) {
        if (answer.status < 300) done(path, answer.body.id)
        break
      }
      await wait(50)
    }
  }
}

const missingOf = async ({ payments, topups }: Record<'payments' | 'topups', string[]>): Promise<number> => {
  const uuids = (kind: 'payment' | 'topup', ids: string[]) => ids.map((id) => parseId(kind, id))
  const [row] = await world.sql<{ missing: number }>(
    `select (select count(*) from unnest($1::uuid[]) as i(id) where not exists (select from payments p where p.id = i.id))::int
       + (select count(*) from unnest($2::uuid[]) as i(id) where not exists (select from topups t where t.id = i.id))::int as missing`,
    [uuids('payment', payments), uuids('topup', topups)],
  )
  return row?.missing ?? -1
}

/** The payments' ends, and a person's open tasks. */
const ends = `
  select status, count(*)::int from payments group by 1
  union all select 'late_success', count(*)::int from payments where late_success_at is not null
  union all select 'suspense', count(*)::int from suspense_items where resolved_at is null`

/** A contradicted failure would be a success without money: only the provider's statement could show that. */
const lie = (effect: string, times: number) => ({ effect, times, ...(effect === 'contradict' && { party: '254722000001' }) })

test.runIf(isFull)(
  'several processes that are killed, paused and ended at random under load, with a provider that lies, break no invariant',
  async () => {
    const { start, running } = await fleet()
    const urls = () => running.map(({ url }) => url)
    const first = urls()[0] ?? ''
    cast = await castAt(first)
    const funded = await cast.api.post('/v1/topups/initiate', { amount_minor: '20000000', phone_number: '254722000001' })
    expect(funded.status).toBe(201)

    const end = performance.now() + seconds * 1000
    const acknowledged = { payments: [] as string[], topups: [] as string[] }
    const isOver = () => performance.now() >= end || acknowledged.payments.length >= enough
    const counts = { writes: 0, SIGKILL: 0, SIGTERM: 0, SIGSTOP: 0, backends: 0, lies: 0 }
    const random = createRandom(propertySeed, 'chaos')
    const writers = Array.from({ length: 6 }, (_, index) =>
      load(urls, createRandom(propertySeed, `writer ${index}`), isOver, (path, id) => {
        counts.writes += 1
        acknowledged[path === '/v1/payments' ? 'payments' : 'topups'].push(id)
      }),
    )
    const admin = new pg.Client({ connectionString: world.database.url, application_name: 'fault-suite' })
    await admin.connect()
    const lies = effects.filter((effect) => !['delay', 'drop', 'outage', 'never_end'].includes(effect))
    while (!isOver()) {
      await wait(300 + random.below(700))
      const index = random.below(processes)
      const victim = running[index]
      if (!victim) continue
      const signal = (['SIGKILL', 'SIGTERM', 'SIGSTOP'] as const)[random.below(3)] ?? 'SIGKILL'
      switch (random.below(4)) {
        case 0:
          counts.lies += 1
          await world.provider.control.post('/rules', lie(lies[random.below(lies.length)] ?? 'forge', 1 + random.below(3)))
          break
        case 1: {
          const { rowCount } = await admin.query(
            `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'fault-suite' order by random() limit 2`,
          )
          counts.backends += rowCount ?? 0
          break
        }
        default:
          counts[signal] += 1
          victim.process.kill(signal)
          if (signal === 'SIGSTOP') {
            await wait(500 + random.below(2_000))
            victim.process.kill('SIGCONT')
          } else {
            await victim.process.ended
            running[index] = await start(index)
          }
      }
    }
    await Promise.all(writers)
    await admin.end()
    await world.provider.control.delete('/rules')
    // Unknown outcomes are queried on their own schedule, so the time is advanced.
    for (const pause of [130, 130, 300]) {
      await wait(8_000)
      await world.provider.advance(pause)
    }
    await wait(10_000)
    for (const [name, count] of Object.entries(counts)) report(`chaos_${name}`, count)
    const lost = await missingOf(acknowledged)
    report('chaos_payments', acknowledged.payments.length)
    report('chaos_lost', lost)
    for (const { status, count } of await world.sql<{ status: string; count: number }>(ends)) report(`chaos_${status}`, count)
    expect(lost).toBe(0)
    expect(counts.writes).toBeGreaterThan(0)
    expect(await world.faults()).toEqual([])
  },
  (seconds + 180) * 1000,
)
