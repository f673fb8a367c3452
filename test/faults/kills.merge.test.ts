import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { propertySeed } from '../harness/seed.ts'
import { killAll, type ServerProcess } from '../start/process.ts'
import { type Act, acts, type Ready, type Stage } from './acts.ts'
import { createRandom } from './random.ts'
import { report } from './report.ts'
import { castAt, isFull, type Puppet, startWorld, type World } from './world.ts'

/** Another process must end the interrupted work within this time, once it may take the work. */
const recoverWithinMs = isFull ? 10_000 : 30_000
const maxMessages = 200
/** Fewer messages than any act sends, so that the chosen one exists in an ordinary run. */
const usualMessages = isFull ? 40 : 8
/** Every message in the full suite, one message of one act in an ordinary run. FAULT_POINTS: this many per act. */
const pointCount = Number(process.env.FAULT_POINTS ?? (isFull ? String(maxMessages) : '1'))
const random = createRandom(propertySeed, 'kills')
const tried = isFull ? acts : acts.filter((_, index, all) => index === propertySeed % all.length)
const pointsOf = (name: string): number[] => {
  if (pointCount >= maxMessages) return Array.from({ length: maxMessages }, (_, index) => 1 + index)
  const own = createRandom(propertySeed, name)
  return Array.from({ length: pointCount }, () => 1 + own.below(usualMessages)).sort((a, b) => a - b)
}

let folder: string
let world: World
let stage: Stage
/** Started while another one is in use, because a start takes longer than everything else here. */
let next: Promise<Puppet>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faults-'))
  world = await startWorld(folder)
  const port = String(await freePort())
  const [heir, receiver] = await Promise.all([
    world.start({ PORT: String(await freePort()), OPERATOR_PORT: String(await freePort()) }),
    world.start({ PORT: port, OPERATOR_PORT: String(world.operatorPort), JOBS: 'off' }),
  ])
  const controlsOf = (process: ServerProcess) => ({
    pause: () => world.pause(process),
    resume: () => process.kill('SIGCONT'),
  })
  const survivor = { url: `http://127.0.0.1:${port}`, ...controlsOf(receiver) }
  const client = createClient(survivor.url)
  const cast = await castAt(survivor.url)
  const [first, second] = await Promise.all(world.admins.map((wallet) => signIn(client, wallet)))
  if (!first || !second) throw new Error('two administrators sign in')
  const strict = await newBeneficiary(cast.person.api)
  const policy = { name: 'strict', beneficiary_ids: [strict], approval_threshold_minor: '1' }
  expect((await cast.person.api.post('/v1/spending-policies', policy)).status).toBe(201)
  stage = {
    world,
    cast,
    strict,
    survivor,
    administrators: [first, second],
    heir: controlsOf(heir),
  }
  next = world.startPuppet()
  const funded = await cast.api.post('/v1/topups/initiate', { amount_minor: '20000000', phone_number: '254722000001' })
  await until(async () => (await cast.api.get(`/v1/topups/${funded.body.id}`)).body.status === 'succeeded', 30_000)
}, 180_000)
afterAll(async () => {
  await killAll()
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

const until = async (met: () => Promise<boolean>, withinMs: number): Promise<number> => {
  const from = performance.now()
  while (!(await met())) {
    if (performance.now() - from > withinMs) throw new Error(`it took longer than ${withinMs} ms`)
    await wait(25)
  }
  return performance.now() - from
}

/** Kills (-9) the victim when it sends message number `at`, which still arrives or does not, by the seed. */
const killAt = (victim: Puppet, at: number): void =>
  world.proxy.arm(({ number }) => {
    if (number !== at) return 'forward'
    victim.process.kill('SIGKILL')
    return random.below(2) === 0 ? 'cut' : 'forward_then_cut'
  })

/**
 * A dead process's attempt stays leased to it until its time is up; then another process takes it at once. This advances the
 * provider's time, and with it all processes' time, to that moment.
 */
const passLease = async (): Promise<boolean> => {
  const [held] = await world.sql<{ until: Date }>(
    `select max(next_check_at) as until from rail_attempts a where state in ('recorded', 'sending', 'lost', 'submitted') and next_check_at is not null
     having count(*) > 0 union all select max(dispatch_due_at) from payments where dispatch_due_at is not null having count(*) > 0`,
  )
  if (!held) return false
  const seconds = Math.ceil((held.until.getTime() - Date.now() - (await world.provider.ahead())) / 1000)
  if (seconds > 0) await world.provider.advance(seconds + 1)
  return true
}

/** Waits until the act has ended. Each wait has its bound. In between, time passes only for another process's lease. */
const recover = async (ready: Ready): Promise<{ slowestMs: number; leases: number }> => {
  stage.heir.resume()
  for (let leases = 0; ; leases += 1) {
    try {
      return { slowestMs: await until(ready.ended, recoverWithinMs), leases }
    } catch (error) {
      if (leases === 4 || !(await passLease())) throw error
    }
  }
}

const killOnce = async (act: Act, at: number) => {
  const before = await underWay()
  const ready = await act.prepare(stage)
  const victim = await next
  await ready.before?.(victim)
  killAt(victim, at)
  const first = await ready.act(victim).catch(() => undefined)
  const seen = world.proxy.disarm()
  expect(seen, 'messages of the victim').toBeGreaterThan(0)
  const died = seen >= at
  if (died) {
    await victim.process.ended
    if (isFull || pointCount > 1) next = world.startPuppet()
    next.catch(() => undefined)
  }
  try {
    const again = await ready.again?.()
    if (again) expect(again.status, `${act.name}, message ${at}: ${again.text}`).toBeLessThan(300)
    if (again && first) expect(again.text).toBe((first as { text: string }).text)
    return { died, ...(await recover(ready)) }
  } catch (error) {
    // The next acts need it.
    stage.heir.resume()
    const places = { before, after: await underWay() }
    throw new Error(`${act.name}, killed at message ${at}: ${JSON.stringify(places)}`, { cause: error })
  }
}

/** For a person who looks for the reason: unfinished work, and how far its sending came. */
const underWay = () =>
  world.sql(
    `select a.kind, a.rail, a.state, a.checks, a.created_at, a.next_check_at, coalesce(p.status, t.status) as status
     from rail_attempts a left join payments p on p.id = a.subject_id left join topups t on t.id = a.subject_id
     where a.state not in ('resolved', 'not_sent') order by a.created_at desc limit 5`,
  )

/** The number of sends that may have left. */
const leftOpen = async (): Promise<number> =>
  (await world.sql<{ count: number }>("select count(*)::int from rail_attempts where state = 'lost'"))[0]?.count ?? 0

test.each(tried)(
  `a process that is killed at any message of $name leaves it whole or undone, and another one ends it within ${recoverWithinMs / 1000} seconds`,
  async (act) => {
    let [kills, slowestMs, leases] = [0, 0, 0]
    const leftBefore = await leftOpen()
    // An act that fails after others may fail because of their leftovers.
    const held = await underWay()
    if (held.length > 0) process.stderr.write(`${act.name}: under way before it: ${JSON.stringify(held)}\n`)
    for (const at of pointsOf(act.name)) {
      const { died, ...took } = await killOnce(act, at)
      slowestMs = Math.max(slowestMs, took.slowestMs)
      leases += took.leases
      if (!died) break
      kills += 1
    }
    report('process_kills', kills)
    report('slowest_recovery_ms', Math.round(slowestMs))
    report('leases_waited_for', leases)
    const left = (await leftOpen()) - leftBefore
    report('left_to_a_person', left)
    // A process is killed at a message to the database, never between its send log and its first byte.
    expect(left).toBe(0)
    // Rows written before time was moved wait for the next sweep, which seals them.
    if (isFull) await (await next).sweep()
    expect(await world.faults()).toEqual([])
  },
  isFull ? 3_600_000 : 240_000,
)
