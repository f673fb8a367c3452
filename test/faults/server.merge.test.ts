import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { runningPostmaster } from '../../src/dev/embedded-postgres/postmaster.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/dev/embedded-postgres/start.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { findFaults } from './belief.ts'
import { report } from './report.ts'
import { isFull } from './world.ts'

const run = promisify(execFile)
const recoverWithinMs = 10_000

/** A separate server to freeze, kill and fill. All other tests share one. */
describe.runIf(isFull)('the database server', () => {
  let folder: string
  let server: EmbeddedPostgres
  let service: TestService
  let person: Person
  let payee: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'faults-server-'))
    // For root, the server runs as another user, who needs access.
    await chmod(folder, 0o755)
    server = await startEmbeddedPostgres({ dataDir: folder })
    await migrate(server.url)
    service = await startService({ database: { url: server.url, drop: async () => undefined } })
    person = await signIn(service.api)
    await credit(service, person.accountId, 1_000_000_000n)
    payee = await newBeneficiary(person.api)
  }, 180_000)
  afterAll(async () => {
    await service.close()
    await service.sandbox.close()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const pay = (key: string) => person.api.post('/v1/payments', { beneficiary_id: payee, amount_minor: '100000' }, { key })
  const readiness = async () => (await service.api.get('/readyz')).status

  const postmaster = async (): Promise<number> => {
    const running = await runningPostmaster(join(folder, 'cluster', 'data'))
    if (!running) throw new Error('no server is running')
    return running.pid
  }
  /** Signals the server and all of its processes. */
  const signalAll = async (signal: NodeJS.Signals): Promise<void> => {
    const pid = await postmaster()
    const { stdout } = await run('pgrep', ['-P', String(pid)])
    for (const each of [pid, ...stdout.trim().split('\n').map(Number)]) process.kill(each, signal)
  }
  const recovered = async (key: string): Promise<number> => {
    const from = performance.now()
    while ((await pay(key)).status !== 201 || (await readiness()) !== 200) {
      if (performance.now() - from > recoverWithinMs) throw new Error(`it did not recover within ${recoverWithinMs} ms`)
      await wait(50)
    }
    return performance.now() - from
  }
  const sound = async () => {
    await service.settle()
    expect([...(await findFaults(server.url, service.sandbox.movements())), ...(await findBreaches(service))]).toEqual([])
  }

  test('when frozen, requests get 503 in time, and the service recovers without a restart', async () => {
    expect((await pay('before')).status).toBe(201)
    await signalAll('SIGSTOP')
    const from = performance.now()
    const [refused, ready] = await Promise.all([pay('frozen'), readiness()]).finally(() => signalAll('SIGCONT'))
    report('answered_while_frozen_ms', Math.round(performance.now() - from))
    expect([refused.status, ready]).toEqual([503, 503])
    report('recovered_from_a_frozen_server_ms', Math.round(await recovered('frozen')))
    await sound()
  }, 180_000)

  test('when killed and started again, nothing acknowledged is lost, and the service reconnects without a restart', async () => {
    const kept = await Promise.all(Array.from({ length: 20 }, (_, index) => pay(`kept ${index}`)))
    const under = Array.from({ length: 20 }, (_, index) => pay(`under way ${index}`))
    process.kill(await postmaster(), 'SIGQUIT')
    const cut = await Promise.all(under)
    expect(cut.every(({ status }) => status === 201 || status === 503)).toBe(true)
    expect((await pay('while down')).status).toBe(503)
    await server.stop().catch(() => undefined)
    server = await startEmbeddedPostgres({ dataDir: folder, port: server.port })
    report('recovered_from_a_killed_server_ms', Math.round(await recovered('while down')))
    const again = await Promise.all(kept.map((_, index) => pay(`kept ${index}`)))
    expect(again.map(({ body }) => body.id)).toEqual(kept.map(({ body }) => body.id))
    for (const [index, { status, body }] of cut.entries()) {
      const answer = await pay(`under way ${index}`)
      expect(answer.status).toBe(201)
      if (status === 201) expect(answer.body.id).toBe(body.id)
    }
    await sound()
  }, 240_000)

  /** False, with a warning, if no disk can be mounted. */
  const mounted = async (disk: string, size: string): Promise<boolean> => {
    await mkdir(disk)
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk])
      return true
    } catch (error) {
      console.warn(`NOT TRIED: a full disk, because none can be mounted here (${error instanceof Error ? error.message : error})`)
      return false
    }
  }
  const fill = async (disk: string) => {
    for (let kilobytes = 512; kilobytes >= 4; kilobytes /= 2)
      for (let part = 0; ; part += 1) {
        const full = await writeFile(join(disk, `ballast-${kilobytes}-${part}`), Buffer.alloc(kilobytes * 1024)).then(
          () => false,
          () => true,
        )
        if (full) break
      }
  }
  const empty = async (disk: string) => {
    const { stdout } = await run('sh', ['-c', `rm -f ${disk}/ballast-*; df ${disk} | tail -1`])
    expect(stdout).toContain(disk)
  }

  test('with a full disk, requests get 503, nothing is half done, and the same requests succeed when there is space again', async () => {
    const disk = join(folder, 'disk')
    if (!(await mounted(disk, '1m'))) return
    try {
      const { uid, gid } = await stat(join(folder, 'cluster', 'data'))
      await mkdir(join(disk, 'space'))
      await chown(join(disk, 'space'), uid, gid)
      await service.deps.db.query(`create tablespace tiny location '${join(disk, 'space')}'`)
      await service.deps.db.query('alter table payments set tablespace tiny')
      await fill(disk)
      let refused = ''
      for (let tries = 0; refused === '' && tries < 200; tries += 1) {
        const { status, body, headers } = await pay(`full ${tries}`)
        if (status === 201) continue
        expect([status, body.error, headers.get('retry-after')]).toEqual([503, 'unavailable', expect.any(String)])
        refused = `full ${tries}`
      }
      expect(refused).not.toBe('')
      await empty(disk)
      expect((await pay(refused)).status).toBe(201)
      await service.deps.db.query('alter table payments set tablespace pg_default')
      await service.deps.db.query('drop tablespace tiny')
      await sound()
    } finally {
      await run('umount', ['-l', disk])
    }
  }, 180_000)

  test('with a full disk of the write-ahead log, requests get 503, and nothing acknowledged is lost when the server starts with space again', async () => {
    const disk = join(folder, 'log')
    if (!(await mounted(disk, '128m'))) return
    const log = join(folder, 'cluster', 'data', 'pg_wal')
    try {
      await server.stop()
      await run('sh', ['-c', `cp -a ${log} ${disk}/pg_wal && mv ${log} ${log}-before && ln -s ${disk}/pg_wal ${log}`])
      server = await startEmbeddedPostgres({ dataDir: folder, port: server.port })
      await recovered('log 0')
      await fill(disk)
      const kept = new Map<string, string>()
      let refused = ''
      for (let tries = 1; refused === '' && tries < 100; tries += 1) {
        const { status, body } = await pay(`log ${tries}`)
        if (status === 201) kept.set(`log ${tries}`, body.id)
        else {
          expect([status, body.error]).toEqual([503, 'unavailable'])
          refused = `log ${tries}`
        }
        // Switches to the next log file, until no space for 16 MB is left.
        await service.deps.db.query('select pg_switch_wal()').catch(() => undefined)
      }
      expect(refused).not.toBe('')
      expect(kept.size).toBeGreaterThan(0)
      await expect.poll(readiness).toBe(503)
      await empty(disk)
      await server.stop().catch(() => undefined)
      server = await startEmbeddedPostgres({ dataDir: folder, port: server.port })
      report('recovered_from_a_full_log_ms', Math.round(await recovered(refused)))
      for (const [key, id] of kept) expect((await pay(key)).body.id).toBe(id)
      await sound()
      await server.stop()
      await run('sh', ['-c', `rm ${log} && rm -rf ${log}-before && cp -a ${disk}/pg_wal ${log}`])
      server = await startEmbeddedPostgres({ dataDir: folder, port: server.port })
    } finally {
      await run('umount', ['-l', disk])
    }
  }, 240_000)
})
