import type { FastifyRequest } from 'fastify'
import { closest } from '../lib/closest.ts'
import { Refusal } from '../lib/errors.ts'
import type { App } from './app-type.ts'

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const patternOf = (url: string): RegExp => {
  const parts = url.split('/').map((part) => (part === '*' ? '.*' : part.startsWith(':') ? '[^/]+' : escapeRegExp(part)))
  return new RegExp(`^${parts.join('/')}$`)
}

const plural = (noun: string): string => (noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`)

/** Paths that may have been meant: with our prefix, without a final slash, in lowercase, with the first noun in the plural. */
const candidatesFor = (path: string): string[] => {
  const tidy = `/${path.split('/').filter(Boolean).join('/')}`
  const lower = tidy.toLowerCase()
  const bare = lower.replace(/^\/(api\/)?(v\d+\/)?/, '/').replace(/^\/[a-z_-]+/, (noun) => noun.replaceAll('_', '-'))
  const many = bare.replace(/^\/([a-z-]+)/, (_, noun: string) => `/${plural(noun)}`)
  return [tidy, lower, `/v1${tidy}`, `/v1${bare}`, `/v1${many}`].filter((candidate) => candidate !== path)
}

const balancePath = '/v1/accounts/me or, for a team, /v1/workspaces/current'

/** Our paths for resources that have these names in other services. */
const otherNames: Readonly<Record<string, string>> = {
  ...{ webhooks: '/v1/notifications/stream', webhook_endpoints: '/v1/notifications/stream', events: '/v1/notifications' },
  ...{ payouts: '/v1/payments', transfers: '/v1/payments', disbursements: '/v1/payments', transactions: '/v1/payments' },
  ...{ balance: balancePath, balances: balancePath, account: '/v1/accounts/me', me: '/v1/accounts/me' },
  ...{ payees: '/v1/beneficiaries', recipients: '/v1/beneficiaries', contacts: '/v1/beneficiaries' },
  ...{ bulk_payments: '/v1/payment-batches', batches: '/v1/payment-batches', deposits: '/v1/topups/initiate' },
  topups: '/v1/topups/initiate or /v1/accounts/me/history?type=topup',
  ...{ policies: '/v1/spending-policies', mandates: '/v1/intent-mandates', api_keys: '/v1/accounts/me/api-keys' },
}

const pathOfOtherName = (path: string): string | undefined => {
  const noun = /^\/(?:api\/)?(?:v\d+\/)?([a-z_-]+)\/?$/i.exec(path)?.[1]?.toLowerCase().replaceAll('-', '_') ?? ''
  return Object.hasOwn(otherNames, noun) ? otherNames[noun] : otherNames[plural(noun)]
}

/** Collects routes as they are registered. */
export const createNotFoundAnswer = (app: App): ((request: FastifyRequest) => Refusal) => {
  const known: { method: string; pattern: RegExp }[] = []
  const literal: string[] = []
  app.addHook('onRoute', ({ method, url, config }) => {
    // Excludes pages, which are for browsers, and the wildcard route, which answers preflight requests.
    if (config?.internal || url === '*' || url === '/*') return
    if (url.startsWith('/v1/') && !url.includes(':')) literal.push(url)
    for (const one of [method].flat()) if (one !== 'OPTIONS') known.push({ method: one, pattern: patternOf(url) })
  })
  const methodsAt = (path: string): string[] => [
    ...new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)),
  ]
  return (request) => {
    const path = request.url.split('?')[0] ?? ''
    const methods = methodsAt(path)
    // If path and method are correct, the resource does not exist, for example a file.
    if (methods.length > 0 && !methods.includes(request.method)) {
      const message = `${request.method} is not a method of this path; it supports ${methods.join(', ')}.`
      return new Refusal('method_not_allowed', { message, headers: { allow: methods.join(', ') } })
    }
    const candidates = candidatesFor(path)
    const meant =
      candidates.find((candidate) => methodsAt(candidate).length > 0) ??
      pathOfOtherName(path) ??
      closest(candidates.at(-1) ?? path, literal)
    const hint = meant === undefined ? 'GET /openapi.json lists all paths.' : `Did you mean ${meant}?`
    return new Refusal('not_found', { message: `There is no such path. ${hint}` })
  }
}
