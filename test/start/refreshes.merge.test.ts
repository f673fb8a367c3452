import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { createClient } from '../harness/client.ts'
import { authorizeAgent, refresh, refusal, registerClient } from '../harness/oauth.ts'
import { signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { createTestDatabase } from '../harness/postgres.ts'
import { killAll, patience, spawnServer } from './process.ts'

const database = await createTestDatabase()
const folder = await mkdtemp(join(tmpdir(), 'refreshes-'))
afterAll(async () => {
  await killAll()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

// Without a leeway, a late copy at the other process is a later use. REFRESH_ROUNDS asks for this figure of the machine.
const { REFRESH_ROUNDS } = process.env
const rounds = Number(REFRESH_ROUNDS ?? '12')

test(
  'a token that is sent several times at once to two processes keeps its grant, and sent once more after the leeway loses it',
  patience,
  async () => {
    const port = await freePort()
    const shared = {
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      PUBLIC_URL: `http://localhost:${port}`,
      RATE_LIMIT_ENABLED: 'false',
      OAUTH_REFRESH_LEEWAY_SECONDS: REFRESH_ROUNDS ? '0' : '10',
    }
    await spawnServer({ ...shared, PORT: String(port) }).ready()
    const otherPort = await freePort()
    await spawnServer({ ...shared, PORT: String(otherPort) }).waitForOutput(/is ready after/)
    const apis = [createClient(shared.PUBLIC_URL), createClient(`http://localhost:${otherPort}`)] as const
    const person = await signIn(apis[0])
    const client = await registerClient(apis[0])
    const later = new pg.Client({ connectionString: database.url })
    await later.connect()
    let [lost, revoked] = [0, 0]
    for (let round = 0; round < rounds; round += 1) {
      const agent = await authorizeAgent(apis[0], person, { client })
      const copies = Array.from({ length: 2 + (round % 7) }, (_, index) => apis[index % 2 === 0 ? 0 : 1])
      const answers = await Promise.all(copies.map((api) => refresh(api, client, agent.refreshToken)))
      if (new Set(answers.map(({ status, body }) => `${status} ${body.refresh_token}`)).size > 1) lost += 1
      // Ends the leeway.
      await later.query(`update oauth_access_tokens set rotated_at = rotated_at - interval '1 minute'`)
      const again = await refresh(apis[1], client, agent.refreshToken)
      if (refusal(again)[1] === 'invalid_grant') revoked += 1
    }
    await later.end()
    if (REFRESH_ROUNDS) console.log(`two real processes: ${rounds} rounds, lost ${lost}, revoked ${revoked}`)
    else expect(lost).toBe(0)
    expect(revoked).toBe(rounds)
  },
)
