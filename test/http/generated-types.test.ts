import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeService } from '../../scripts/describe-service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const typescript5 = join(root, 'scripts/typescript-5.ts')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generated-types-'))
  await writeFile(join(folder, 'openapi.json'), JSON.stringify((await describeService()).document))
})
afterAll(() => rm(folder, { recursive: true }))

const node = (...parameters: string[]) => {
  const run = spawnSync(process.execPath, parameters, { cwd: folder, encoding: 'utf8' })
  return { status: run.status, output: `${run.stdout}${run.stderr}` }
}

const generator = (path: string, ...parameters: string[]) =>
  expect(node('--import', typescript5, join(root, 'node_modules', path), ...parameters)).toMatchObject({ status: 0 })

/**
 * Compiled by the TypeScript of this project, as strictly as it can, all in one run; what it complains of in each script. What it
 * complains of anywhere else counts as the first one's.
 */
const compile = async (scripts: readonly string[]): Promise<string[]> => {
  const names = scripts.map((_, index) => `script-${index}.ts`)
  for (const [index, script] of scripts.entries()) await writeFile(join(folder, names[index] ?? ''), script)
  const strict = [
    '--strict',
    '--noUncheckedIndexedAccess',
    '--noEmit',
    '--singleThreaded',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--pretty',
    'false',
    '--exactOptionalPropertyTypes',
  ]
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const complaints: string[] = names.map(() => '')
  let about = 0
  for (const line of node(tsc, ...strict, '--allowImportingTsExtensions', ...names).output.split('\n')) {
    // What begins with a space goes on about the line before.
    if (!line.startsWith(' '))
      about = Math.max(
        0,
        names.findIndex((name) => line.startsWith(`${name}(`)),
      )
    if (line !== '') complaints[about] += `${line}\n`
  }
  return complaints
}

const uses = (event: string, body: string) => `
export const pay = (beneficiary: string): ${body} => ({ beneficiary_id: beneficiary, amount_minor: '5000', metadata: { invoice: '17' } })
export const describe = (event: ${event}): string => {
  switch (event.type) {
    case 'payment.succeeded': return event.data.amount_minor + (event.data.provider_receipt ?? '')
    case 'payment.failed': return event.data.failure_code === 'policy_changed' ? 'changed' : (event.data.provider_code ?? '')
    case 'approval.requested': return event.data.signing.approve
    case 'balance.updated': return event.data.balance.available_minor
    case 'member.invited': return event.data.invited_by
    case 'member.joined': return event.data.role satisfies 'owner' | 'admin' | 'approver' | 'member' | 'viewer'
    default: return event.created_at
  }
}
`

test('a correct program with the types of openapi-typescript compiles, and a wrong one does not', async () => {
  generator('openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'types.ts')
  const script = `import type { components, paths } from './types.ts'
type Body = paths['/v1/payments']['post']['requestBody']['content']['application/json']
type Refusal = paths['/v1/payments']['post']['responses'][403]['content']['application/json']
export const whatStopped = (refusal: Refusal) => refusal.details?.decision?.trace?.find(({ decisive }) => decisive)?.rule
export const lost = (event: components['schemas']['StreamEvent']) => event.type === 'stream.reset' ? event.data.retention_days : null
${uses("components['schemas']['Event']", 'Body')}`
  const [good, event, amount] = await compile([
    script,
    script.replace("case 'payment.failed'", "case 'payment.exploded'"),
    script.replace("amount_minor: '5000'", 'amount_minor: 5000'),
  ])
  expect(good).toBe('')
  expect(event).toContain('payment.exploded')
  expect(amount).toContain('number')
})
