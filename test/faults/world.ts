import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { Movement } from '../../src/dev/sandbox/book.ts'
import { type Client, createClient } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { createKey, newWallet, type Person, signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { programs } from '../harness/programs.ts'
import { type ServerProcess, spawnServer } from '../start/process.ts'
import { findFaults } from './belief.ts'
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts'

/** Whether the whole suite runs. Default: the part for an ordinary run. */
export const isFull = process.env.FAULTS === 'full'

export type World = Awaited<ReturnType<typeof startWorld>>

const key = () => `faults:${randomBytes(32).toString('base64')}`

/** The provider in a process of its own: it counts every submission, even when a process of the service dies. */
const startProvider = async (folder: string) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawnServer(
    { DATA_DIR: folder, SANDBOX_URL: url, SANDBOX_DELAY_MS: '30' },
    { command: [process.execPath, programs.sandbox] },
  )
  await child.waitForOutput(/ready: no money moves/)
  const control = createClient(`${url}/control`)
  return {
    url,
    control,
    movements: async (): Promise<(Pick<Movement, 'rail' | 'key' | 'reference' | 'receipt'> & { amount_minor: string })[]> =>
      (await control.get('/movements')).body.data,
    orders: async (): Promise<{ key: string; reference: string }[]> => (await control.get('/orders')).body.data,
    /** Advances time for the provider and every service that follows it. */
    advance: (seconds: number) => control.post('/clock', { advance_seconds: seconds }),
    /** How far the provider's time, and that of every service that follows it, is ahead of ours. */
    ahead: async (): Promise<number> => (await control.get('/clock')).body.offset_ms,
  }
}

/** A process that works only on command (`puppet.ts`). */
export type Puppet = { url: string; process: ServerProcess; drain: () => Promise<void>; sweep: () => Promise<void> }

const puppetOf = async (process: ServerProcess, port: string): Promise<Puppet> => {
  const [, control = ''] = await process.waitForOutput(/takes commands at (http\S+) /)
  const command = (what: string) => async () => {
    const answer = await fetch(`${control}/${what}`, { method: 'POST' })
    if (answer.status !== 204) throw new Error(`${what} failed: ${process.stdout()}`)
  }
  return { url: `http://127.0.0.1:${port}`, process, drain: command('drain'), sweep: command('sweep') }
}

/** A database with a proxy before it, a provider, and any number of service processes. */
export const startWorld = async (folder: string) => {
  const database: TestDatabase = await createTestDatabase()
  const proxy: PostgresProxy = await startPostgresProxy(database.url)
  const provider = await startProvider(folder)
  const admins = [newWallet(), newWallet()]
  const operatorPort = await freePort()
  const shared = {
    DATA_DIR: folder,
    SANDBOX_URL: provider.url,
    ENCRYPTION_KEYS: key(),
    TOKEN_SECRETS: key(),
    RECEIPT_KEYS: key(),
    ORDER_KEY: key(),
    ADMIN_ACCOUNTS: admins.map(({ address }) => address).join(','),
    OPERATOR_URL: `http://127.0.0.1:${operatorPort}`,
    PUBLIC_URL: 'http://localhost:39999',
    LOG_LEVEL: 'error',
    DATABASE_POOL_SIZE: '6',
    APPROVAL_TTL_HOURS: '1',
    // Sweeps move the time by days, and the checks read every event.
    EVENT_RETENTION_DAYS: '3650',
    RATE_LIMIT_ENABLED: 'false',
    // One administrator decides about hundreds of payments within a day.
    ADJUSTMENT_CONFIRM_MINOR: '10000000000',
  }
  const start = async (variables: Record<string, string> = {}): Promise<ServerProcess & { url: string }> => {
    const child = spawnServer({ ...shared, DATABASE_URL: database.url, ...variables })
    await child.waitForOutput(/is ready after/)
    const url = /API\s+\S+[^\n]*/.test(child.stdout()) ? `http://127.0.0.1:${variables.PORT}` : ''
    return { ...child, url }
  }
  /** A process that takes commands, behind the proxy. */
  const startPuppet = async (): Promise<Puppet> => {
    const port = String(await freePort())
    const variables = { ...shared, PORT: port, OPERATOR_PORT: String(await freePort()), DATABASE_URL: proxy.url }
    return puppetOf(spawnServer(variables, { command: [process.execPath, programs.puppet] }), port)
  }
  const sql = new pg.Client({ connectionString: database.url, application_name: 'fault-suite' })
  await sql.connect()
  return {
    database,
    proxy,
    provider,
    admins,
    operatorPort,
    start,
    startPuppet,
    sql: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
      (await sql.query<Row>(text, values)).rows,
    /** Stops a self-working process outside transactions: inside one, it would hold its locks. */
    pause: async (process: ServerProcess): Promise<void> => {
      const isQuiet = async (afterMs: number) => {
        await wait(afterMs)
        const { rows } = await sql.query(
          `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
             and (state like 'idle in transaction%' or state = 'active')`,
        )
        return rows.length === 0
      }
      for (let tries = 0; tries < 200; tries += 1) {
        process.kill('SIGSTOP')
        // Its last statement may still be on its way to a busy server.
        if ((await isQuiet(10)) && (await isQuiet(40))) return
        process.kill('SIGCONT')
        await wait(20)
      }
      throw new Error('the process was never idle')
    },
    /** Every broken promise, by the suite's own SQL, the provider's own count and `npm run admin -- verify`. */
    faults: async (): Promise<string[]> => {
      // The test server lacks autovacuum, which maintains a real server's statistics.
      if (isFull) await sql.query('analyze')
      const breaches = await findFaults(database.url, await provider.movements())
      if (!isFull) return breaches
      const admin = spawnServer(
        { ...shared, DATABASE_URL: database.url },
        { command: [process.execPath, programs.admin, 'verify'] },
      )
      const { code } = await admin.ended
      // Its output also has lines of progress.
      const isKept = code === 0 && !/^BROKEN/m.test(admin.stdout())
      const verdict = isKept ? [] : [`verify ended with ${code}: ${admin.stdout()}${admin.stderr()}`]
      return [...breaches, ...verdict]
    },
    close: async () => {
      await sql.end()
      await proxy.close()
      await database.drop()
    },
  }
}

export type Cast = { person: Person; api: Client; beneficiaries: Record<'MPESA_B2C' | 'MPESA_B2B' | 'PESALINK', string> }

/** A person with money, an agent's key and a beneficiary on each rail. */
export const castAt = async (url: string): Promise<Cast> => {
  const person = await signIn(createClient(url))
  const { api } = await createKey(person)
  const beneficiaries = {
    MPESA_B2C: await newBeneficiary(person.api, { payment_rail: 'MPESA_B2C' }),
    MPESA_B2B: await newBeneficiary(person.api, { payment_rail: 'MPESA_B2B', destination: '400200' }),
    PESALINK: await newBeneficiary(person.api, { payment_rail: 'PESALINK', destination: '0123456789', bank_code: '57' }),
  }
  return { person, api, beneficiaries }
}
