import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openRunFolder } from '../harness/run-folder.ts'
import { startTestServer } from '../harness/server.ts'
import { mutants } from './list.ts'
import type { Mutant } from './mutant.ts'

/*
 * Plants one bug at a time in a copy of the source, and runs the suite that must detect it. `npm run test:mutants`, or a part of
 * it: `… -- 2/5`, or some files: `… -- src/db/loss-detection.ts`. Exits with 1 if a bug stays undetected.
 */

const root = join(import.meta.dirname, '../..')
const chosen = process.argv[2] ?? '1/1'
const perSuiteMs = 300_000

/** The files that a suite may read. Dependencies are linked, because they are not changed. */
const copied = [
  ...['src', 'test', 'migrations', 'scripts', 'docs', 'client', 'dashboard', 'build', 'verifier', 'deploy', 'texts'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'vitest.config.ts', 'README.md', 'CHANGELOG.md', '.env.example'],
]

const makeCopy = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'mutants-'))
  for (const name of copied)
    await cp(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    }).catch(() => undefined)
  for (const name of ['node_modules', 'client/node_modules', 'dashboard/node_modules']) {
    const packages = await readdir(join(root, name)).catch(() => [])
    if (packages.length > 0) await mkdir(join(folder, name), { recursive: true })
    // Programs with a bug are built into the copy's own cache.
    for (const each of packages)
      if (!each.startsWith('.cache')) await symlink(join(root, name, each), join(folder, name, each)).catch(() => undefined)
  }
  return folder
}

const importsIn = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/ from '(\.[^']+\.ts)'/g)].map(([, path = '']) => join(dirname(file), path))

/** Whether a suite starts programs, which are then built with the bug. */
const startsPrograms = (file: string, seen = new Set<string>()): boolean => {
  if (file.endsWith('/test/harness/programs.ts')) return true
  if (seen.has(file) || !file.includes('/test/')) return false
  seen.add(file)
  return importsIn(file).some((path) => startsPrograms(path, seen))
}

/** Whether the suite fails. A suite that hangs has detected the bug too. */
const isNoticed = (folder: string, suite: string, env: Record<string, string>): Promise<boolean> =>
  new Promise((resolve) => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const child = spawn(process.execPath, [vitest, 'run', suite, '--bail=1', '--maxWorkers=1', '--reporter=dot'], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: 'ignore',
      detached: true,
    })
    const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), perSuiteMs)
    child.once('exit', (code) => {
      clearTimeout(timer)
      resolve(code !== 0)
    })
  })

const plant = async (folder: string, { file, find, replace, bug }: Mutant): Promise<() => Promise<void>> => {
  const path = join(folder, file)
  const source = await readFile(path, 'utf8')
  if (source.split(find).length !== 2) throw new Error(`"${bug}" is not planted: ${file} does not have its text exactly once`)
  await writeFile(
    path,
    source.replace(find, () => replace),
  )
  return () => writeFile(path, source)
}

const [, part, parts] = /^(\d+)\/(\d+)$/.exec(chosen) ?? []
const own = mutants.filter(({ file }, index) =>
  part === undefined ? file.includes(chosen) : index % Number(parts) === Number(part) - 1,
)
const folder = await makeCopy()
const files = await openRunFolder()
const server = await startTestServer(files.postgres)
const survivors: Mutant[] = []
try {
  const shared = { TEST_DATABASE_URL: server.adminUrl }
  for (const [suite, ofSuite] of Map.groupBy(own, (mutant) => mutant.suite)) {
    const needsBuilds = startsPrograms(join(folder, suite))
    if (await isNoticed(folder, suite, shared)) throw new Error(`${suite} fails without a bug: nothing can be learned from it`)
    for (const mutant of ofSuite) {
      const from = performance.now()
      const restore = await plant(folder, mutant)
      const isBuilt = needsBuilds || !mutant.file.startsWith('src/')
      const noticed = await isNoticed(folder, suite, isBuilt ? shared : { ...shared, TEST_BUILDS: 'off' })
      await restore()
      if (!noticed) survivors.push(mutant)
      const seconds = Math.round((performance.now() - from) / 1000)
      console.log(`${noticed ? 'noticed ' : 'SURVIVED'} ${mutant.bug} (${suite}, ${seconds} s)`)
    }
  }
  console.log(`${own.length - survivors.length} of ${own.length} were noticed`)
} finally {
  await server.stop()
  await files.remove()
  await rm(folder, { recursive: true, force: true })
}
process.exitCode = survivors.length === 0 ? 0 : 1
