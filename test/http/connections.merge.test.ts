import { connect } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { afterAll, expect, test } from 'vitest'
import { startAdministered } from '../admin/administrators.ts'
import type { Json } from '../harness/client.ts'
import { connectOnlyTo, takeRefused } from '../harness/connections.ts'
import { signIn } from '../harness/people.ts'
import { playExamples } from './example-scene.ts'

const { service, admin, second, wallets } = await startAdministered({ env: { RATE_LIMIT_ENABLED: 'false' } })
afterAll(async () => {
  connectOnlyTo(null)
  await service.close()
})

const { config } = service.deps
/** The database, the providers (of payments and sign-in), and the service's own two listeners. */
const configured = [service.database.url, service.sandboxUrl, config.publicUrl, config.operatorUrl]
const ports = configured.map((url) => Number(new URL(String(url)).port || 5432))
/** An address of this machine that the service must not contact. */
const elsewhere = 'http://127.0.0.1:61234/latest/meta-data'

const operations = async () => {
  const document = (await service.api.get('/openapi.json')).body
  return Object.entries<Record<string, Json>>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, id: String(operation.operationId) })),
  )
}

test('a connection to a host that is not configured is refused and noted, whatever opens it', async () => {
  connectOnlyTo(ports)
  const ended = (socket: { on: (event: 'error', done: () => void) => unknown }) =>
    new Promise<void>((resolve) => socket.on('error', () => resolve()))
  await expect(fetch(elsewhere)).rejects.toThrow()
  await expect(fetch('https://crl.attacker.example/')).rejects.toThrow()
  await ended(connect(61234, '127.0.0.1'))
  await ended(connectSecurely({ host: '169.254.169.254', port: 443 }))
  expect(takeRefused()).toEqual(['127.0.0.1:61234', 'crl.attacker.example:443', '127.0.0.1:61234', '169.254.169.254:443'])
})

const all = await operations()
let played: Record<string, Json>
test('no route connects to a host that is not configured: the whole story of the examples', async () => {
  connectOnlyTo(ports)
  played = await playExamples(service, all, [admin, second])
  expect(Object.keys(played).length).toBeGreaterThan(100)
  await service.settle()
  expect(takeRefused()).toEqual([])
})

/** The value with its texts replaced by an address: all at once, and each field by itself. */
const planted = (value: Json): Json[] => {
  const everywhere = (one: Json): Json => {
    if (typeof one === 'string') return elsewhere
    if (Array.isArray(one)) return one.map(everywhere)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, everywhere(inner)]))
  }
  const fields = typeof value === 'object' && value !== null ? Object.keys(value) : []
  return [everywhere(value), ...fields.map((key) => ({ ...value, [key]: everywhere(value[key]) }))]
}

/** These operations end the caller's own session, or never end themselves. */
const leftOut = new Set(['accounts.close', 'sign_in.logout', 'notifications.stream'])

test('an address in any field of any request is fetched by nobody, whatever is answered', async () => {
  connectOnlyTo(ports)
  const { api } = await signIn(service.api, wallets[1])
  const send = async ({ path, method }: (typeof all)[number], parameters: Json, body?: Json) => {
    const isInPath = (name: string) => path.includes(`{${name}}`)
    const concrete = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name]))
    const query = Object.fromEntries(Object.entries(parameters).filter(([name]) => !isInPath(name))) as Record<string, string>
    const address = `${concrete}?${new URLSearchParams(query)}`
    return (await api.call(method.toUpperCase(), address, { body, headers: { referer: elsewhere } })).status
  }
  const answered: number[] = []
  for (const operation of all.filter(({ id }) => !leftOut.has(id))) {
    const { request, parameters = {} } = played[operation.id]
    for (const changed of planted(parameters)) answered.push(await send(operation, changed, request))
    if (request !== undefined) for (const body of planted(request)) answered.push(await send(operation, parameters, body))
  }
  await service.settle()
  expect(takeRefused()).toEqual([])
  // Few were refused for a missing credential: the rest reached the code that reads the fields.
  expect(answered.length).toBeGreaterThan(300)
  expect(answered.filter((status) => status === 401).length / answered.length).toBeLessThan(0.1)
})
