import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../harness/client.ts'
import { newWallet, signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { programs } from '../harness/programs.ts'
import { killAll, patience, spawnServer } from './process.ts'

let parent: string
let dataDir: string
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'lifecycle-'))
  dataDir = join(parent, 'data')
})
afterEach(killAll)
afterAll(() => rm(parent, { recursive: true, force: true }))

const wallet = newWallet()
const start = async () => {
  const server = spawnServer({ DATA_DIR: dataDir })
  return { server, ...(await server.ready()) }
}
const whoSignsIn = async (url: string) => (await signIn(createClient(url), wallet)).accountId

describe('npm start', patience, () => {
  let account: string
  let keys: string

  it('on an empty machine prints the addresses, the data folder and what is simulated', async () => {
    const { server, url, operatorUrl } = await start()
    const summary = server.stdout()
    expect(summary).toContain(`${url}/docs`)
    expect(summary).toContain(dataDir)
    expect(summary).toContain('just made')
    expect(summary).toMatch(/M-PESA and PesaLink: no money moves/)
    expect(url).not.toBe(operatorUrl)
    // The rails wait until the process has found its recovery point in the database.
    await expect.poll(async () => (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ok' })
    account = await whoSignsIn(url)
    const file = join(dataDir, 'development-keys.env')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    keys = await readFile(file, 'utf8')
    server.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  it('uses its data and its keys again', async () => {
    const { server, url } = await start()
    expect(await whoSignsIn(url)).toBe(account)
    expect(await readFile(join(dataDir, 'development-keys.env'), 'utf8')).toBe(keys)
    server.kill('SIGKILL')
    await server.ended
  })

  it('uses them again after it was killed', async () => {
    const { url } = await start()
    expect(await whoSignsIn(url)).toBe(account)
  })

  it('serves while the disk of its log is full, and ends in order', async () => {
    const port = await freePort()
    const command = ['sh', '-c', 'exec "$0" "$1" > /dev/full', process.execPath, programs.server] as const
    const server = spawnServer({ DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'trace' }, { command })
    const url = `http://localhost:${port}`
    await expect
      .poll(
        () =>
          fetch(`${url}/readyz`).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 60_000 },
      )
      .toBe(200)
    expect(await whoSignsIn(url)).toBe(account)
    server.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  it('opens no debugger and serves on at the signals of programs that rotate logs', async () => {
    const { server, url } = await start()
    server.kill('SIGUSR1')
    server.kill('SIGUSR2')
    expect(await whoSignsIn(url)).toBe(account)
    expect(server.stderr()).toBe('')
    server.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })
})
