import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { createClient } from '../harness/client.ts'
import { newBeneficiary } from '../harness/money.ts'
import { type Person, signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { programs } from '../harness/programs.ts'
import { killAll, type ServerProcess, spawnServer } from '../start/process.ts'

export type Place = { port: number; operatorPort: number }

export const freePlaces = async (): Promise<readonly [Place, Place]> => [
  { port: await freePort(), operatorPort: await freePort() },
  { port: await freePort(), operatorPort: await freePort() },
]

/** Hooks around a process's end: `leaving` after SIGTERM, `joined` once it is ready again. */
export type Watch = { leaving: (index: number) => void; joined: (index: number) => Promise<unknown> | undefined }

/** Two service processes on one database. Each keeps its place over restarts. */
export const startPair = async (
  places: readonly [Place, Place],
  settings: Record<string, string>,
  on?: TestDatabase,
  program = programs.server,
) => {
  const database = on ?? (await createTestDatabase())
  const folder = await mkdtemp(join(tmpdir(), 'pair-'))
  const sandbox = spawnServer(
    { SANDBOX_URL: `http://127.0.0.1:${await freePort()}`, DATA_DIR: folder },
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
    /** Variables for commands beside the processes. */
    environment: { DATABASE_URL: database.url, DATA_DIR: folder, SANDBOX_URL: sandboxUrl },
    sandboxUrl,
    /** The processes' warnings, each kind once, with its count. */
    warnings: (): string[] => {
      const lines = all.flatMap((server) => server.stdout().match(/^\{"level":[456]0.*$/gm) ?? [])
      // Without ids and numbers, which differ from line to line.
      const kinds = lines.map((line) =>
        line.replace(/"(?:time|requestId|id|query|attempt|subject|ms)":("[^"]*"|\d+),?/g, '').slice(0, 600),
      )
      return Object.entries(Object.groupBy(kinds, (kind) => kind)).map(([kind, same = []]) => `${same.length} × ${kind}`)
    },
    /** Restarts each in turn: SIGTERM, its end, a start at the same place (of another release, if given), then `between`. */
    restartEach: async ({ leaving, joined }: Watch, as = program, between?: () => Promise<void>): Promise<void> => {
      for (const [index, place] of places.entries()) {
        const server = servers[index]
        server?.kill('SIGTERM')
        await server?.waitForOutput(/SIGTERM: finishing/)
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

/** A signed-in person with money and a payee at this address. */
export const newPayer = async (url: string) => {
  const person = await signIn(createClient(url))
  const topup = await person.api.post('/v1/topups/initiate', { amount_minor: '20000000', phone_number: '254722000001' })
  await expect.poll(async () => (await person.api.get(`/v1/topups/${topup.body.id}`)).body.status).toBe('succeeded')
  return { person, beneficiary: await newBeneficiary(person.api) }
}

export type Answered = { status: number; id: string; error: string | null }

/** `perSecond` requests at most, and no more after `atLeast` of them once `mayEnd` says so. */
export type Load = { perSecond: number; clients: number; atLeast: number; mayEnd: () => boolean }

/**
 * All clients send at the same moment repeatedly, so that many requests are under way when a process leaves. Without a rate they
 * would use all processors for as long as a restart waits. On a busy machine unneeded requests would only pile up, so a slow
 * answer lowers the rate.
 */
const atRate = async ({ perSecond, clients, atLeast, mayEnd }: Load, send: (count: number) => Promise<void>): Promise<void> => {
  let begun = 0
  const from = performance.now()
  const client = async (): Promise<void> => {
    while (!mayEnd() || begun < atLeast) {
      begun += 1
      const count = begun
      const together = Math.floor(count / clients) * clients
      await wait(Math.max(0, from + (together * 1_000) / perSecond - performance.now()))
      await send(count)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

type Payer = { person: Person; beneficiary: string }

/** The answers to payments, each under its own key. */
export const payAtRate = async ({ person, beneficiary }: Payer, load: Load): Promise<Answered[]> => {
  const answers: Answered[] = []
  await atRate(load, async (count) => {
    const body = { beneficiary_id: beneficiary, amount_minor: '1000' }
    const answer = await person.api
      .post('/v1/payments', body, { key: `payment ${count}` })
      .catch(() => ({ status: 0, body: undefined }))
    answers.push({ status: answer.status, id: answer.body?.id ?? '', error: answer.body?.error ?? null })
  })
  return answers
}

/**
 * POST requests, which no balancer repeats by itself. Every fourth is a payment under a key of its own; the others ask what would
 * become of one. `keyed`: these have keys too. `refused`: answers other than 201 for a payment and 200 for a question, with the
 * request's number; status 0 for no answer.
 */
export const askAtRate = async (
  { person, beneficiary }: Payer,
  { keyed, ...load }: Load & { keyed: boolean },
): Promise<{ sent: number; refused: string[] }> => {
  const refused: string[] = []
  let sent = 0
  await atRate(load, async (count) => {
    const isPayment = count % 4 === 0
    const body = { beneficiary_id: beneficiary, amount_minor: '1000' }
    const key = { key: `request ${count}` }
    const asked = isPayment
      ? person.api.post('/v1/payments', body, key)
      : person.api.post('/v1/spending-policies/simulate', body, keyed ? key : {})
    const { status } = await asked.catch(() => ({ status: 0 }))
    sent += 1
    if (status !== (isPayment ? 201 : 200)) refused.push(`${count}: ${status}`)
  })
  return { sent, refused }
}
