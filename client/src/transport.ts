import { ConnectionError, type PaymentsError, toError } from './errors.ts'

export type CallOptions = {
  /** One key for all attempts of a call. By default, every POST gets one. Store your own if the program may restart. */
  idempotencyKey?: string
  /** Maximum number of retries. 0 for none. */
  retries?: number
  /** Timeout of one attempt. */
  timeoutMs?: number
  signal?: AbortSignal
  headers?: Record<string, string>
  /** Called with the headers of the successful response, such as `Idempotency-Replayed`, and the number of attempts. */
  onAnswer?: (headers: Headers, attempts: number) => void
  /** For callers without a grant: the id of another workspace of theirs. */
  workspaceId?: string
}

/** The `credentials` option of fetch. */
export type CookieMode = 'omit' | 'same-origin' | 'include'

export type TransportOptions = {
  baseUrl: string
  /** The token for the Authorization header, read before every attempt. */
  token: () => string | undefined | Promise<string | undefined>
  headers: Readonly<Record<string, string>>
  credentials: CookieMode | undefined
  fetch: typeof fetch
  retries: number
  timeoutMs: number
}

/** A CSV batch: text, or a file's bytes. Bytes are UTF-8 or have a byte order mark, unless `charset` names an encoding. */
export type Csv = string | { bytes: Uint8Array; charset?: string }
/** `csv`: a CSV body instead of JSON. */
export type Outgoing = { method: string; path: string; body?: unknown; csv?: Csv; query?: object } & CallOptions

/** Longest wait that a server may request. If it requests more, the caller gets the refusal. */
const longestWaitMs = 60_000
const firstBackoffMs = 250
const longestBackoffMs = 8_000

const retryAfterMs = (headers: Headers): number | undefined => {
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const seconds = Number(text)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

const shouldRetryIn = (headers: Headers): boolean | undefined => {
  const text = headers.get('payments-should-retry')
  return text === 'true' ? true : text === 'false' ? false : undefined
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

/** Parses an error in our envelope, in OAuth's, or in a proxy's own form. */
export const refusalOf = (response: Response, text: string): PaymentsError => {
  const body = recordOf(parse(text))
  const details = recordOf(body.details)
  const sentence = body.message ?? body.error_description
  return toError({
    status: response.status,
    code: typeof body.error === 'string' ? body.error : 'unexpected_response',
    message: typeof sentence === 'string' ? sentence : `The service answered ${response.status}.`,
    details,
    requestId: response.headers.get('x-request-id') ?? (typeof details.request_id === 'string' ? details.request_id : undefined),
    shouldRetry: shouldRetryIn(response.headers),
    retryAfterMs: retryAfterMs(response.headers),
  })
}

/** Follows the service's own header. Without it, retries the statuses of temporary failures. */
export const mayPass = (error: PaymentsError): boolean => error.shouldRetry ?? [429, 502, 503, 504].includes(error.status)

/** Half fixed and half random, so that many clients do not retry at the same moment. */
export const backoffMs = (attempt: number): number => {
  const full = Math.min(longestBackoffMs, firstBackoffMs * 2 ** attempt)
  return full / 2 + (Math.random() * full) / 2
}

export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })

/** An object becomes one parameter per key (OpenAPI's deepObject): `metadata[invoice]=17`. An array repeats the name. */
const parametersOf = (name: string, value: unknown): [string, string][] => {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.flatMap((one) => parametersOf(name, one))
  if (value instanceof Date) return [[name, value.toISOString()]]
  if (typeof value === 'object') return Object.entries(value).flatMap(([key, one]) => parametersOf(`${name}[${key}]`, one))
  return [[name, String(value)]]
}

const addressOf = (options: TransportOptions, { path, query }: Outgoing): string => {
  const url = new URL(options.baseUrl.replace(/\/$/, '') + path)
  for (const [name, value] of Object.entries(query ?? {}))
    for (const [key, text] of parametersOf(name, value)) url.searchParams.append(key, text)
  return url.href
}

/** Avoids `crypto.randomUUID`, which pages on plain http have only on localhost. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

const keyOf = (outgoing: Outgoing) =>
  outgoing.method.toUpperCase() === 'POST' ? (outgoing.idempotencyKey ?? randomKey()) : undefined

export const requestOf = async (options: TransportOptions, outgoing: Outgoing, more: Record<string, string> = {}) => {
  const token = await options.token()
  return {
    url: addressOf(options, outgoing),
    init: {
      method: outgoing.method.toUpperCase(),
      ...(options.credentials && { credentials: options.credentials }),
      headers: {
        ...options.headers,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(outgoing.workspaceId !== undefined && { 'workspace-id': outgoing.workspaceId }),
        ...more,
        ...outgoing.headers,
      },
    },
  }
}

type Settled<T> = { read: T; headers: Headers } | PaymentsError | { lost: unknown }

/** `read` throws if the text is incomplete, in which case the response counts as lost. */
const attemptOnce = async <T>(
  options: TransportOptions,
  outgoing: Outgoing,
  key: string | undefined,
  accept: string,
  read: (text: string) => T,
): Promise<Settled<T>> => {
  const { body, csv } = outgoing
  const file = typeof csv === 'object' ? csv : undefined
  // `fetch` needs a copy, because TypeScript before 5.7 knows Uint8Array only without a type parameter.
  const text =
    (file && new Uint8Array(file.bytes)) ??
    (typeof csv === 'string' ? csv : body === undefined ? undefined : JSON.stringify(body))
  const charset = file?.charset === undefined ? '' : `; charset=${file.charset}`
  const { url, init } = await requestOf(options, outgoing, {
    accept,
    ...(text !== undefined && { 'content-type': csv === undefined ? 'application/json' : `text/csv${charset}` }),
    ...(key !== undefined && { 'idempotency-key': key }),
  })
  const patience = AbortSignal.timeout(outgoing.timeoutMs ?? options.timeoutMs)
  const signal = outgoing.signal ? AbortSignal.any([outgoing.signal, patience]) : patience
  try {
    const response = await options.fetch(url, { ...init, signal, ...(text !== undefined && { body: text }) })
    const answer = await response.text()
    if (!response.ok) return refusalOf(response, answer)
    return { read: read(answer), headers: response.headers }
  } catch (error) {
    outgoing.signal?.throwIfAborted()
    return { lost: error }
  }
}

/**
 * A PATCH may contain a version. Repeating it would be refused if the change took effect, as it may have if there is no response,
 * or one of a proxy, or the outcome of a commit is not known. Only a limit of requests certainly stopped it.
 */
const mayRepeat = (outgoing: Outgoing, settled: PaymentsError | { lost: unknown }): boolean => {
  const isPatch = outgoing.method.toUpperCase() === 'PATCH'
  return 'lost' in settled ? !isPatch : mayPass(settled) && (!isPatch || settled.status === 429)
}

const waitBefore = (settled: PaymentsError | { lost: unknown }, attempt: number): number =>
  ('lost' in settled ? undefined : settled.retryAfterMs) ?? backoffMs(attempt)

/** The reason of a failed fetch. Node gives it as the cause of "fetch failed". */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  const below = cause instanceof Error ? cause.message || ('code' in cause ? String(cause.code) : '') : ''
  return below === '' ? error.message : `${error.message} (${below})`
}

export const noAnswer = (cause: unknown, from: string, idempotencyKey?: string): ConnectionError =>
  new ConnectionError(`No answer from ${from}: ${reasonOf(cause)}`, { cause, idempotencyKey })

/** Returns `read` of a complete, successful response. Throws for any other, after the retries that can help. */
const sendAndRead = async <T>(
  options: TransportOptions,
  outgoing: Outgoing,
  accept: string,
  read: (text: string) => T,
): Promise<T> => {
  const key = keyOf(outgoing)
  const retries = outgoing.retries ?? options.retries
  for (let attempt = 0; ; attempt += 1) {
    const settled = await attemptOnce(options, outgoing, key, accept, read)
    if ('read' in settled) {
      outgoing.onAnswer?.(settled.headers, attempt + 1)
      return settled.read
    }
    const wait = waitBefore(settled, attempt)
    if (attempt >= retries || wait > longestWaitMs || !mayRepeat(outgoing, settled))
      throw 'lost' in settled ? noAnswer(settled.lost, options.baseUrl, key) : settled
    await pause(wait, outgoing.signal)
  }
}

export const sendForText = (options: TransportOptions, outgoing: Outgoing, accept: string): Promise<string> =>
  sendAndRead(options, outgoing, accept, (text) => text)

/** Returns the body of the response, or undefined if it is empty. */
export const send = (options: TransportOptions, outgoing: Outgoing): Promise<unknown> =>
  sendAndRead(options, outgoing, 'application/json', (text): unknown => (text === '' ? undefined : JSON.parse(text)))

/** The response body of a request that is sent only once. */
export const answerOf = async <T>(response: Response): Promise<T> => {
  const text = await response.text().catch((error: unknown) => {
    throw noAnswer(error, response.url)
  })
  if (!response.ok) throw refusalOf(response, text)
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw noAnswer(error, response.url)
  }
}
