import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig, variableNames } from '../../src/config.ts'
import { settingsOf } from '../../src/db/connection-settings.ts'
import { connectQueryOf } from '../db/between.ts'
import type { Json } from '../harness/client.ts'
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

test('an alert of one cell silences no call for another cell, and each message names its cell', () => {
  type Alertmanager = { route: { group_by: string[] }; inhibit_rules: { equal?: string[] }[] }
  const { route, inhibit_rules: inhibited } = parse(text('alertmanager/alertmanager.yml')) as Alertmanager
  expect(route.group_by).toEqual(['alertname', 'cell'])
  expect(inhibited.map(({ equal }) => equal)).toEqual(inhibited.map(() => ['cell']))
  expect(text('alertmanager/alertmanager.yml')).toMatch(/text: \|\n.*\{\{ \. \}\}: .*\.Annotations\.summary/)
})

test('every alert leads to a runbook that names it', () => {
  type Rules = { groups: { rules: { alert: string; annotations: { runbook: string } }[] }[] }
  const rules = ['rules.yml', 'postgres-rules.yml'].flatMap((name) =>
    (parse(text(name)) as Rules).groups.flatMap((group) => group.rules),
  )
  const page = (name: string) => readFileSync(fileURLToPath(new URL(`../../docs/runbooks/${name}`, import.meta.url)), 'utf8')
  expect(rules.length).toBeGreaterThan(25)
  expect(
    rules.filter(({ alert, annotations }) => !page(annotations.runbook).includes(`\`${alert}\``)).map(({ alert }) => alert),
  ).toEqual([])
})

test('every runbook is listed on the page where an operator looks first', () => {
  const folder = fileURLToPath(new URL('../../docs/runbooks', import.meta.url))
  const books = readdirSync(folder).filter((name) => name !== 'README.md')
  const list = readFileSync(join(folder, 'README.md'), 'utf8')
  expect(books.length).toBeGreaterThan(15)
  expect(books.filter((name) => !list.includes(`](${name})`))).toEqual([])
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
    // If Node is not at its usual place, the unit reports the missing program; it may report nothing else.
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

test.each(['payments', 'payments-listen'])('systemd restarts %s however long the database or the service is down', (name) => {
  const unit = text(`systemd/${name}.service`)
  expect(unit).toMatch(/^StartLimitIntervalSec=0$/m)
  expect(unit).toMatch(/^Restart=always$/m)
  expect(Number(/^RestartSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(5)
})

test('a cell has settings that exist, and each host name leads to backends that are there', () => {
  const set = Object.fromEntries(
    [...text('cells/one.env').matchAll(/^([A-Z_0-9]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
  expect(Object.keys(set).filter((name) => !variableNames.includes(name))).toEqual([])
  const cells = [...text('cells/cells.map').matchAll(/^([\w.]+) (\w+)$/gm)].map(([, host = '', cell = '']) => ({ host, cell }))
  expect(cells.map(({ host }) => host)).toContain(new URL(set.PUBLIC_URL ?? '').host)
  const backends = [...text('cells/haproxy.cfg').matchAll(/^backend (\S+) from/gm)].map(([, name]) => name)
  expect(backends).toEqual(cells.flatMap(({ cell }) => [cell, `${cell}-callbacks`]))
})

describe('Kubernetes', () => {
  type Part = { kind: string; metadata: { name: string }; spec: Json }
  const manifests = (parse(text('kubernetes/kustomization.yaml')) as { resources: string[] }).resources
  const parts = manifests.flatMap((name) =>
    text(`kubernetes/${name}`)
      .split(/^---$/m)
      .map((part) => parse(part) as Part),
  )
  const specOf = (kind: string, name: string): Json =>
    parts.find((part) => part.kind === kind && part.metadata.name === name)?.spec
  const pods = [specOf('StatefulSet', 'payments').template, specOf('Job', 'payments-migrate').template]

  test('every file but the settings is a resource, and every resource is a file', () => {
    const there = files.filter((path) => path.startsWith('kubernetes/')).map((path) => path.slice('kubernetes/'.length))
    expect(there.sort()).toEqual([...manifests, 'kustomization.yaml', 'settings.env'].sort())
  })

  test('settings exist, and production accepts them with the secrets that are mounted', () => {
    const set = [...text('kubernetes/settings.env').matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name)
    expect(set.map((name) => name.replace(/_FILE$/, '')).filter((name) => !variableNames.includes(name))).toEqual([])
    const files = [...text('kubernetes/settings.env').matchAll(/_FILE=\/secrets\/(\w+)$/gm)].map(([, name = '']) => name)
    expect(files.length).toBeGreaterThan(4)
    const page = readFileSync(fileURLToPath(new URL('../../docs/kubernetes.md', import.meta.url)), 'utf8')
    expect(files.filter((name) => !page.includes(`--from-file=${name}`))).toEqual([])
    const { namespace } = parse(text('kubernetes/kustomization.yaml')) as { namespace: string }
    expect(page.indexOf(`kubectl create namespace ${namespace}\n`)).toBeGreaterThan(0)
    expect(page.indexOf(`kubectl create namespace ${namespace}\n`)).toBeLessThan(page.indexOf('create secret'))
  })

  test('a process keeps its log on a volume of its own, and has the time that it needs to end', () => {
    const { template, volumeClaimTemplates } = specOf('StatefulSet', 'payments')
    expect(volumeClaimTemplates.map((claim: Part) => claim.metadata.name)).toEqual(['data'])
    expect(template.spec.containers[0].volumeMounts).toContainEqual({ name: 'data', mountPath: '/data' })
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(5 + 10 + 5)
  })

  test('no probe fails everywhere at once', () => {
    const [container] = specOf('StatefulSet', 'payments').template.spec.containers
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      expect([probe, container[probe].httpGet.path]).toEqual([probe, '/healthz'])
  })

  test('services, budget and network policy select the processes and name their ports', () => {
    const { template, selector } = specOf('StatefulSet', 'payments')
    const ports = template.spec.containers[0].ports.map(({ name }: { name: string }) => name)
    const selectors = [
      selector.matchLabels,
      specOf('PodDisruptionBudget', 'payments').selector.matchLabels,
      specOf('NetworkPolicy', 'payments').podSelector.matchLabels,
      ...['payments', 'payments-operator'].map((name) => specOf('Service', name).selector),
    ]
    for (const labels of selectors) expect(template.metadata.labels).toMatchObject(labels)
    const named = [
      ...['payments', 'payments-operator'].flatMap((name) =>
        specOf('Service', name).ports.map((port: { targetPort: string }) => port.targetPort),
      ),
      ...specOf('NetworkPolicy', 'payments').ingress.flatMap((rule: { ports: { port: string }[] }) =>
        rule.ports.map(({ port }) => port),
      ),
    ]
    expect(named.filter((name) => !ports.includes(name))).toEqual([])
  })

  test('nothing runs as root, writes to its image, or gains rights', () => {
    for (const { spec } of pods) {
      expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      expect(spec.automountServiceAccountToken).toBe(false)
      expect(spec.containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  })
})

test('the workflows run what is run here, and their steps name scripts that exist', () => {
  const folder = fileURLToPath(new URL('../../.github/workflows', import.meta.url))
  const { scripts } = JSON.parse(readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'))
  const workflow = (name: string) => readFileSync(join(folder, name), 'utf8')
  expect(Object.keys(parse(workflow('ci.yml')).jobs)).toEqual(['test'])
  expect(workflow('ci.yml')).toContain('bash .ci/run')
  const named = readdirSync(folder).flatMap((name) =>
    [...workflow(name).matchAll(/npm run ([\w:]+)/g)].map(([, script = '']) => script),
  )
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((script) => !(script in scripts))).toEqual([])
})

test('the pooler makes on each connection the settings that the service makes otherwise', () => {
  const ini = text('pgbouncer/pgbouncer.ini')
  const query = connectQueryOf(settingsOf(loadConfig({ NODE_ENV: 'test' }).DATABASE_STATEMENT_TIMEOUT_MS))
  // PgBouncer sends at most 512 bytes on a new connection, the frame included.
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
