import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadConfig, variableNames } from '../../src/config.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = (path: string) => readFileSync(join(root, path), 'utf8')

type Service = {
  image?: string
  build?: string
  command?: string[]
  depends_on?: string[] | Record<string, { condition: string }>
  env_file?: string
  environment?: Record<string, string>
  volumes?: string[]
  ports?: string[]
  healthcheck?: { test: string[]; interval: string; timeout: string; retries: number }
  stop_grace_period?: string
  restart?: string
}
const compose: { services: Record<string, Service>; volumes: Record<string, null> } = parse(text('docker-compose.yml'))
const services = Object.entries(compose.services)
const { service } = compose.services
if (!service) throw new Error('docker-compose.yml has no service of ours')

/** Compose's value for `${NAME:-default}` without such a variable. */
const filled = (value: string): string => value.replace(/\$\{(\w+):-([^}]*)\}/g, '$2')
const bare = (value: string) => /\$(?!\{\w+:-)/.test(value)
const dependencies = ({ depends_on: on = [] }: Service) => (Array.isArray(on) ? on : Object.keys(on))
const containerPorts = ({ ports = [] }: Service) => ports.map((port) => Number(port.split(':').at(-1)))

const tool = ['docker-compose', 'docker compose'].find((command) => spawnSync('sh', ['-c', `${command} version`]).status === 0)
if (!tool) process.stderr.write('Compose is not installed here: docker-compose.yml is not read by it\n')

test.skipIf(!tool)('Compose accepts the file, without a .env and with one', () => {
  const read = (env: Record<string, string>) => {
    const given = { PATH: process.env.PATH, HOME: process.env.HOME, ...env }
    return spawnSync('sh', ['-c', `${tool} --file docker-compose.yml config`], { cwd: root, encoding: 'utf8', env: given })
  }
  const accepted = read({})
  expect([accepted.status, accepted.stderr]).toEqual([0, ''])
  expect(Object.keys(parse(accepted.stdout).services).toSorted()).toEqual(services.map(([name]) => name).toSorted())
  const folder = mkdtempSync(join(tmpdir(), 'compose-'))
  const file = join(folder, 'settings')
  writeFileSync(file, 'CURRENCY=KES\n')
  expect(parse(read({ ENV_FILE: file }).stdout).services.service.environment.CURRENCY).toBe('KES')
  expect(read({ ENV_FILE: join(folder, 'none') }).status).not.toBe(0)
  rmSync(folder, { recursive: true })
})

/** These tests run without Docker: the test reads Docker's input, and compares it with the files that Docker would find. */
describe('docker-compose.yml', () => {
  test('uses only keys that Compose has', () => {
    const known = 'image build command depends_on env_file environment volumes ports healthcheck stop_grace_period restart'
    expect(Object.keys(compose).toSorted()).toEqual(['services', 'volumes'])
    for (const [name, one] of services) {
      expect(
        Object.keys(one).filter((key) => !known.split(' ').includes(key)),
        name,
      ).toEqual([])
      expect(
        [one.image, one.build].filter((from) => from !== undefined),
        name,
      ).toHaveLength(1)
      // A named tag, so that the next start has the same version.
      if (one.image) expect(one.image, name).toMatch(/^[\w/.-]+:v?\d[\w.-]*@sha256:[0-9a-f]{64}$/)
      expect(Object.values(one.environment ?? {}).filter(bare), name).toEqual([])
    }
  })

  test('waits only for existing services, and for health only if it is checked', () => {
    for (const [name, one] of services) {
      for (const other of dependencies(one)) expect(Object.keys(compose.services), `${name} needs ${other}`).toContain(other)
      if (one.depends_on === undefined || Array.isArray(one.depends_on)) continue
      for (const [other, { condition }] of Object.entries(one.depends_on))
        if (condition === 'service_healthy') expect(compose.services[other]?.healthcheck?.test[0], other).toMatch(/^CMD/)
    }
    expect(dependencies(service)).toEqual(['postgres', 'redis'])
    const { environment = {}, healthcheck } = compose.services.postgres ?? {}
    expect(healthcheck?.test[1]).toBe(`pg_isready --username ${environment.POSTGRES_USER} --dbname ${environment.POSTGRES_DB}`)
  })

  test('mounts existing files and named volumes, each where the image expects them', () => {
    const used = services.flatMap(([name, { volumes = [] }]) =>
      volumes.map((volume) => {
        const [from = '', to = '', mode] = volume.split(':')
        return { name, from, to, mode }
      }),
    )
    for (const { name, from, mode } of used) {
      if (from.startsWith('./')) expect([name, from, existsSync(join(root, from)), mode]).toEqual([name, from, true, 'ro'])
      else expect(Object.keys(compose.volumes), `${name}: ${from}`).toContain(from)
    }
    expect(Object.keys(compose.volumes).filter((volume) => !used.some(({ from }) => from === volume))).toEqual([])
    const dataDir = service.environment?.DATA_DIR ?? ''
    expect(used.find(({ from }) => from === 'data')?.to).toBe(dataDir)
    expect(text('Dockerfile')).toContain(`mkdir ${dataDir} && chown node:node ${dataDir}`)
    expect(text('Dockerfile')).toMatch(new RegExp(`^ENV .*DATA_DIR=${dataDir}$`, 'm'))
    const mountedIn = (name: string, file: string) => used.some((one) => one.name === name && file.startsWith(one.to))
    const prometheus: { rule_files: string[] } = parse(text('deploy/prometheus.yml'))
    for (const file of ['/etc/prometheus/prometheus.yml', ...prometheus.rule_files])
      expect([file, mountedIn('prometheus', file)]).toEqual([file, true])
    const boards = parse(text('deploy/grafana/provisioning/dashboards/payments.yml')).providers[0].options.path
    expect([boards, mountedIn('grafana', boards)]).toEqual([boards, true])
  })

  test("sets only variables that the service reads, with which it starts, on the other services' addresses", () => {
    const environment = Object.fromEntries(
      Object.entries(service.environment ?? {}).map(([name, value]) => [name, filled(value)]),
    )
    expect(Object.keys(environment).filter((name) => !variableNames.some((known) => known === name))).toEqual([])
    const config = loadConfig(environment)
    expect(config.OTEL_EXPORTER_OTLP_ENDPOINT).toBeUndefined()
    const database = new URL(environment.DATABASE_URL ?? '')
    const databaseSettings = Object.values(compose.services.postgres?.environment ?? {}).map(filled)
    expect([database.username, database.password, database.pathname.slice(1)]).toEqual(databaseSettings)
    expect([database.hostname, database.port]).toEqual(['postgres', '5432'])
    expect(new URL(environment.REDIS_URL ?? '').hostname).toBe('redis')
    expect(existsSync(join(root, filled(service.env_file ?? '')))).toBe(true)
  })

  test('listens on the published ports although its settings are a copy of .env.example', () => {
    const { HOST, PORT, OPERATOR_HOST, OPERATOR_PORT } = loadConfig({
      ...parseEnv(text('.env.example')),
      ...Object.fromEntries(Object.entries(service.environment ?? {}).map(([name, value]) => [name, filled(value)])),
    })
    expect([HOST, OPERATOR_HOST]).toEqual(['0.0.0.0', '0.0.0.0'])
    expect([PORT, OPERATOR_PORT]).toEqual(containerPorts(service))
  })

  test('publishes listening ports on loopback only, each of one service', () => {
    const published = services.flatMap(([, { ports = [] }]) => ports)
    for (const port of published) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/)
    const host = published.map((port) => port.split(':')[1])
    expect(new Set(host).size).toBe(host.length)
    const listens = /HOST=0\.0\.0\.0 PORT=(\d+) OPERATOR_HOST=0\.0\.0\.0 OPERATOR_PORT=(\d+)/.exec(text('Dockerfile'))?.slice(1)
    expect(containerPorts(service).map(String)).toEqual(listens)
    expect(text('Dockerfile')).toContain(`EXPOSE ${listens?.join(' ')}`)
    expect(service.environment?.PUBLIC_URL).toContain(`http://localhost:${host[0]}`)
  })

  test('connects Grafana to Prometheus, and Prometheus to the private listener', () => {
    const scraped: { job_name: string; static_configs: { targets: string[] }[] }[] = parse(
      text('deploy/prometheus.yml'),
    ).scrape_configs
    expect(scraped.map(({ job_name, static_configs: [target] }) => [job_name, target?.targets])).toEqual([
      ['payments', [`service:${containerPorts(service)[1]}`]],
    ])
    const [source] = parse(text('deploy/grafana/provisioning/datasources/prometheus.yml')).datasources
    const { hostname, port } = new URL(source.url)
    expect(containerPorts(compose.services[hostname] ?? {})).toEqual([Number(port)])
    const board: { panels: { title: string; datasource: { uid: string } }[] } = JSON.parse(
      text('deploy/grafana/dashboards/payments.json'),
    )
    for (const { title, datasource } of board.panels) expect([title, datasource.uid]).toEqual([title, source.uid])
  })

  test('builds an image whose base has one digest in every stage: a tag is another image after each release', () => {
    const bases = text('Dockerfile').match(/(?<=^FROM )\S+/gm) ?? []
    expect(new Set(bases).size).toBe(1)
    expect(bases[0]).toMatch(/^node:\d+\.\d+\.\d+-[\w-]+@sha256:[0-9a-f]{64}$/)
  })

  test('builds an image whose start command exists', () => {
    const dockerfile = text('Dockerfile')
    for (const [, files = ''] of dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm))
      for (const file of files.split(' ')) expect([file, existsSync(join(root, file))]).toEqual([file, true])
    const scripts = JSON.parse(text('package.json')).scripts
    for (const [, script = ''] of dockerfile.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(script)
    const command: string[] = JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]')
    expect(['exec', ...command].join(' ')).toBe(scripts.start)
  })
})
