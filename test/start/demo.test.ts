import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../harness/postgres.ts'
import { killAll, patience, spawnServer } from './process.ts'

const demo = fileURLToPath(new URL('../../scripts/demo.ts', import.meta.url))

let database: TestDatabase
let dataDir: string
beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'demo-'))
})
afterAll(async () => {
  await killAll()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

const runDemo = async (variables: Record<string, string>) => {
  const child = spawn(process.execPath, [demo], { cwd: dataDir, env: { PATH: process.env.PATH, ...variables } })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  const [code] = await once(child, 'close')
  return { code, said }
}

describe('npm run demo', patience, () => {
  it('plays the main job to its end, again and again against one server', async () => {
    const server = spawnServer({ DATABASE_URL: database.url, DATA_DIR: dataDir, SANDBOX_DELAY_MS: '50' })
    const { url } = await server.ready()
    for (const _ of [1, 2]) {
      const { code, said } = await runDemo({ PUBLIC_URL: url })
      expect(said).toContain('Every step went as promised.')
      expect(code).toBe(0)
    }
  })

  it('fails where a step does not go as promised, and says which', async () => {
    const server = spawnServer({ DATABASE_URL: database.url, DATA_DIR: dataDir, SANDBOX_DELAY_MS: '50', CURRENCY: 'UGX' })
    const { url } = await server.ready()
    const { code, said } = await runDemo({ PUBLIC_URL: url })
    expect(said).toContain('"KES"')
    expect(code).toBe(1)
  })

  it('never plays against real rails or another machine', async () => {
    const elsewhere: Record<string, string>[] = [{ RAILS: 'daraja' }, { PUBLIC_URL: 'https://pay.example' }]
    for (const variables of elsewhere) {
      const { code, said } = await runDemo(variables)
      expect(said).toMatch(/for a service with simulated rails on this machine/)
      expect(code).toBe(1)
    }
  })
})
