import createClient, { type Middleware } from 'openapi-fetch'
import { noteServerTime } from '../lib/clock.ts'
import { recordCall } from '../lib/recent-calls.ts'
import { chosenWorkspace } from './chosen-workspace.ts'
import { toApiError, unreachable } from './error.ts'
import type { paths } from './types.ts'

const workspaceHeader: Middleware = {
  onRequest: ({ request }) => {
    const workspace = chosenWorkspace()
    // The person who signs in may not be the one who chose it.
    const signsIn = new URL(request.url).pathname.startsWith('/v1/auth/')
    // A request that names its workspace itself is about another one than this tab's.
    if (workspace !== null && !signsIn && !request.headers.has('Workspace-Id')) request.headers.set('Workspace-Id', workspace)
    return request
  },
}

const bodies = new WeakMap<Request, string>()

const observer: Middleware = {
  onRequest: async ({ request }) => {
    if (request.method !== 'GET') bodies.set(request, await request.clone().text())
    return request
  },
  onResponse: ({ request, response }) => {
    noteServerTime(response.headers.get('date'))
    if (response.ok && request.method !== 'GET')
      recordCall(request, bodies.get(request) ?? '', response.headers.get('x-request-id'))
    return response
  },
}

export const api = createClient<paths>({ baseUrl: location.origin, credentials: 'same-origin' })
api.use(workspaceHeader, observer)

type Answered<Data> = { data?: Data; error?: unknown; response: Response }

/** The answer's body, or the refusal as an ApiError. */
export const call = async <Data>(answering: Promise<Answered<Data>>): Promise<Data> => {
  const answer = await answering.catch(() => {
    throw unreachable()
  })
  const { data, error, response } = answer
  if (!response.ok) throw toApiError(response.status, error, response.headers.get('x-request-id'))
  return data as Data
}
