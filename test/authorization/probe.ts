import type { Row } from '../../scripts/authorization.ts'
import type { TestService } from '../harness/service.ts'

export type Credential = { cookie?: string; bearer?: string; headers?: Record<string, string> }
export type Probed = { route: string; status: number; error: string | undefined; text: string }

/** Unknown ids: a caller who may call the route passes authorization, and gets a 404. */
const unknown: readonly [RegExp, string][] = [
  [/\/grants\/:id/, 'gra'],
  [/\/api-keys\/:id/, 'key'],
  [/\/identities\/:id/, 'idn'],
  [/\/passkeys\/:id/, 'pky'],
  [/\/sessions\/:id/, 'ses'],
  [/\/authorizations\/:id/, 'oaz'],
  [/\/members\/:id/, 'mem'],
  [/\/invitations\/:id/, 'inv'],
  [/\/beneficiaries\/:id/, 'ben'],
  [/\/spending-policies\/:id/, 'pol'],
  [/\/payments\/:id/, 'pay'],
  [/\/approvals\/:id/, 'apr'],
  [/\/intent-mandates\/:id/, 'man'],
  [/\/topups\/:id/, 'top'],
  [/\/accounts\/:id/, 'acc'],
  [/\/workspaces\/:id/, 'wsp'],
  [/\/adjustments\/:id/, 'led'],
]

export const unknownPath = (path: string): string => {
  if (!path.includes(':')) return path
  const prefix = unknown.find(([pattern]) => pattern.test(path))?.[1]
  return path.replace(':id', `${prefix ?? 'xxx'}_01h455vb4pex5vsknk084sn02q`).replace(/:[a-z_]+/, 'BCDF-GHJK')
}

const payment = { beneficiary_id: 'ben_01h455vb4pex5vsknk084sn02q', amount_minor: '1000' }

/** A freeze refuses these only once their body is valid, and records what it refused. Their payee exists nowhere. */
const validBodies: Readonly<Record<string, unknown>> = {
  '/v1/payments': payment,
  '/v1/payment-batches': { items: [payment] },
}

const attempt = async (service: TestService, row: Pick<Row, 'method' | 'path'>, credential: Credential): Promise<Probed> => {
  const { cookie, bearer, headers } = credential
  const write = row.method !== 'GET'
  const response = await fetch(service.api.url + unknownPath(row.path), {
    method: row.method,
    redirect: 'manual',
    headers: {
      ...(write && { 'content-type': 'application/json' }),
      ...(cookie !== undefined && { cookie: `service_session=${cookie}` }),
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
    // Authorization precedes the body: a caller who may call gets a 400 or 404, and nothing happens.
    ...(write && { body: row.path in validBodies ? JSON.stringify(validBodies[row.path]) : '{' }),
  })
  const route = `${row.method} ${row.path}`
  if (response.headers.get('content-type')?.includes('event-stream')) {
    await response.body?.cancel()
    return { route, status: response.status, error: undefined, text: '' }
  }
  const text = await response.text()
  const json = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : {}
  return { route, status: response.status, error: json.error, text: text.replace(/"request_id":"[^"]*"/, '') }
}

const probe = async (service: TestService, row: Row, credential: Credential): Promise<Probed> => {
  const probed = await attempt(service, row, credential)
  // An overloaded machine answers 503, which does not answer this question.
  return probed.status === 503 && probed.error === 'unavailable' ? attempt(service, row, credential) : probed
}

const atOnce = 8

export const probeAll = async (service: TestService, rows: readonly Row[], credential: Credential): Promise<Probed[]> => {
  const probed: Probed[] = []
  for (let index = 0; index < rows.length; index += atOnce) {
    probed.push(...(await Promise.all(rows.slice(index, index + atOnce).map((row) => probe(service, row, credential)))))
  }
  return probed
}

const refused = new Set(['forbidden', 'admin_required', 'step_up_required'])

/** Credentials accepted or refused against the table. Empty if everything agrees. */
export const refusals = async (
  service: TestService,
  rows: readonly Row[],
  credential: Credential,
  may: (row: Row) => boolean,
): Promise<string[]> => {
  const probed = await probeAll(service, rows, credential)
  return probed.flatMap(({ route, status, error }, index) => {
    const row = rows[index]
    const should = row !== undefined && may(row)
    const let_in = status !== 401 && status !== 403 && status < 500
    const kept_out = status === 403 && refused.has(error ?? '')
    return (should ? let_in : kept_out) ? [] : [`${route}: ${should ? 'may' : 'may not'}, but ${status} ${error ?? ''}`]
  })
}
