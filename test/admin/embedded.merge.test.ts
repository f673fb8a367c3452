import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../harness/client.ts'
import { newWallet, signIn } from '../harness/people.ts'
import { programs } from '../harness/programs.ts'
import { killAll, patience, spawnServer } from '../start/process.ts'

let parent: string
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'admin-'))
})
afterEach(killAll)
afterAll(() => rm(parent, { recursive: true, force: true }))

const command = async (dataDir: string, args: string[], program = programs.admin) => {
  const child = spawnServer({ DATA_DIR: dataDir }, { command: [process.execPath, program, ...args] })
  const { code } = await child.ended
  return { code, stdout: child.stdout(), stderr: child.stderr() }
}

describe('npm run admin with the embedded database', patience, () => {
  test('does not create a database if there is none', async () => {
    const { code, stderr } = await command(join(parent, 'nothing'), ['verify'], 'src/operate/admin/admin.ts')
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is no database in')])
  })

  test('works on the database of the running service, and also when the service is not running', async () => {
    const dataDir = join(parent, 'data')
    const server = spawnServer({ DATA_DIR: dataDir })
    const { url } = await server.ready()
    const { api, wallet } = await signIn(createClient(url), newWallet())
    const granted = await command(dataDir, ['grant', wallet.address])
    expect([granted.code, granted.stderr]).toEqual([0, ''])
    expect((await api.get('/v1/admin/ledger/trial-balance')).body.balanced).toBe(true)
    server.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
    const verified = await command(dataDir, ['verify'])
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(/promises kept, 0 broken\n$/)])
  })
})
