import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { ensureDashboardBuilt } from './build-dashboard.ts'
import { ensureDocsBuilt } from './build-docs.ts'
import { buildVersion } from './build-version.ts'
import { ensureBundled, separate } from './bundle.ts'
import { filesIn } from './ensure-built.ts'
import { ensureClientPacked } from './pack-client.ts'

const root = dirname(import.meta.dirname)
const maxBytes = 200 * 2 ** 20

/** In archive order, because the first files detect if later ones are missing. */
const parts = [
  'scripts/installed.js',
  'scripts/require-node.js',
  'scripts/start.js',
  'scripts/admin.js',
  'build',
  'migrations',
  'dashboard/dist',
  'client/pack',
  'client/python',
  'client/releases',
  'docs',
  'deploy',
  '.env.example',
  'CHANGELOG.md',
  'LICENSE',
]

/** Fallback of secp256k1 that the service never loads (docs/security.md). */
const unused = ['elliptic']

class NotPackaged extends Error {}

const read = async (path: string) => JSON.parse(await readFile(join(root, path), 'utf8'))

/** The folders of a package and its dependencies, resolved as Node does. An optional one may be for another platform. */
const modulesOf = async (name: string, from = root, optional = false): Promise<string[]> => {
  const folder = join(from, 'node_modules', name)
  if (existsSync(folder)) {
    const { dependencies = {}, optionalDependencies = {} } = await read(relative(root, join(folder, 'package.json')))
    const needed = Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((one) => !unused.includes(one))
      .map((one) => modulesOf(one, folder, one in optionalDependencies))
    return [relative(root, folder), ...(await Promise.all(needed)).flat()]
  }
  if (from !== root) return modulesOf(name, dirname(from), optional)
  if (optional) return []
  throw new NotPackaged(`the package ${name} is not installed: run npm ci`)
}

const builds = {
  'The dashboard': ensureDashboardBuilt,
  'The documentation': ensureDocsBuilt,
  'The service': ensureBundled,
  'The client': ensureClientPacked,
}

const buildAll = async (): Promise<void> => {
  for (const [what, build] of Object.entries(builds)) {
    const result = await build().catch((cause: unknown) => {
      throw new NotPackaged(`${what} cannot be built`, { cause })
    })
    if (result === 'kept')
      throw new NotPackaged(`${what} cannot be built because its tools are not installed: run npm ci without --omit`)
  }
}

/** The licences of all production packages, because their code is in the bundle. */
const licences = async (): Promise<string> => {
  const { packages } = await read('package-lock.json')
  const folders = Object.keys(packages).filter(
    (path) => path.startsWith('node_modules/') && !packages[path].dev && !packages[path].bin?.node,
  )
  const texts = folders.map(async (folder) => {
    const names = (await readdir(join(root, folder)).catch(() => [])).filter((name) => /^(licen[cs]e|copying)/i.test(name))
    const files = (await Promise.all(names.map((name) => filesIn(join(root, folder, name))))).flat()
    return Promise.all(files.map(async (path) => `${relative(root, path)}\n\n${await readFile(path, 'utf8')}`))
  })
  return (await Promise.all(texts)).flat().join('\n\n')
}

const bytesOf = async (path: string): Promise<number> => (await stat(path)).size

/** The exercises break their own servers and need a checkout's tests. */
const noDrill = 'The exercises need a checkout of this version: run npm ci and npm run drill there.'

/** The runtime files with a list of their sizes, so that an incomplete copy refuses to start (installed.js). */
const layOut = async (folder: string, name: string): Promise<void> => {
  const modules = (await Promise.all(separate.map((one) => modulesOf(one)))).flat()
  const compiled = join(root, 'build/compiled')
  for (const path of [...parts, ...modules])
    await cp(join(root, path), join(folder, path), { recursive: true, filter: (from) => from !== compiled })
  const { license, type, scripts } = await read('package.json')
  const manifest = {
    name: 'payments-service',
    version: buildVersion(),
    license,
    type,
    // A checkout installs its own Node, unlike a package.
    engines: { node: '>=24' },
    scripts: { start: scripts.start, admin: scripts.admin, drill: `node -e "console.error('${noDrill}'); process.exitCode = 1"` },
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
  await writeFile(join(folder, 'LICENSES-OF-PACKAGES'), await licences())
  const files = await Promise.all(
    (await filesIn(folder)).map(async (path) => [relative(folder, path), await bytesOf(path)] as const),
  )
  const total = files.reduce((sum, [, bytes]) => sum + bytes, 0)
  if (total > maxBytes)
    throw new NotPackaged(`it would have ${Math.ceil(total / 2 ** 20)} MB; the limit is ${maxBytes / 2 ** 20} MB`)
  await writeFile(join(folder, 'files.json'), JSON.stringify({ name, files: Object.fromEntries(files) }))
}

/** An archive for a machine with only Node and PostgreSQL. The systemd unit and the container image use it. */
const makePackage = async (into: string): Promise<string> => {
  await buildAll()
  const name = `payments-service-${buildVersion()}-${process.platform}-${process.arch}`
  const work = await mkdtemp(join(tmpdir(), 'package-'))
  try {
    const folder = join(work, name)
    await mkdir(folder)
    await layOut(folder, name)
    await mkdir(into, { recursive: true })
    const archive = join(into, `${name}.tar.gz`)
    const first = ['files.json', 'package.json', 'scripts']
    const rest = (await readdir(folder)).filter((entry) => !first.includes(entry))
    // Owned by the user that unpacks it, and readable by the user that runs it.
    const modes = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u+rw,go+rX,go-w']
    await promisify(execFile)('tar', [
      '-czf',
      archive,
      ...modes,
      '-C',
      work,
      ...[...first, ...rest].map((one) => join(name, one)),
    ])
    return archive
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

try {
  const archive = await makePackage(resolve(process.argv[2] ?? join(root, 'package')))
  console.log(`package: ${archive} (${Math.ceil((await bytesOf(archive)) / 2 ** 20)} MB)`)
} catch (error) {
  if (!(error instanceof NotPackaged)) throw error
  console.error(`The package was not built: ${error.message}.`)
  if (error.cause instanceof Error) console.error(error.cause.message)
  process.exitCode = 1
}
