import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildVersion } from '../../scripts/build-version.ts'
import { filesIn } from '../../scripts/ensure-built.ts'
import { createClient } from '../harness/client.ts'
import { signIn } from '../harness/people.ts'
import { freePort } from '../harness/ports.ts'
import { createEmptyDatabase, type TestDatabase } from '../harness/postgres.ts'
import { isInstalled } from '../operations/balancer.ts'
import { killAll, patience, spawnServer } from './process.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** The user "nobody" if the tests run as root: a service does not run as root. */
const asUser = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []

let database: TestDatabase
let folder: string
let installed: string
let node: string
beforeAll(async () => {
  database = await createEmptyDatabase()
  folder = await mkdtemp(join(tmpdir(), 'package-'))
  await run('npm', ['run', '--silent', 'package', '--', folder], { cwd: root })
  const [archive = ''] = await readdir(folder)
  // Nothing but Node: neither this repository nor its modules are in reach.
  const home = join(folder, 'home')
  node = join(home, 'node')
  await mkdir(home)
  await copyFile(process.execPath, node)
  await chmod(folder, 0o755)
  if (asUser.length > 0) await run('chown', ['65534:65534', home])
  const [program = 'tar', ...args] = [...asUser, 'tar', '-xzf', join(folder, archive), '-C', home]
  await run(program, args)
  installed = join(home, archive.replace('.tar.gz', ''))
})
afterEach(killAll)
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const secrets = ['ENCRYPTION_KEYS', 'TOKEN_SECRETS', 'ORDER_KEY', 'RECEIPT_KEYS']

/** deploy/systemd/settings.env with this machine's paths, and the secrets that it names. */
const writeSettings = async (): Promise<string> => {
  const etc = join(folder, 'etc')
  await mkdir(etc, { recursive: true })
  for (const name of secrets) await writeFile(join(etc, name.toLowerCase()), `k:${randomBytes(32).toString('base64')}\n`)
  const text = (await readFile(join(installed, 'deploy/systemd/settings.env'), 'utf8'))
    .replaceAll('/etc/payments', etc)
    .replace('/var/lib/payments', join(folder, 'home/data'))
    .replace(/^DATABASE_URL=.*$/m, `DATABASE_URL=${database.url}`)
    .replace(/^RAILS=.*$/m, 'RAILS=sandbox\nSHUTDOWN_DELAY_MS=0')
    .replace(/^SIGN_UP=.*$/m, 'SIGN_UP=open')
  await writeFile(join(etc, 'settings.env'), text)
  return join(etc, 'settings.env')
}

const inPackage = (command: readonly string[], variables: Record<string, string> = {}, cwd = installed) => {
  const [program = node, ...args] = [...asUser, node, ...command]
  return spawnServer(variables, { command: [program, ...args], cwd })
}

/** The command of `payments.service`. */
const unitCommand = async (): Promise<string[]> => {
  const unit = await readFile(join(installed, 'deploy/systemd/payments.service'), 'utf8')
  return /^ExecStart=\/usr\/bin\/node (.+)$/m.exec(unit)?.[1]?.split(' ') ?? []
}

describe('a package, unpacked by an ordinary user on a machine with Node and a PostgreSQL', patience, () => {
  test('migrates, and starts as the unit starts it, with every page, the client and a sign-in', async () => {
    const file = `--env-file=${await writeSettings()}`
    const before = inPackage([file, ...(await unitCommand())])
    expect([(await before.ended).code, before.stderr()]).toEqual([1, expect.stringMatching(/MIGRATE is off: run npm run admin/)])
    const migrated = inPackage([file, 'scripts/admin.js', 'migrate'])
    expect([await migrated.ended, migrated.stderr()]).toEqual([{ code: 0, signal: null }, ''])

    const port = await freePort()
    const server = inPackage([file, ...(await unitCommand())], { PORT: String(port) })
    const { operatorUrl } = await server.ready()
    const url = `http://127.0.0.1:${port}`
    const paths = ['/healthz', '/', '/payments', '/docs', '/docs/js/scalar.js', '/docs/guides/quickstart', '/openapi.json']
    for (const path of [...paths, '/client.tgz', '/verify-receipt.mjs', '/payments.py'])
      expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200)
    const page = await (await fetch(url)).text()
    for (const [, asset = ''] of page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g))
      expect([asset, (await fetch(url + asset)).status]).toEqual([asset, 200])
    // A build from a checkout between two releases says so, by the same version everywhere.
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    expect([manifest.version, manifest.engines.node]).toEqual([buildVersion(), '>=24'])
    expect(await (await fetch(`${operatorUrl}/metrics`)).text()).toContain(`build_info{version="${manifest.version}"`)
    await signIn(createClient(url))

    const checked = inPackage([file, 'scripts/admin.js', 'verify'])
    expect([(await checked.ended).code, checked.stderr()]).toEqual([0, ''])
    server.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  test('has code that is loaded only when it is needed whole: the providers of sign-in, Redis, traces, notices', async () => {
    const chunks = (await readdir(join(installed, 'build'))).filter((name) => /-[^.]+\.js$/.test(name))
    expect(chunks.length).toBeGreaterThan(20)
    const load = chunks.map((name) => `await import(${JSON.stringify(join(installed, 'build', name))})`)
    const loaded = inPackage(['--input-type=module', '--eval', load.join('\n')])
    expect([await loaded.ended, loaded.stderr()]).toEqual([{ code: 0, signal: null }, ''])
  })

  test('has at most 200 MB, its licences, and neither sources, tests nor tools', async () => {
    const files = await filesIn(installed)
    const sizes = await Promise.all(files.map(async (path) => (await stat(path)).size))
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(200 * 2 ** 20)
    const own = files.map((path) => relative(installed, path)).filter((path) => !path.startsWith('node_modules/'))
    expect(own.filter((path) => path.endsWith('.ts') || path.startsWith('test'))).toEqual([])
    expect(await readdir(join(installed, 'node_modules'))).not.toContain('typescript')
    expect(await readFile(join(installed, 'LICENSES-OF-PACKAGES'), 'utf8')).toContain('node_modules/fastify/LICENSE')
  })
})

describe('a package that cannot run ends with one sentence', patience, () => {
  const refusal = async (command: readonly string[] = ['scripts/start.js'], cwd = installed): Promise<string> => {
    const refused = inPackage(command, {}, cwd)
    expect(await refused.ended).toEqual({ code: 1, signal: null })
    expect(refused.stderr()).toMatch(/^[^\n]+\n$/)
    return refused.stderr()
  }

  test.each(['dashboard/dist/index.html', 'node_modules/@node-rs', 'build', 'migrations/meta/_journal.json', 'docs/guides'])(
    'when %s is missing',
    async (path) => {
      await rename(join(installed, path), join(folder, 'away'))
      try {
        for (const script of ['start.js', 'admin.js'])
          expect(await refusal([`scripts/${script}`])).toMatch(
            new RegExp(`${path}[^ ]* is missing or incomplete: unpack payments-`),
          )
      } finally {
        await rename(join(folder, 'away'), join(installed, path))
      }
    },
  )

  test('when the archive was unpacked in part', async () => {
    const half = await mkdtemp(join(folder, 'half-'))
    await chmod(half, 0o755)
    const archive = join(folder, `${basename(installed)}.tar.gz`)
    await run('sh', ['-c', 'head -c 4000000 "$1" | tar -xz -C "$2" 2>&1 || true', 'sh', archive, half])
    expect(await refusal(['scripts/start.js'], join(half, basename(installed)))).toContain('is missing or incomplete')
  })

  test('when a native module is for another machine', async () => {
    const [native = ''] = (await filesIn(join(installed, 'node_modules/@node-rs'))).filter((path) => path.endsWith('.node'))
    const kept = await readFile(native)
    await writeFile(native, Buffer.alloc(kept.length))
    expect(await refusal()).toMatch(/^The native module @node-rs\/argon2 cannot be loaded \(.+\): /)
    await writeFile(native, kept)
  })

  test('when Node is too old', async () => {
    const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.18.0' } })`
    const command = ['--import', `data:text/javascript,${encodeURIComponent(older)}`]
    for (const script of ['scripts/start.js', 'scripts/admin.js'])
      expect(await refusal([...command, script])).toMatch(/^This needs Node 24, but "node" is 22\.18\.0: /)
  })
})

const canBuild = process.getuid?.() === 0 && isInstalled('buildah')
if (!canBuild) process.stderr.write('buildah is not installed here, or this is not root: the image is NOT built and NOT run\n')

/** Without the base image's registry: the base is a folder with the needs of the Dockerfile's last stage. */
describe.skipIf(!canBuild)('the image', patience, () => {
  let work: string
  let container: string
  let database: TestDatabase
  const storage = () => ['--root', join(work, 'root'), '--runroot', join(work, 'run'), '--storage-driver', 'vfs']
  const isolation = () => ({ BUILDAH_ISOLATION: 'chroot', TMPDIR: work })
  const buildah = async (...args: string[]): Promise<string> =>
    (await run('buildah', [...storage(), ...args], { env: { ...process.env, ...isolation() } })).stdout.trim()
  const inContainer = (variables: Record<string, string>, ...command: string[]) => {
    const set = Object.entries(variables).map(([name, value]) => `--env=${name}=${value}`)
    return spawnServer(isolation(), { command: ['buildah', ...storage(), 'run', ...set, container, '--', ...command] })
  }

  /** Signals the container's programs, which buildah leaves behind when it is killed. */
  const signal = async (name: NodeJS.Signals): Promise<void> => {
    for (const pid of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)))
      if ((await readlink(`/proc/${pid}/exe`).catch(() => '')).startsWith(work)) process.kill(Number(pid), name)
  }

  beforeAll(async () => {
    // Half a gigabyte: too much for memory.
    work = await mkdtemp('/var/tmp/image-')
    database = await createEmptyDatabase()
    const base = join(work, 'base')
    await mkdir(join(base, 'etc'), { recursive: true })
    const programs = {
      '/bin/sh': '/bin/sh',
      '/bin/mkdir': '/bin/mkdir',
      '/bin/chown': '/bin/chown',
      [process.execPath]: '/usr/bin/node',
    }
    const natives = (await filesIn(join(installed, 'node_modules/@node-rs'))).filter((path) => path.endsWith('.node'))
    const linked = await run('ldd', [...Object.keys(programs), ...natives])
    const libraries = [...new Set(linked.stdout.match(/(?<=\s)\/\S+(?= \()/g))].map((path) => [path, path])
    for (const [from = '', to = ''] of [...Object.entries(programs), ...libraries]) await cp(await realpath(from), join(base, to))
    await writeFile(join(base, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\nnode:x:1000:1000::/:/bin/sh\n')
    await writeFile(join(base, 'etc/group'), 'root:x:0:\nnode:x:1000:\n')
    const from = await buildah('from', 'scratch')
    await buildah('copy', from, base, '/')
    await buildah('config', '--env', 'PATH=/usr/bin:/bin', from)
    await buildah('commit', from, 'localhost/base')
    await mkdir(join(work, 'build'))
    await cp(installed, join(work, 'build/release'), { recursive: true })
    const dockerfile = (await readFile(join(root, 'Dockerfile'), 'utf8')).replace(/(?<=^FROM )node:\S+/gm, 'localhost/base')
    await writeFile(join(work, 'Dockerfile'), dockerfile)
    const made = [
      '--pull-never',
      '--format=docker',
      `--build-context=build=${join(work, 'build')}`,
      '--file',
      join(work, 'Dockerfile'),
    ]
    await buildah('bud', ...made, '--tag', 'localhost/service', root)
    container = await buildah('from', '--pull-never', 'localhost/service')
  })
  afterAll(async () => {
    await signal('SIGKILL')
    await database.drop()
    await rm(work, { recursive: true, force: true })
  })

  test('runs as its own user, is healthy while it serves and unhealthy when it does not, and ends by SIGTERM', async () => {
    const { Docker } = JSON.parse(await buildah('inspect', '--type=image', 'localhost/service'))
    const { User: user, Cmd: command, Healthcheck: health } = Docker.config
    expect(user).toBe('node')
    const [, ...check]: string[] = health.Test
    const who = inContainer({}, 'node', '--print', 'process.getuid()')
    expect([(await who.ended).code, who.stdout().trim()]).toEqual([0, '1000'])

    const secret = Object.fromEntries(secrets.map((name) => [name, `k:${randomBytes(32).toString('base64')}`]))
    const port = await freePort()
    const variables = {
      ...secret,
      HOST: '127.0.0.1',
      OPERATOR_HOST: '127.0.0.1',
      OPERATOR_PORT: String(await freePort()),
      PORT: String(port),
      DATABASE_URL: database.url,
      PUBLIC_URL: 'https://pay.example',
      RAILS: 'sandbox',
      SIGN_UP: 'open',
    }
    expect((await inContainer(variables, ...check).ended).code).toBe(1)
    const server = inContainer(variables, ...command)
    await server.ready()
    await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
    expect((await inContainer(variables, ...check).ended).code).toBe(0)
    expect((await fetch(`http://127.0.0.1:${port}/payments`)).status).toBe(200)
    const written = inContainer({}, 'node', '--eval', "fs.writeFileSync('/service/build/server.js', '')")
    expect([(await written.ended).code, written.stderr()]).toEqual([1, expect.stringContaining('EACCES')])
    await signal('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })
})
