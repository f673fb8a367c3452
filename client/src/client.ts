import { type EventsOptions, type PaymentsEvent, readEvents, type StreamReset } from './events.ts'
import { type Call, createResources } from './resources.ts'
import { type CookieMode, send, sendForText, type TransportOptions } from './transport.ts'

type Token = string | (() => string | undefined | Promise<string | undefined>)

export type PaymentsOptions = {
  baseUrl: string
  /** `service_live_…` */
  apiKey?: string
  /** An OAuth access token or a dashboard token, or a function if it changes. */
  accessToken?: Token
  /** Cookie mode for a browser session: `include` or `same-origin`. */
  credentials?: CookieMode
  headers?: Record<string, string>
  /** Maximum number of retries of a failure that a retry can solve. Default: 3. */
  retries?: number
  /** Timeout of one attempt. Default: 30 s. */
  timeoutMs?: number
  fetch?: typeof fetch
}

const tokenOf = (options: PaymentsOptions): TransportOptions['token'] => {
  const { apiKey, accessToken } = options
  if (apiKey !== undefined && accessToken !== undefined) throw new TypeError('Give an apiKey or an accessToken, not both.')
  if (apiKey === '' || ('apiKey' in options && apiKey === undefined))
    throw new TypeError('apiKey is empty: set PAYMENTS_API_KEY, or the source of the key in your program.')
  if (typeof accessToken === 'function') return accessToken
  return () => apiKey ?? accessToken
}

// The default is for callers without types.
const requireBaseUrl = ({ baseUrl }: Partial<PaymentsOptions> = {}): void => {
  if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol))
    throw new TypeError("Set the service's address: new Payments({ baseUrl: 'https://payments.example', apiKey: '…' }).")
}

const withPath = (template: string, values: Readonly<Record<string, string>> = {}): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new TypeError(`${template} needs a value for ${name}.`)
    return encodeURIComponent(value)
  })

const transportOf = (options: PaymentsOptions): TransportOptions => ({
  baseUrl: options.baseUrl,
  token: tokenOf(options),
  headers: options.headers ?? {},
  credentials: options.credentials,
  fetch: options.fetch ?? ((...parameters) => fetch(...parameters)),
  retries: options.retries ?? 3,
  timeoutMs: options.timeoutMs ?? 30_000,
})

type Resources = ReturnType<typeof createResources>

/** A client of the payments service, for one credential. */
export class Payments {
  /** Address of the service, without a trailing slash. */
  readonly baseUrl: string
  readonly account: Resources['account']
  readonly requestLog: Resources['requestLog']
  readonly credentials: Resources['credentials']
  readonly apiKeys: Resources['apiKeys']
  readonly grants: Resources['grants']
  readonly workspaces: Resources['workspaces']
  readonly beneficiaries: Resources['beneficiaries']
  readonly policies: Resources['policies']
  readonly payments: Resources['payments']
  readonly batches: Resources['batches']
  readonly approvals: Resources['approvals']
  readonly mandates: Resources['mandates']
  readonly topups: Resources['topups']
  readonly notifications: Resources['notifications']
  /** Calls any route of the API, typed by the API document. */
  readonly call: Call
  readonly #transport: TransportOptions

  constructor(options: PaymentsOptions) {
    requireBaseUrl(options)
    this.baseUrl = options.baseUrl.replace(/\/$/, '')
    const transport = transportOf(options)
    this.#transport = transport
    this.call = (async (method, path, input = {}) => {
      const { path: values, ...rest } = input
      return send(transport, { ...rest, method, path: withPath(path, values) })
    }) as Call
    const resources = createResources(
      this.call,
      (path, accept, query, options) =>
        sendForText(transport, { ...options, method: 'get', path, ...(query && { query }) }, accept),
      ({ query, ...input }, options) => {
        const outgoing = { ...options, method: 'post', path: '/v1/payment-batches', query }
        return send(transport, 'csv' in input ? { ...outgoing, csv: input.csv } : { ...outgoing, body: input.body })
      },
    )
    // One by one, so that editors list them with their types.
    this.account = resources.account
    this.requestLog = resources.requestLog
    this.credentials = resources.credentials
    this.apiKeys = resources.apiKeys
    this.grants = resources.grants
    this.workspaces = resources.workspaces
    this.beneficiaries = resources.beneficiaries
    this.policies = resources.policies
    this.payments = resources.payments
    this.batches = resources.batches
    this.approvals = resources.approvals
    this.mandates = resources.mandates
    this.topups = resources.topups
    this.notifications = resources.notifications
  }

  /** Streams events, reconnecting as needed: `for await (const event of client.events())`. */
  events(options: EventsOptions = {}): AsyncGenerator<PaymentsEvent | StreamReset, void, undefined> {
    return readEvents(this.#transport, options)
  }
}
