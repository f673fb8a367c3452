import { randomBytes } from 'node:crypto'
import type { Movement } from '../../src/sandbox/book.ts'
import { createClient } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { createKey, newWallet, type Person, signIn } from '../harness/people.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { freePort } from '../harness/service.ts'
import { type ServerProcess, spawnServer } from '../start/process.ts'
import { findFaults } from './belief.ts'
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts'

/** Whether everything is tried, or a part that fits into an ordinary test run. */
export const isFull = process.env.FAULTS === 'full'

export type World = Awaited<ReturnType<typeof startWorld>>

const key = () => `faults:${randomBytes(32).toString('base64')}`

/** The provider in a process of its own: it counts every submission, whoever dies. */
const startProvider = async (folder: string) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawnServer(
    { DATA_DIR: folder, SANDBOX_PORT: String(port), SANDBOX_DELAY_MS: '30' },
    { command: [process.execPath, 'scripts/sandbox.ts'] },
  )
  await child.said(/ready: no money moves/)
  const control = createClient(`${url}/control`)
  return {
    url,
    control,
    movements: async (): Promise<(Pick<Movement, 'rail' | 'key' | 'ours' | 'receipt'> & { amount_minor: string })[]> =>
      (await control.get('/movements')).body.data,
    orders: async (): Promise<{ key: string; ours: string }[]> => (await control.get('/orders')).body.data,
    /** Time for the provider and for every service that follows it. */
    advance: (seconds: number) => control.post('/clock', { advance_seconds: seconds }),
  }
}

/** A database with a proxy before it, a provider, and as many processes of the service as somebody starts. */
export const startWorld = async (folder: string) => {
  const database: TestDatabase = await createTestDatabase()
  const proxy: PostgresProxy = await startPostgresProxy(database.url)
  const provider = await startProvider(folder)
  const admin = newWallet()
  const operatorPort = await freePort()
  const shared = {
    DATA_DIR: folder,
    SANDBOX_URL: provider.url,
    ENCRYPTION_KEYS: key(),
    TOKEN_SECRETS: key(),
    ADMIN_ACCOUNTS: admin.address,
    OPERATOR_URL: `http://127.0.0.1:${operatorPort}`,
    PUBLIC_URL: 'http://localhost:39999',
    LOG_LEVEL: 'error',
    DATABASE_POOL_SIZE: '6',
  }
  const start = async (variables: Record<string, string> = {}): Promise<ServerProcess & { url: string }> => {
    const child = spawnServer({ ...shared, DATABASE_URL: database.url, ...variables })
    await child.said(/is ready after/)
    const url = /API\s+\S+[^\n]*/.test(child.stdout()) ? `http://127.0.0.1:${variables.PORT}` : ''
    return { ...child, url }
  }
  return {
    database,
    proxy,
    provider,
    admin,
    operatorPort,
    start,
    /** Every broken promise, by SQL and by the provider's own count. */
    faults: async () => findFaults(database.url, await provider.movements()),
    close: async () => {
      await proxy.close()
      await database.drop()
    },
  }
}

export type Cast = { person: Person; api: Person['api']; beneficiaries: Record<'MPESA_B2C' | 'MPESA_B2B' | 'PESALINK', string> }

/** Somebody with money, an agent's key and a beneficiary on each rail. */
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
