import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeService } from './describe-service.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A deployment's URL. A development server's document contains localhost, which the linter would report. */
const servers = [{ url: 'https://payments.test' }]

const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

/** Uses Redocly's recommended rules. Warnings fail too, because permanent warnings are ignored. */
const findingsIn = (file: string): string => {
  const args = ['lint', '--config', 'redocly.yaml', '--max-problems', '50', file]
  const env = { ...process.env, ...quiet }
  const run = spawnSync(join(root, 'node_modules/.bin/redocly'), args, { cwd: root, encoding: 'utf8', env })
  const output = `${run.stdout}${run.stderr}`
  return run.status === 0 && !/\bYou have \d+ warning/.test(output) ? '' : output
}

const folder = await mkdtemp(join(tmpdir(), 'api-document-'))
const file = join(folder, 'openapi.json')
await writeFile(file, JSON.stringify({ ...(await describeService()).document, servers }, null, 2))
const findings = findingsIn(file)
await rm(folder, { recursive: true })
process.stdout.write(findings === '' ? 'The API document has no problems.\n' : findings)
process.exitCode = findings === '' ? 0 : 1
