import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findGenerator, type Load, openTurns } from './load.ts'
import { preparePayers, reads, refreshTokens } from './prepare.ts'
import { type Bench, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'
import type { Turns } from './turns.ts'

const run = promisify(execFile)

/** Installed into the bench's own folder: never a dependency of the service. */
const packages = ['better-auth@1.7.5', '@better-auth/api-key@1.7.5', 'oidc-provider@9', 'viem@2', 'pg@8', 'fastify@5']

const connections = 32

const firstLine = (child: ChildProcess, name: string): Promise<string> =>
  new Promise((resolve, reject) => {
    if (!child.stdout) throw new Error('a process was started without its output')
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`${name} did not start (${code})`)))
  })

const betterAuthServer = fileURLToPath(new URL('./peer-server.ts', import.meta.url))
const oidcServer = fileURLToPath(new URL('./peer-oidc.ts', import.meta.url))

const startPeer = async (folder: string, file: string, args: readonly string[]): Promise<{ line: string; stop: () => void }> => {
  const copy = join(folder, `${basename(file, '.ts')}.mts`)
  await cp(file, copy)
  const child = spawn(process.execPath, [copy, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  return { line: await firstLine(child, file), stop: () => void child.kill() }
}

type Options = { rounds: number; seconds: number; write: boolean }
type Row = { name: string; goal: string; values: number[] }

const inTurn = async (rounds: number, ours: () => Promise<number>, theirs: () => Promise<number>): Promise<number[]> => {
  const ratios: number[] = []
  for (const one of [ours, theirs]) await one()
  for (let round = 1; round <= rounds; round += 1) ratios.push((await ours()) / (await theirs()))
  return ratios
}

/**
 * P4, on the same Postgres, in turn: a check of an API key and a sign-in with a wallet by this service and by better-auth, a rotation of a
 * refresh token by this service and by oidc-provider; and what 100 sign-ins a second do to other requests.
 */
export const measurePeers = async (bench: Bench, { rounds, seconds, write }: Options): Promise<void> => {
  const folder = join(bench.folder, 'peers')
  await mkdir(folder)
  say('Installing better-auth and oidc-provider, for this run alone.')
  await run('npm', ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--prefix', folder, ...packages], {
    maxBuffer: 1e7,
  })
  const betterAuth = await startPeer(folder, betterAuthServer, [bench.databaseUrl])
  const oidc = await startPeer(folder, oidcServer, [bench.databaseUrl, String(connections)])
  const service = await startService(bench.databaseUrl, bench.folder)
  const stops = [betterAuth.stop, oidc.stop]
  try {
    const { measure } = await findGenerator()
    const peer = JSON.parse(betterAuth.line) as { url: string; key: string }
    const payers = await preparePayers(service.url, bench, connections)
    const load = (name: string, url: string, requests: Load['requests']): Load => ({ name, url, requests })
    const checks = {
      ours: load('ours', service.url, reads(payers.map(({ key }) => key))),
      theirs: load('better-auth', peer.url, [{ method: 'GET', path: '/check', credential: peer.key }]),
    }
    const perSecond = async (one: Load) => (await measure(one, { connections, seconds })).perSecond
    const open = async (turns: Turns) => {
      const opened = await openTurns(turns)
      stops.push(opened.stop)
      return opened
    }
    const signIns = {
      ours: await open({ kind: 'sign_in', dialect: 'ours', url: service.url, wallets: connections }),
      theirs: await open({ kind: 'sign_in', dialect: 'better-auth', url: peer.url, wallets: connections }),
    }
    const refreshes = {
      ours: await open(await refreshTokens(bench, payers, service.url)),
      theirs: await open({ kind: 'refresh', ...(JSON.parse(oidc.line) as Omit<Extract<Turns, { kind: 'refresh' }>, 'kind'>) }),
    }
    const rows: Row[] = [
      {
        name: "check of an API key ÷ better-auth's",
        goal: '≥ 12',
        values: await inTurn(
          rounds,
          () => perSecond(checks.ours),
          () => perSecond(checks.theirs),
        ),
      },
      {
        name: "rotation of a refresh token ÷ oidc-provider's with Postgres",
        goal: '≥ 3',
        values: await inTurn(
          rounds,
          () => refreshes.ours.measure(seconds),
          () => refreshes.theirs.measure(seconds),
        ),
      },
      {
        name: "sign-in with a wallet ÷ better-auth's",
        goal: '≥ 2',
        values: await inTurn(
          rounds,
          () => signIns.ours.measure(seconds),
          () => signIns.theirs.measure(seconds),
        ),
      },
    ]
    const p99 = async () => (await measure(checks.ours, { connections: 4, seconds })).p99Ms
    const nothing = await open({ kind: 'nothing', url: service.url, callers: connections })
    const more: Row = { name: "ms more at a read's p99 with 100 sign-ins a second", goal: '≤ 5', values: [] }
    const control: Row = { name: "ms more at a read's p99 with as many requests that do nothing", goal: '', values: [] }
    for (let round = 1; round <= rounds; round += 1) {
      const alone = await p99()
      for (const [{ values }, turns] of [[more, signIns.ours] as const, [control, nothing] as const]) {
        const [beside] = await Promise.all([p99(), turns.measure(seconds, 100)])
        values.push(beside - alone)
      }
    }
    const result = [...rows, more, control].map(({ name, goal, values }) => ({ name, goal, ...spread(values) }))
    for (const one of result) say(row(one.name, one, one.goal))
    await save('peers', result, write)
  } finally {
    for (const stop of stops) stop()
    await service.stop()
  }
}
