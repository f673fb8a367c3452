import { createStore } from './store.ts'

export type RecentCall = { id: number; method: string; path: string; body: string; requestId: string | null; at: number }

const maxCalls = 50
let counter = 0

/** This tab's requests, newest first. In memory only: bodies may contain phone numbers and destinations. */
export const recentCalls = createStore<readonly RecentCall[]>([])

/** Sign-in, sign-out and dry runs are left out: a script needs none of them. */
const uninteresting = /^\/v1\/(auth|oauth)\/|\/simulate$|\/prepare$/

export const recordCall = (request: Request, body: string, requestId: string | null): void => {
  const path = new URL(request.url).pathname
  if (uninteresting.test(path)) return
  counter += 1
  const entry = { id: counter, method: request.method, path, body, requestId, at: Date.now() }
  recentCalls.set([entry, ...recentCalls.get()].slice(0, maxCalls))
}

const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The same request as a curl command. The key is a shell variable, so that it is in no shell history. */
export const curlOf = ({ method, path, body }: Pick<RecentCall, 'method' | 'path' | 'body'>): string => {
  const address = location.origin + path
  const lines = [
    // A shell reads these characters itself.
    `curl -X ${method} ${/[?&{}[\]*]/.test(address) ? shellQuote(address) : address}`,
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
