import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Exercise, exercises } from './exercises.ts'

// `npm run drill`: what an operator hopes never to need, done once on this machine. Each exercise starts servers of its own from PostgreSQL's
// embedded programs, breaks them, mends them by the documented commands, and counts the money at the provider. `npm run drill -- failover`
// plays those whose name contains the word. It touches no database that is configured.

const root = new URL('../../..', import.meta.url)

type Result = { assertionResults: { title: string; status: string; failureMessages: string[] }[] }

const play = async (exercise: Exercise, folder: string) => {
  const [answers, figures] = [join(folder, 'answers.json'), join(folder, 'figures')]
  const [first = '', ...others] = exercise.tests
  const pattern = [first, ...others].map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', exercise.file, '-t', pattern, '--reporter=json', `--outputFile=${answers}`],
    { cwd: root, env: { ...process.env, FAULTS: 'full', FAULT_REPORT: figures }, stdio: 'ignore' },
  )
  await new Promise((resolve) => child.once('close', resolve))
  const { testResults }: { testResults: Result[] } = JSON.parse(await readFile(answers, 'utf8'))
  const played = testResults.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status !== 'skipped')
  const lines = (await readFile(figures, 'utf8').catch(() => '')).split('\n').filter(Boolean)
  return { played, figures: lines.map((line): { name: string; value: number | string } => JSON.parse(line)) }
}

const chosen = exercises.filter(({ name }) => name.includes(process.argv[2] ?? ''))
let failed = 0
for (const exercise of chosen) {
  const folder = await mkdtemp(join(tmpdir(), 'drill-'))
  process.stdout.write(`\n${exercise.name}\n  ${exercise.does}\n`)
  const from = performance.now()
  const { played, figures } = await play(exercise, folder)
  await rm(folder, { recursive: true })
  for (const { title, status, failureMessages } of played)
    process.stdout.write(
      `  ${status === 'passed' ? '✓' : '✗'} ${title}\n${status === 'passed' ? '' : `${failureMessages.join('\n')}\n`}`,
    )
  for (const { name, value } of figures) process.stdout.write(`    ${name.replaceAll('_', ' ')}: ${value}\n`)
  process.stdout.write(`  ${Math.round((performance.now() - from) / 1000)} s · by hand: ${exercise.document}\n`)
  // A test that was renamed must not let its exercise pass.
  const missing = exercise.tests.length - played.filter(({ status }) => status === 'passed').length
  if (missing > 0) process.stdout.write(`  ${missing} of ${exercise.tests.length} did not pass\n`)
  failed += missing > 0 ? 1 : 0
}
process.stdout.write(`\n${chosen.length - failed} of ${chosen.length} exercises passed\n`)
if (failed > 0 || chosen.length === 0) process.exitCode = 1
