import { createStore } from './store.ts'

export type RecentCall = { id: number; method: string; path: string; body: string; requestId: string | null; at: number }

const kept = 50
let counter = 0

/** What this tab has done, newest first. In memory only: bodies may hold phone numbers and destinations. */
export const recentCalls = createStore<readonly RecentCall[]>([])

/** Signing in and out, and asking what would happen, are nothing that an integrator does from a script. */
const uninteresting = /^\/v1\/(auth|oauth)\/|\/simulate$|\/prepare$/

export const recordCall = (request: Request, body: string, requestId: string | null): void => {
  const path = new URL(request.url).pathname
  if (uninteresting.test(path)) return
  counter += 1
  const entry = { id: counter, method: request.method, path, body, requestId, at: Date.now() }
  recentCalls.set([entry, ...recentCalls.get()].slice(0, kept))
}

const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The same request for a terminal. The key is a variable there, so that it is in no history. */
export const curlOf = ({ method, path, body }: Pick<RecentCall, 'method' | 'path' | 'body'>): string => {
  const lines = [
    `curl -X ${method} ${location.origin}${path}`,
    `  -H "Authorization: Bearer $API_KEY"`,
    ...(method === 'POST' ? [`  -H "Idempotency-Key: $(uuidgen)"`] : []),
    ...(body === '' ? [] : [`  -H 'Content-Type: application/json'`, `  -d ${shellQuote(prettyJson(body))}`]),
  ]
  return lines.join(' \\\n')
}

const prettyJson = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
