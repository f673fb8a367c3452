import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startEmbeddedPostgres } from '../../src/embedded-postgres/start.ts'
import { startFloor } from './floor.ts'
import { type Target, throughput } from './load.ts'
import { type Payer, preparePayers } from './prepare.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    payers: { type: 'string', default: '100' },
  },
})
const rounds = Number(values.rounds)
const load = { connections: Number(values.connections), seconds: Number(values.seconds) }

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

const startService = async (databaseUrl: string, dataDir: string): Promise<{ url: string; child: ChildProcess }> => {
  const port = await freePort()
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    PORT: String(port),
    OPERATOR_PORT: String(await freePort()),
    JOBS: 'off',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_ENABLED: 'false',
  }
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../src/server.ts', import.meta.url))], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://localhost:${port}`
  for (let tries = 0; tries < 300; tries += 1) {
    const ready = await fetch(`${url}/readyz`).catch(() => undefined)
    if (ready?.ok) return { url, child }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the service did not get ready')
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
const summary = (ratios: readonly number[]) => ({
  median: median(ratios),
  min: Math.min(...ratios),
  max: Math.max(...ratios),
  rounds: ratios.length,
})

const targets = (service: string, floor: string, payers: readonly Payer[]) => {
  const payer = (n: number): Payer => payers[n % payers.length] as Payer
  const bearer = (n: number) => ({ authorization: `Bearer ${payer(n).key}` })
  const run = randomBytes(6).toString('hex')
  const pay = (of: (n: number) => Payer): Target => ({
    url: new URL('/v1/payments', service),
    method: 'POST',
    headers: (n) => ({ authorization: `Bearer ${of(n).key}`, 'idempotency-key': `${run}-${randomBytes(8).toString('hex')}` }),
    body: (n) => JSON.stringify({ beneficiary_id: of(n).beneficiary, amount_minor: '10000' }),
    expect: 201,
  })
  const lookup = payer(0).key.slice('service_live_'.length, 'service_live_'.length + 12)
  return {
    read: {
      url: new URL('/v1/workspaces/current', service),
      method: 'GET',
      headers: bearer,
      body: () => undefined,
      expect: 200,
    } satisfies Target,
    readFloor: {
      url: new URL(`/read/${lookup}`, floor),
      method: 'GET',
      headers: () => ({}),
      body: () => undefined,
      expect: 200,
    } satisfies Target,
    pay: pay(payer),
    payHot: pay(() => payer(0)),
    payFloor: {
      url: new URL('/pay', floor),
      method: 'POST',
      headers: () => ({}),
      body: (n) => JSON.stringify({ key: randomBytes(12).toString('hex'), account: n % payers.length }),
      expect: 201,
    } satisfies Target,
  }
}

const folder = await mkdtemp(join(tmpdir(), 'payments-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres') })
const service = await startService(postgres.url, folder)
const floor = await startFloor(postgres.url)
try {
  const to = targets(service.url, floor.url, await preparePayers(service.url, postgres.url, Number(values.payers)))
  const ratios: Record<'read' | 'pay' | 'pay_hot', number[]> = { read: [], pay: [], pay_hot: [] }
  for (const target of Object.values(to)) await throughput(target, { ...load, seconds: 1 })
  for (let round = 1; round <= rounds; round += 1) {
    const read = await throughput(to.read, load)
    ratios.read.push(read / (await throughput(to.readFloor, load)))
    const paid = await throughput(to.pay, load)
    ratios.pay.push(paid / (await throughput(to.payFloor, load)))
    ratios.pay_hot.push((await throughput(to.payHot, load)) / paid)
    console.log(`round ${round} of ${rounds}`)
  }
  const result = Object.fromEntries(Object.entries(ratios).map(([name, list]) => [name, summary(list)]))
  for (const [name, { median: middle, min, max }] of Object.entries(result)) {
    console.log(`${name.padEnd(8)} ${middle.toFixed(2)}  (${min.toFixed(2)} … ${max.toFixed(2)})`)
  }
  await writeFile('bench-result.json', `${JSON.stringify({ at: new Date().toISOString(), ...load, result }, null, 2)}\n`)
} finally {
  service.child.kill('SIGTERM')
  await new Promise((resolve) => service.child.once('exit', resolve))
  await floor.stop()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
