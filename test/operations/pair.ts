import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { createClient } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { programs } from '../harness/programs.ts'
import { freePort } from '../harness/service.ts'
import { killAll, type ServerProcess, spawnServer } from '../start/process.ts'

export type Place = { port: number; operatorPort: number }

export const freePlaces = async (): Promise<readonly [Place, Place]> => [
  { port: await freePort(), operatorPort: await freePort() },
  { port: await freePort(), operatorPort: await freePort() },
]

/** Around the end of a process: `leaving` once it has SIGTERM, `joined` once it is ready again. */
export type Watch = { leaving: (index: number) => void; joined: (index: number) => Promise<unknown> | undefined }

/** Two processes of the service on one database, each with a place that it keeps when it is started again. */
export const startPair = async (
  places: readonly [Place, Place],
  settings: Record<string, string>,
  on?: TestDatabase,
  program = programs.server,
) => {
  const database = on ?? (await createTestDatabase())
  const folder = await mkdtemp(join(tmpdir(), 'pair-'))
  const sandbox = spawnServer(
    { SANDBOX_PORT: String(await freePort()), DATA_DIR: folder },
    { command: [process.execPath, programs.sandbox] },
  )
  const [, sandboxUrl = ''] = await sandbox.waitForOutput(/(http:\/\/\S+)\/control/)
  const all: ServerProcess[] = []
  const start = async ({ port, operatorPort }: Place, of: string): Promise<ServerProcess> => {
    const variables = {
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      SANDBOX_URL: sandboxUrl,
      SHUTDOWN_DELAY_MS: '5000',
      PORT: String(port),
      OPERATOR_PORT: String(operatorPort),
      ...settings,
    }
    const server = spawnServer(variables, { command: [process.execPath, of] })
    all.push(server)
    await server.waitForOutput(/is ready after/)
    return server
  }
  const servers = [await start(places[0], program), await start(places[1], program)]
  return {
    urls: places.map(({ port }) => `http://localhost:${port}`),
    /** For commands beside the processes. */
    environment: { DATABASE_URL: database.url, DATA_DIR: folder, SANDBOX_URL: sandboxUrl },
    sandboxUrl,
    /** What the processes warned of, each kind once, with how often. */
    warnings: (): string[] => {
      const lines = all.flatMap((server) => server.stdout().match(/(?:WARN|ERROR|FATAL): .*$/gm) ?? [])
      // Without ids and numbers, which differ from line to line.
      const kinds = lines.map((line) => line.replace(/"(?:requestId|id|attempt|subject|ms)":("[^"]*"|\d+),?/g, '').slice(0, 600))
      return Object.entries(Object.groupBy(kinds, (kind) => kind)).map(([kind, same = []]) => `${same.length} × ${kind}`)
    },
    /** Each in turn: SIGTERM, its end, a start at the same place, of another release if one is given; then `between`. */
    restartEach: async ({ leaving, joined }: Watch, as = program, between?: () => Promise<void>): Promise<void> => {
      for (const [index, place] of places.entries()) {
        const server = servers[index]
        server?.kill('SIGTERM')
        await server?.waitForOutput(/finishing what is under way/)
        leaving(index)
        expect(await server?.ended).toEqual({ code: 0, signal: null })
        servers[index] = await start(place, as)
        await joined(index)
        await between?.()
      }
    },
    close: async (): Promise<void> => {
      await killAll()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Somebody who has money and a payee, signed in at this address. */
export const newPayer = async (url: string) => {
  const person = await signIn(createClient(url))
  const topup = await person.api.post('/v1/topups/initiate', { amount_minor: '20000000', phone_number: '254722000001' })
  await expect
    .poll(async () => (await person.api.get(`/v1/topups/${topup.body.id}`)).body.status, { timeout: 30_000 })
    .toBe('succeeded')
  return { person, beneficiary: await newBeneficiary(person.api) }
}

export type Answered = { status: number; id: string; error: string | null }

/**
 * As many payments a second as given, or as many as twelve clients get answers to, each under a key of its own: the answers. On a machine that
 * does other work requests that nobody waits for would only pile up.
 */
export const payAtRate = async (
  { person, beneficiary }: { person: Person; beneficiary: string },
  { perSecond, mayEnd }: { perSecond: number; mayEnd: () => boolean },
): Promise<Answered[]> => {
  const answers: Answered[] = []
  let begun = 0
  const from = performance.now()
  const client = async (): Promise<void> => {
    while (!mayEnd()) {
      begun += 1
      const key = `payment ${begun}`
      await wait(Math.max(0, from + (begun * 1_000) / perSecond - performance.now()))
      const body = { beneficiary_id: beneficiary, amount_minor: '1000' }
      const answer = await person.api.post('/v1/payments', body, { key }).catch(() => ({ status: 0, body: undefined }))
      answers.push({ status: answer.status, id: answer.body?.id ?? '', error: answer.body?.error ?? null })
    }
  }
  await Promise.all(Array.from({ length: 12 }, client))
  return answers
}

type Load = { clients: number; atLeast: number; mayEnd: () => boolean }

/** Payments without a pause, each under a key of its own: the statuses of the answers, 0 for none. */
export const payThroughout = async (
  { person, beneficiary }: { person: Person; beneficiary: string },
  { clients, atLeast, mayEnd }: Load,
): Promise<number[]> => {
  const statuses: number[] = []
  let begun = 0
  const client = async (): Promise<void> => {
    while (!mayEnd() || statuses.length < atLeast) {
      begun += 1
      const answer = await person.api
        .post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' }, { key: `payment ${begun}` })
        .catch(() => ({ status: 0 }))
      statuses.push(answer.status)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return statuses
}
