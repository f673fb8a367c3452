import type { FastifyRequest } from 'fastify'
import { secretPrefixes } from '../auth/secrets.ts'
import { Refusal } from '../lib/errors.ts'

// Tells a caller whose credential is missing, misplaced or of another kind what to send.

const unsetKey = 'The key has no value: set PAYMENTS_API_KEY, or where your program reads the key from.'

const invalidToken = (message: string): Refusal => new Refusal('invalid_token', { message })

export const malformedAuthorization = (authorization: string): Refusal => {
  if (/^bearer *$/i.test(authorization)) return invalidToken(unsetKey)
  if (/^service_[a-z]+_/.test(authorization))
    return invalidToken('The word "Bearer" is missing: send "Authorization: Bearer service_…".')
  return invalidToken('The Authorization header must be "Bearer" and one token.')
}

const otherHeaders = ['x-api-key', 'api-key', 'apikey', 'x-auth-token', 'x-access-token']
const otherParameters = ['api_key', 'apikey', 'access_token', 'token', 'key']

export const missingCredential = (request: FastifyRequest): Refusal => {
  const misplaced = (field: string, message: string) => new Refusal('authentication_required', { message, details: { field } })
  const right = 'Authorization: Bearer service_live_…'
  const header = otherHeaders.find((name) => request.headers[name] !== undefined)
  if (header !== undefined) return misplaced(header, `The header ${header} is not supported: send the key as "${right}".`)
  const parameter = otherParameters.find((name) => Object.hasOwn(request.query as object, name))
  if (parameter === undefined) return new Refusal('authentication_required')
  const message = `A credential in the address (${parameter}) is not accepted, because addresses are logged: send "${right}".`
  return misplaced(parameter, message)
}

/** Values that a program sends if its setting is missing or was never filled in. */
const unset = /^(undefined|null|none|nil|\$.*|<.*>|\{.*\}|your[-_].*)$/i

const toExchange = (what: string): string => `This is ${what}: exchange it for an access token at POST /v1/oauth/token.`

/** Secrets of this service that are not bearer tokens, and where each belongs. */
const otherSecrets: readonly (readonly [prefix: string, message: string])[] = [
  [secretPrefixes.refresh_token, toExchange('a refresh token')],
  [secretPrefixes.authorization_code, toExchange('an authorization code')],
  [secretPrefixes.device_code, toExchange('a device code')],
  [secretPrefixes.client_secret, 'This is the secret of an OAuth client: send it to POST /v1/oauth/token only.'],
  [secretPrefixes.invitation, 'This is an invitation: sign in, and send it to POST /v1/workspaces/invitations/accept.'],
  [secretPrefixes.dashboard_token, 'A dashboard token is not accepted here: send an API key or an access token.'],
]

export const unknownToken = (token: string): Refusal => {
  if (unset.test(token)) return invalidToken(unsetKey)
  const other = otherSecrets.find(([prefix]) => token.startsWith(prefix))
  if (other) return invalidToken(other[1])
  if (token.startsWith('service_test_'))
    return invalidToken(
      'There are no test keys: each deployment has its own keys (service_live_…), and one with simulated providers moves no money.',
    )
  return invalidToken('The token does not have the form of a token of this service.')
}
