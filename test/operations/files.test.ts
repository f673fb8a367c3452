import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig, variableNames } from '../../src/config.ts'
import { settingsOf } from '../../src/db/settings.ts'
import { connectQueryOf } from '../db/between.ts'
import { isInstalled } from './balancer.ts'

const root = fileURLToPath(new URL('../../deploy', import.meta.url))
const file = (path: string) => join(root, path)
const text = (path: string) => readFileSync(file(path), 'utf8')

const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== 'README.md')
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))

test('every file of deploy/ stands in its table, with how it was tried', () => {
  const table = text('README.md')
  const named = (path: string) => table.includes(`\`${path}\``) || table.includes(`\`${path.split('/')[0]}/\``)
  expect(files.filter((path) => !named(path))).toEqual([])
})

test('alerts are sent on by names that exist, and each message links its runbook', () => {
  const { groups } = parse(text('rules.yml')) as { groups: { rules: { alert: string }[] }[] }
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
  const { inhibit_rules: inhibited } = parse(text('alertmanager/alertmanager.yml')) as {
    inhibit_rules: { source_matchers: string[]; target_matchers: string[] }[]
  }
  const named = inhibited
    .flatMap(({ source_matchers, target_matchers }) => [...source_matchers, ...target_matchers])
    .flatMap((matcher) => matcher.match(/"(.*)"/)?.[1]?.split('|') ?? [])
  expect(named.length).toBeGreaterThan(2)
  expect(named.filter((name) => !alerts.includes(name))).toEqual([])
  expect(text('alertmanager/alertmanager.yml')).toContain('docs/runbooks/{{ .Annotations.runbook }}')
})

test('every runbook says when its commands were last run, and what was seen', () => {
  const folder = fileURLToPath(new URL('../../docs/runbooks', import.meta.url))
  const books = readdirSync(folder).filter((name) => name !== 'README.md')
  expect(books.length).toBeGreaterThan(15)
  const walked = (name: string) => /^\*\*Walked on 20\d\d-\d\d-\d\d:\*\* \S/m.test(readFileSync(join(folder, name), 'utf8'))
  expect(books.filter((name) => !walked(name))).toEqual([])
})

describe('programs accept their files', () => {
  const amtool = isInstalled('amtool')
  if (!amtool) process.stderr.write('amtool is not installed here: deploy/alertmanager is not checked\n')
  test.skipIf(!amtool)('Alertmanager', () => {
    const checked = spawnSync('amtool', ['check-config', file('alertmanager/alertmanager.yml')], { encoding: 'utf8' })
    expect([checked.status, checked.stderr]).toEqual([0, ''])
  })

  const analyze = isInstalled('systemd-analyze')
  if (!analyze) process.stderr.write('systemd-analyze is not installed here: deploy/systemd is not checked\n')
  test.skipIf(!analyze).each(['payments', 'payments-listen'])('systemd: %s', (name) => {
    const checked = spawnSync('systemd-analyze', ['verify', '--man=no', file(`systemd/${name}.service`)], { encoding: 'utf8' })
    // Where Node is not at its usual place the unit says that its program is missing; nothing else may be said.
    expect(checked.stderr.split('\n').filter((line) => line.includes(name) && !line.includes('is not executable'))).toEqual([])
  })
})

test('a process under systemd gets settings that exist, and the time that it needs to end', () => {
  const unit = text('systemd/payments.service')
  expect(unit).toMatch(/^EnvironmentFile=\/etc\/payments\/settings\.env$/m)
  const set = [...text('systemd/settings.env').matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name)
  expect(set.length).toBeGreaterThan(4)
  expect(set.map((name) => name.replace(/_FILE$/, '')).filter((name) => !variableNames.includes(name))).toEqual([])
  expect(Number(/TimeoutStopSec=(\d+)/.exec(unit)?.[1])).toBeGreaterThanOrEqual(5 + 10 + 5)
})

test('the pooler makes on each connection the settings that the service makes otherwise', () => {
  const ini = text('pgbouncer/pgbouncer.ini')
  const query = connectQueryOf(settingsOf(loadConfig({ NODE_ENV: 'test' }).DATABASE_STATEMENT_TIMEOUT_MS))
  // What PgBouncer sends on a new connection has 512 bytes, its frame included.
  expect(query.replaceAll("''", "'").length).toBeLessThanOrEqual(506)
  const line = `payments = host=10.0.0.20 port=5432 dbname=payments connect_query='${query}'`
  if (process.env.RECORD_EXAMPLES === '1')
    writeFileSync(
      file('pgbouncer/pgbouncer.ini'),
      ini.replace(/^payments = .*$/m, () => line),
    )
  else expect(ini.split('\n')).toContain(line)
  expect(ini).toMatch(/^pool_mode = transaction$/m)
})
