import { execFile } from 'node:child_process'
import { appendFile, chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { catchUpTransactionIds } from '../../src/db/start.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/dev/embedded-postgres/start.ts'
import { markWaitingUnknown } from '../../src/modules/exceptions/losses-service.ts'
import { shellOperator } from '../../src/modules/operators.ts'
import { credit } from '../harness/money.ts'
import { signIn } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { findBreaches } from '../harness/verify.ts'
import { ordersTo, pass, pay, paymentOf } from '../rails-flows/scene.ts'
import { isFull } from './world.ts'

const run = promisify(execFile)
const payee = (phone: string) => ({ payment_rail: 'MPESA_B2C', destination: phone })
const servers: EmbeddedPostgres[] = []
const folders: string[] = []
let provider: TestService | undefined
afterAll(async () => {
  await provider?.sandbox.close()
  for (const server of servers) await server.stop().catch(() => undefined)
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

const newFolder = async (name: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), `faults-${name}-`))
  await chmod(folder, 0o755)
  folders.push(folder)
  return folder
}

/** The files of a running server, copied between `pg_backup_start` and `pg_backup_stop`. */
const baseBackup = async (url: string, data: string, into: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`select pg_backup_start('a rehearsal', true)`)
  await mkdir(join(into, 'cluster'), { recursive: true })
  // A file that disappears while it is copied is restored from the log.
  await run('sh', ['-c', `cp -a "${data}" "${into}/cluster/data" || true`])
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
  await client.end()
  await rm(join(into, 'cluster', 'data', 'postmaster.pid'), { force: true })
  await rm(join(into, 'cluster', 'data', 'pg_wal'), { recursive: true, force: true })
  await run('sh', [
    '-c',
    `d="${into}/cluster/data"; mkdir -p "$d/pg_wal/archive_status"; chmod -R 700 "$d/pg_wal"; chown -R --reference="$d" "$d/pg_wal"`,
  ])
  await writeFile(join(into, 'cluster', 'data', 'backup_label'), rows[0]?.labelfile ?? '')
  await cp(join(data, '..', 'password'), join(into, 'cluster', 'password'))
}

describe.runIf(isFull)('a base backup and the write-ahead log after it', () => {
  test('restored to a moment, has what was acknowledged before it, and what was paid after it is not paid again', async () => {
    const [original, archive, copy] = [await newFolder('original'), await newFolder('archive'), await newFolder('copy')]
    await chmod(archive, 0o777)
    const archiving = { wal_level: 'replica', archive_mode: 'on', archive_command: `cp %p ${archive}/%f`, max_wal_senders: '2' }
    const first = await startEmbeddedPostgres({ dataDir: original, settings: archiving })
    servers.push(first)
    await migrate(first.url)
    const before = await startService({ database: { url: first.url, drop: async () => undefined } })
    provider = before
    const person = await signIn(before.api)
    await credit(before, person.accountId, 10_000_000n)
    await pay(person, payee('254722000301'))
    await before.settle()
    await baseBackup(first.url, join(original, 'cluster', 'data'), copy)

    // After the backup, before the moment: acknowledged, and waiting to be sent.
    const acknowledged = await pay(person, payee('254722000302'))
    const [moment] = await before.deps.db.query<{ at: string }>('select clock_timestamp()::text as at')
    await before.deps.db.query('select pg_sleep(0.05)')
    // After the moment: the provider pays both, and the restored database knows neither.
    await pay(person, payee('254722000303'))
    await before.settle()
    expect([ordersTo(before, '254722000302').length, ordersTo(before, '254722000303').length]).toEqual([1, 1])
    await before.deps.db.query('select pg_switch_wal()')
    await before.stop()
    await first.stop()
    const rest = join(original, 'cluster', 'data', 'pg_wal')
    await run('sh', [
      '-c',
      `for f in "${rest}"/0*; do [ -e "${archive}/$(basename $f)" ] || cp "$f" "${archive}/"; done; chmod a+r "${archive}"/*`,
    ])

    const data = join(copy, 'cluster', 'data')
    await appendFile(
      join(data, 'postgresql.auto.conf'),
      `\nrestore_command = 'cp ${archive}/%f %p'\nrecovery_target_time = '${moment?.at}'\nrecovery_target_action = 'promote'\n`,
    )
    await writeFile(join(data, 'recovery.signal'), '')
    await run('sh', [
      '-c',
      `chown --reference="${data}" "${data}/recovery.signal" "${data}/backup_label" "${data}/postgresql.auto.conf"`,
    ])
    const second = await startEmbeddedPostgres({ dataDir: copy })
    servers.push(second)

    const restored = await startService({
      database: { url: second.url, drop: async () => undefined },
      clock: before.clock,
      provider: before,
    })
    await catchUpTransactionIds(second.url)
    expect(await markWaitingUnknown(restored.deps.db, shellOperator('a rehearsal'))).toEqual({ unknown: 1 })
    await pass(restored, 3_600)
    const api = restored.api.as({ cookie: person.cookie })
    expect((await paymentOf({ api }, acknowledged)).status).toBe('unknown')
    expect((await api.get('/v1/payments')).body.data).toHaveLength(2)
    expect([ordersTo(restored, '254722000302').length, ordersTo(restored, '254722000303').length]).toEqual([1, 1])
    expect(await findBreaches(restored)).toEqual([])
    await restored.stop()
  }, 240_000)
})
