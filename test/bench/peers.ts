import { execFile, spawn } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findGenerator, type Load } from './load.ts'
import { preparePayers, reads } from './prepare.ts'
import { type Bench, startService } from './processes.ts'
import { row, save, say, spread } from './report.ts'

const run = promisify(execFile)
const server = fileURLToPath(new URL('./peer-server.ts', import.meta.url))

/** Installed into the bench's own folder: never a dependency of the service. */
const packages = ['better-auth@1.7.5', '@better-auth/api-key@1.7.5', 'pg@8', 'fastify@5']

/** P4: a check of an API key, by this service and by better-auth, on the same Postgres, in turn. */
export const measurePeers = async (
  bench: Bench,
  { rounds, seconds, write }: { rounds: number; seconds: number; write: boolean },
): Promise<void> => {
  const folder = join(bench.folder, 'peers')
  await mkdir(folder)
  say('Installing better-auth, for this run alone.')
  await run('npm', ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--prefix', folder, ...packages], {
    maxBuffer: 1e7,
  })
  await cp(server, join(folder, 'peer-server.mts'))
  const child = spawn(process.execPath, [join(folder, 'peer-server.mts'), bench.databaseUrl], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`better-auth did not start (${code})`)))
  })
  const service = await startService(bench.databaseUrl, bench.folder)
  try {
    const { measure } = await findGenerator()
    const peer = JSON.parse(line) as { url: string; key: string }
    const floorLoad: Load = {
      name: 'better-auth',
      url: peer.url,
      requests: [{ method: 'GET', path: '/check', credential: peer.key }],
    }
    const payers = await preparePayers(service.url, bench, 20)
    const ours: Load = { name: 'ours', url: service.url, requests: reads(payers.map(({ key }) => key)) }
    const ratios: number[] = []
    for (const load of [ours, floorLoad]) await measure(load, { connections: 32, seconds: 1 })
    for (let round = 1; round <= rounds; round += 1) {
      const mine = await measure(ours, { connections: 32, seconds })
      ratios.push(mine.perSecond / (await measure(floorLoad, { connections: 32, seconds })).perSecond)
    }
    const result = [{ name: "check of an API key ÷ better-auth's", goal: '≥ 12', ...spread(ratios) }]
    for (const one of result) say(row(one.name, one, one.goal))
    await save('peers', result, write)
  } finally {
    child.kill()
    await service.stop()
  }
}
