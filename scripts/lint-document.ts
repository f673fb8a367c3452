import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeService } from './describe-service.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The address of a deployment: a development server's document names localhost, which is not a finding. */
const servers = [{ url: 'https://payments.test' }]

const linters: readonly (readonly [name: string, ...parameters: string[]])[] = [
  ['redocly', 'lint', '--config', 'redocly.yaml', '--max-problems', '50'],
  ['spectral', 'lint', '--ruleset', '.spectral.yaml', '--fail-severity', 'hint'],
]

const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }

/** Both linters with their recommended rules. Warnings count too: findings that stay are no longer read. */
const lint = (file: string): string[] =>
  linters.flatMap(([name, ...parameters]) => {
    const run = spawnSync(join(root, 'node_modules/.bin', name), [...parameters, file], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, ...quiet },
    })
    const output = `${run.stdout}${run.stderr}`
    const clean = run.status === 0 && !/\bYou have \d+ warning/.test(output)
    return clean ? [] : [`${name}:\n${output}`]
  })

const folder = await mkdtemp(join(tmpdir(), 'api-document-'))
const file = join(folder, 'openapi.json')
await writeFile(file, JSON.stringify({ ...(await describeService()).document, servers }, null, 2))
const findings = lint(file)
await rm(folder, { recursive: true })
process.stdout.write(findings.length === 0 ? 'The API document has no findings.\n' : findings.join('\n'))
process.exitCode = findings.length === 0 ? 0 : 1
