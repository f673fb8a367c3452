import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// `npm run drill` rehearses operators' emergencies on this machine. Each exercise starts separate servers from the embedded
// PostgreSQL, breaks them, repairs them with the documented commands, and counts the money at the provider. `npm run drill --
// failover` runs the exercises whose names contain the word. Configured databases are not used.

/** Tests that break real servers, and the document with the same steps for an operator. */
export const exercises = [
  {
    name: 'backup and point-in-time restore',
    does: 'Takes a base backup of a running server and archives its log; sends more payments; restores to a time between two payments; runs after-restore.',
    file: 'test/faults/base-backup.merge.test.ts',
    tests: ['restored to a moment, has what was acknowledged before it, and what was paid after it is not paid again'],
    document: 'docs/backup.md, "Restore to a moment"',
  },
  {
    name: 'an older copy',
    does: 'Starts the service on an older copy; finds the later payments at the provider; ends every payment from the statement.',
    file: 'test/faults/restore.merge.test.ts',
    tests: [
      'restored to an earlier moment: what was paid since is found at the provider, nothing is paid twice, and the books agree again',
    ],
    document: 'docs/failover.md, "After a restore"',
  },
  {
    name: 'failover',
    does: 'Promotes a lagging standby, then a synchronous one.',
    file: 'test/faults/failover.merge.test.ts',
    tests: [
      'a standby that lagged is promoted: the loss is noticed within five seconds, no waiting payment is paid twice, and a person resumes',
      'a synchronous standby is promoted: every acknowledged payment is there, is paid once, and nobody is needed',
    ],
    document: 'docs/failover.md',
  },
  {
    name: 'a server that hangs or dies',
    does: 'Freezes the database server; kills it under load and starts it again.',
    file: 'test/faults/server.merge.test.ts',
    tests: [
      'when frozen, requests get 503 in time, and the service recovers without a restart',
      'when killed and started again, nothing acknowledged is lost, and the service reconnects without a restart',
    ],
    document: 'docs/runbooks/database-down.md',
  },
  {
    name: 'a full disk',
    does: 'Fills the disk of the tables, then the disk of the write-ahead log; frees space; repeats the rejected requests.',
    file: 'test/faults/server.merge.test.ts',
    tests: [
      'with a full disk, requests get 503, nothing is half done, and the same requests succeed when there is space again',
      'with a full disk of the write-ahead log, requests get 503, and nothing acknowledged is lost when the server starts with space again',
    ],
    document: 'docs/runbooks/disk-full.md',
  },
  {
    name: 'a leaked key',
    does: 'Adds a new key to the ring, encrypts everything again with rotate-keys, and removes the old key.',
    file: 'test/admin/command.test.ts',
    tests: ['rotate-keys encrypts and fingerprints everything with the current keys, so the old ones can be removed'],
    document: 'docs/runbooks/lost-encryption-key.md',
  },
  {
    name: 'a lost or wrong key',
    does: 'Starts without a key that encrypted stored data, and with a different key under its name.',
    file: 'test/start/refusals.merge.test.ts',
    tests: ['does not start without a key under which data are stored, or with another one under its name'],
    document: 'docs/runbooks/lost-encryption-key.md',
  },
]

const root = new URL('../../..', import.meta.url)

type Result = { assertionResults: { title: string; status: string; failureMessages: string[] }[] }

const play = async (exercise: (typeof exercises)[number], folder: string) => {
  const [answers, figures] = [join(folder, 'answers.json'), join(folder, 'figures')]
  const pattern = exercise.tests.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', exercise.file, '-t', pattern, '--reporter=json', `--outputFile=${answers}`],
    { cwd: root, env: { ...process.env, FAULTS: 'full', FAULT_REPORT: figures }, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  await new Promise((resolve) => child.once('close', resolve))
  // Tests that could not run have written the reason, but no results.
  const { testResults }: { testResults: Result[] } = JSON.parse(await readFile(answers, 'utf8').catch(() => '{"testResults":[]}'))
  const results = testResults.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status !== 'skipped')
  const lines = (await readFile(figures, 'utf8').catch(() => '')).split('\n').filter(Boolean)
  return { results, figures: lines.map((line): { name: string; value: number | string } => JSON.parse(line)) }
}

const drill = async (word: string): Promise<void> => {
  const chosen = exercises.filter(({ name }) => name.includes(word))
  let failed = 0
  for (const exercise of chosen) {
    const folder = await mkdtemp(join(tmpdir(), 'drill-'))
    process.stdout.write(`\n${exercise.name}\n  ${exercise.does}\n`)
    const from = performance.now()
    const { results, figures } = await play(exercise, folder)
    await rm(folder, { recursive: true })
    for (const { title, status, failureMessages } of results)
      process.stdout.write(
        `  ${status === 'passed' ? '✓' : '✗'} ${title}\n${status === 'passed' ? '' : `${failureMessages.join('\n')}\n`}`,
      )
    for (const { name, value } of figures) process.stdout.write(`    ${name.replaceAll('_', ' ')}: ${value}\n`)
    process.stdout.write(`  ${Math.round((performance.now() - from) / 1000)} s · by hand: ${exercise.document}\n`)
    // Counts missing tests as failures, so that renaming a test cannot make its exercise pass.
    const missing = exercise.tests.length - results.filter(({ status }) => status === 'passed').length
    if (missing > 0) process.stdout.write(`  ${missing} of ${exercise.tests.length} did not pass\n`)
    failed += missing > 0 ? 1 : 0
  }
  process.stdout.write(`\n${chosen.length - failed} of ${chosen.length} exercises passed\n`)
  if (failed > 0 || chosen.length === 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await drill(process.argv[2] ?? '')
