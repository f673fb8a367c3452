import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Release, readMigrations, readReleases, releasesFile } from '../src/db/migrations.ts'
import { ensureClientPacked } from './pack-client.ts'
import { changedMigrations } from './releases.ts'

// `npm run release -- <version>` writes the version everywhere, records its migrations, and dumps a database for tests of later
// upgrades. It commits nothing, but prints the commands that do.

const root = new URL('..', import.meta.url)
const path = (file: string) => fileURLToPath(new URL(file, root))
const read = (file: string) => readFileSync(path(file), 'utf8')
const edit = (file: string, change: (text: string) => string) => writeFileSync(path(file), change(read(file)))
const run = (command: string, args: string[], env: Record<string, string> = {}) =>
  execFileSync(command, args, { cwd: fileURLToPath(root), stdio: 'inherit', env: { ...process.env, ...env } })
const git = (...args: string[]) => execFileSync('git', args, { cwd: fileURLToPath(root), encoding: 'utf8' }).trim()

class Refusal extends Error {}
const refuseIf = (condition: boolean, sentence: string) => {
  if (condition) throw new Refusal(sentence)
}

const isNewer = (version: string, than: string): boolean => {
  const [one, other] = [version, than].map((text) => text.split('.').map(Number))
  const at = [0, 1, 2].find((index) => one?.[index] !== other?.[index])
  return at !== undefined && (one?.[at] ?? 0) > (other?.[at] ?? 0)
}

/** The source is package.json. `test/architecture/version.test.ts` compares all other places with it. */
const writeVersion = (version: string) => {
  for (const file of ['package.json', 'client/package.json'])
    edit(file, (text) => text.replace(/"version": "[^"]*"/, `"version": "${version}"`))
  edit('client/python/pyproject.toml', (text) => text.replace(/^version = "[^"]*"/m, `version = "${version}"`))
  const lock: { version: string; packages: Record<string, { version: string }> } = JSON.parse(read('package-lock.json'))
  for (const one of [lock, lock.packages[''], lock.packages.client]) if (one) one.version = version
  writeFileSync(path('package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`)
  edit('deploy/kubernetes/kustomization.yaml', (text) => text.replace(/newTag: \S+/, `newTag: ${version}`))
  edit('client/README.md', (text) => text.replace(/client-\d+\.\d+\.\d+\.tgz/g, `client-${version}.tgz`))
  edit('README.md', (text) => text.replace(/This is version \d+\.\d+\.\d+/, `This is version ${version}`))
  edit('docs/guides/testing.md', (text) => text.replace(/ref: v\d+\.\d+\.\d+/g, `ref: v${version}`))
  for (const file of ['src/lib/version.ts', 'client/src/cli/version.ts'])
    edit(file, (text) => text.replace(/version = '[^']*'/, `version = '${version}'`))
}

const writeChangelogs = (version: string) => {
  const today = new Date().toISOString().slice(0, 10)
  edit('CHANGELOG.md', (text) => text.replace(/## \[Unreleased\]\n+/, `## [Unreleased]\n\n## [${version}] - ${today}\n\n`))
  edit('docs/guides/changelog.md', (text) => text.replaceAll(/^\| next \|/gm, `| ${version} |`))
}

const recordMigrations = (releases: readonly Release[], version: string) => {
  const known = new Set(releases.flatMap(({ migrations }) => Object.keys(migrations)))
  const all = readMigrations()
  const added = all.filter(({ tag }) => !known.has(tag)).map(({ tag, hash }) => [tag, hash])
  const last = all.at(-1)?.tag ?? ''
  const written = [...releases, { version, last, migrations: Object.fromEntries(added) }]
  writeFileSync(releasesFile(), `${JSON.stringify(written, null, 2)}\n`)
}

/** Records the client that integrators install under this version forever. */
const recordClient = async (version: string): Promise<void> => {
  await ensureClientPacked()
  const folder = path('client/releases')
  const shipped = {
    'pack/client.tgz': 'client-*.tgz',
    'pack/verify-receipt.mjs': 'verify-receipt-*.mjs',
    'python/payments.py': 'payments-*.py',
  }
  for (const [from, pattern] of Object.entries(shipped)) {
    const name = pattern.replace('*', version)
    copyFileSync(path(`client/${from}`), `${folder}/${name}`)
    const sha256 = createHash('sha256')
      .update(readFileSync(`${folder}/${name}`))
      .digest('hex')
    edit('client/releases/hashes.json', (text) => `${JSON.stringify({ ...JSON.parse(text), [name]: sha256 }, null, 2)}\n`)
  }
}

const check = (version: string | undefined, releases: readonly Release[]): string => {
  if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) throw new Refusal('usage: npm run release -- 0.2.0')
  const last = releases.at(-1)?.version
  refuseIf(last !== undefined && !isNewer(version, last), `${version} is not newer than ${last}.`)
  refuseIf(git('status', '--porcelain') !== '', 'There are uncommitted changes: commit them first.')
  refuseIf(git('tag', '--list', `v${version}`) !== '', `The tag v${version} already exists.`)
  const changed = changedMigrations(releases)
  refuseIf(changed.length > 0, `A released migration is never edited: ${changed.join('; ')}.`)
  run('npm', ['run', '--silent', 'db:generate'])
  refuseIf(
    git('status', '--porcelain') !== '',
    'src/db/tables changed without a migration: check the new migration and commit it.',
  )
  return version
}

const release = async () => {
  const { positionals } = parseArgs({ allowPositionals: true })
  const releases = readReleases()
  const version = check(positionals[0], releases)
  writeVersion(version)
  writeChangelogs(version)
  recordMigrations(releases, version)
  await recordClient(version)
  // Fills a database over HTTP, dumps and restores it and continues with it. Also upgrades the dumps of all releases.
  const tests = ['test/upgrade', 'test/architecture/version.test.ts', 'test/architecture/migrations.test.ts']
  run('vitest', ['run', ...tests], { RELEASE_DUMP: version })
  const dump = `test/upgrade/dumps/v${version}.sql.gz`
  refuseIf(!existsSync(path(dump)), `${dump} was not written.`)
  console.log(`
${version} is ready: migrations/releases.json has its migrations, and ${dump} is a database of this version. Now run:

  git add --all && git commit --message 'Release ${version}' && git tag --annotate v${version} --message 'Release ${version}'`)
}

try {
  await release()
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(error.message)
  process.exitCode = 1
}
