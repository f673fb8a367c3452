import { readFile } from 'node:fs/promises'
import { findGenerator, type Load, type Measured, pgbench } from './load.ts'
import { accessTokens, payments, preparePayers, reads } from './prepare.ts'
import { type Bench, cpuSeconds, type Started, startFloor, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'

export type RatioOptions = {
  rounds: number
  seconds: number
  payers: number
  statements: boolean
  write: boolean
  only: RegExp | undefined
}

/**
 * A service that runs for days is measured, not one that has just begun: V8 still compiles for some 50,000 payments, in which each costs Node less and
 * less.
 */
const warmSeconds = { read: 5, payment: 60 } as const

type Taken = Measured & { nodeMs: number; postgresMs: number }

const spreadFloor = `\\set who random(0, 99)\n\\set k random(1, 9000000000000000)\nselect bench.pay(:k::text, :who, 10000);\n`
const hotFloor = `\\set k random(1, 9000000000000000)\nselect bench.pay(:k::text, 500, 10000);\n`

const topStatements = async (bench: Bench): Promise<string> => {
  const rows = await bench.query(
    `select round(mean_exec_time::numeric, 3) as run, round(mean_plan_time::numeric, 3) as plan, calls, plans,
       left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as text
     from pg_stat_statements where query !~* 'bench\\.|pg_stat' order by total_exec_time + total_plan_time desc limit 10`,
  )
  const lines = rows.map(
    ({ run, plan, calls, plans, text }) => `  ${run} ms + plan ${plan} ms, ${calls} calls, ${plans} plans: ${text}`,
  )
  return ['The ten statements that cost most:', ...lines].join('\n')
}

/** Each flush of the log waits so many microseconds, also where no other transaction could join it. */
const setCommitDelay = async (bench: Bench, microseconds: number): Promise<void> => {
  await bench.query('alter system set commit_siblings = 0')
  await bench.query(`alter system set commit_delay = ${microseconds}`)
  await bench.query('select pg_reload_conf()')
}

const measurer =
  (
    service: Started,
    bench: Bench,
    generate: (load: Load, options: { connections: number; seconds: number }) => Promise<Measured>,
  ) =>
  async (load: Load, connections: number, seconds: number): Promise<Taken> => {
    const before = [cpuSeconds(service.pid), cpuSeconds(bench.postgresPid)] as const
    const measured = await generate(load, { connections, seconds })
    const done = Math.max(1, measured.perSecond * seconds)
    if (measured.refused + measured.failed > 0) say(`  ${load.name}: ${measured.refused} refused, ${measured.failed} failed`)
    return {
      ...measured,
      nodeMs: ((cpuSeconds(service.pid) - before[0]) * 1000) / done,
      postgresMs: ((cpuSeconds(bench.postgresPid) - before[1]) * 1000) / done,
    }
  }

/** Ratios to the baselines of the same moment: service, baseline, service, baseline. */
export const measureRatios = async (bench: Bench, options: RatioOptions): Promise<void> => {
  const service = await startService(bench.databaseUrl, bench.folder)
  await bench.query(await readFile(new URL('./floors.sql', import.meta.url), 'utf8'))
  const floor = await startFloor(bench.databaseUrl)
  try {
    const generator = await findGenerator()
    const take = measurer(service, bench, generator.measure)
    const payers = await preparePayers(service.url, bench, options.payers)
    const tokens = await accessTokens(bench, payers, service.url)
    const lookup = payers[0]?.key.slice('service_live_'.length, 'service_live_'.length + 12)
    const to = (name: string, requests: Load['requests']): Load => ({ name, url: service.url, requests })
    const readFloor = {
      name: 'floor',
      url: floor.url,
      requests: [{ method: 'GET', path: `/read/${lookup}`, credential: '' }],
    } satisfies Load
    const kinds = {
      'read, API key': to('read, API key', reads(payers.map(({ key }) => key))),
      'read, session': to('read, session', reads(payers.map(({ session }) => `cookie ${session}`))),
      'read, access token': to('read, access token', reads(tokens)),
    }
    const spreadLoad = to('payments', payments(payers))
    const hotLoad = to('payments, one account', payments(payers.slice(0, 1)))
    const isSelected = (name: string) => options.only?.test(name) ?? true

    const lists = new Map<string, { goal: string; values: number[]; digits: number }>()
    const note = (name: string, value: number | undefined, goal = '', digits = 2) => {
      if (value === undefined || !Number.isFinite(value)) return
      const list = lists.get(name) ?? { goal, values: [], digits }
      list.values.push(value)
      lists.set(name, list)
    }
    const noteCpu = (name: string, { nodeMs, postgresMs }: Taken, goal: string) => {
      note(`${name}: ms of Node`, nodeMs, '', 3)
      note(`${name}: ms of Postgres`, postgresMs, '', 3)
      note(`${name}: ms of both`, nodeMs + postgresMs, goal, 3)
    }
    const { seconds } = options

    const readRound = async () => {
      for (const [name, load] of Object.entries(kinds)) {
        if (!isSelected(name)) continue
        const ours = await take(load, 32, seconds)
        const floorBefore = cpuSeconds(floor.pid) + cpuSeconds(bench.postgresPid)
        const floorResult = await generator.measure(readFloor, { connections: 32, seconds })
        const floorSeconds = cpuSeconds(floor.pid) + cpuSeconds(bench.postgresPid) - floorBefore
        const floorMs = (floorSeconds * 1000) / Math.max(1, floorResult.perSecond * seconds)
        note(`${name} ÷ pool + one named query`, ours.perSecond / floorResult.perSecond, '≥ 2.0')
        if (name === 'read, API key') noteCpu('read', ours, '≤ 0.08')
        if (name === 'read, API key')
          note('read: ms of both ÷ ms of both of the pool', (ours.nodeMs + ours.postgresMs) / floorMs, '≤ 0.6')
        if (name === 'read, API key') note('read: per second', ours.perSecond, '', 0)
      }
    }
    /** The same service, statements and answers; a rule of the database lets no event be written. */
    const takeWithoutEvents = async () => {
      await bench.query('create rule no_events as on insert to events do instead nothing')
      try {
        return await take(spreadLoad, 32, seconds)
      } finally {
        await bench.query('drop rule no_events on events')
      }
    }
    const floorsNow = async () => {
      const before = cpuSeconds(bench.postgresPid)
      const spreadPerSecond = await pgbench(bench.databaseUrl, spreadFloor, { connections: 10, seconds })
      const ms = spreadPerSecond && ((cpuSeconds(bench.postgresPid) - before) * 1000) / (spreadPerSecond * seconds)
      return { spread: spreadPerSecond, ms, hot: await pgbench(bench.databaseUrl, hotFloor, { connections: 10, seconds }) }
    }
    const goals: Record<number, [string, string]> = { 10: ['≥ 0.25', ''], 32: ['≥ 0.5', '≥ 1.5'], 128: ['≥ 0.8', '≥ 2.5'] }
    const payRound = async () => {
      if (!isSelected('payments')) return
      const floors = await floorsNow()
      for (const connections of [10, 32, 128]) {
        const [goal = '', hotGoal = ''] = goals[connections] ?? []
        const paid = await take(spreadLoad, connections, seconds)
        note(`payment, spread, ${connections} connections ÷ pgbench`, floors.spread && paid.perSecond / floors.spread, goal)
        if (connections === 32) {
          noteCpu('payment', paid, '≤ 0.37')
          // The goal in milliseconds is the baseline's on the machine where it was set, and a quarter more.
          note(
            "payment: ms of both ÷ ms of pgbench's Postgres",
            floors.ms && (paid.nodeMs + paid.postgresMs) / floors.ms,
            '≤ 1.25',
          )
          note('payment: p99 ÷ mean', paid.p99Ms / paid.meanMs, '≤ 4')
          note('payment: per second', paid.perSecond, '', 0)
          note('payment: events on ÷ off', paid.perSecond / (await takeWithoutEvents()).perSecond, '≥ 0.9')
        }
        if (connections === 10) continue
        const hot = await take(hotLoad, connections, seconds)
        note(`payment, one account, ${connections} connections ÷ spread`, hot.perSecond / paid.perSecond, '≥ 0.8')
        note(`payment, one account, ${connections} connections ÷ pgbench's`, floors.hot && hot.perSecond / floors.hot, hotGoal)
      }
    }

    /** A disk of this machine answers in a tenth of a millisecond, which flatters what commits often; one over a network takes one. */
    const slowDiskRound = async () => {
      if (!isSelected('payments')) return
      await setCommitDelay(bench, 1000)
      try {
        const floors = await floorsNow()
        for (const connections of [32, 128]) {
          const [goal, hotGoal] = goals[connections] ?? []
          const paid = await take(spreadLoad, connections, seconds)
          const hot = await take(hotLoad, connections, seconds)
          const name = (what: string) => `commits take 1 ms: payment, ${what}, ${connections} connections`
          note(`${name('spread')} ÷ pgbench`, floors.spread && paid.perSecond / floors.spread, goal)
          note(`${name('one account')} ÷ pgbench's`, floors.hot && hot.perSecond / floors.hot, hotGoal)
        }
      } finally {
        await setCommitDelay(bench, 0)
      }
    }

    /** Dead rows of a balance that is updated without pause could make each payment slower than the one before. */
    const sustain = async () => {
      if (!isSelected('payments')) return
      const fresh = to('payments, another account', payments(payers.slice(1, 2)))
      const slices: number[] = []
      for (let slice = 0; slice < 12; slice += 1) slices.push((await take(fresh, 32, 5)).perSecond)
      const sum = (list: readonly number[]) => list.reduce((total, value) => total + value, 0)
      note('payment, one account: last 15 of 60 seconds ÷ first 15', sum(slices.slice(-3)) / sum(slices.slice(0, 3)), '≥ 0.8')
    }

    say(`Load by ${generator.name}; ready after ${service.readyMs.toFixed(0)} ms.`)
    for (const load of Object.values(kinds)) await take(load, 32, warmSeconds.read)
    await take(spreadLoad, 32, warmSeconds.payment)
    await bench.query('select pg_stat_statements_reset()')
    for (let round = 1; round <= options.rounds; round += 1) {
      await readRound()
      await payRound()
      await slowDiskRound()
      say(`round ${round} of ${options.rounds}`)
    }
    await sustain()
    const result = [...lists].map(([name, { goal, values, digits }]) => ({ name, goal, digits, ...spread(values) }))
    for (const one of result) say(row(one.name, one, one.goal, one.digits))
    if (options.statements) say(await topStatements(bench))
    await save('ratios', result, options.write, { generator: generator.name, seconds: options.seconds })
  } finally {
    await service.stop()
    await floor.stop()
  }
}
