import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Answer, gatewayError } from './answer.ts'
import { sameText } from './credentials.ts'
import type { Respond } from './faults.ts'
import { b2b, b2c, transactionStatus } from './payout-endpoints.ts'
import type { Provider } from './provider.ts'
import { stkPush, stkQuery } from './stk-endpoint.ts'
import { tokenLifetimeSeconds } from './tokens.ts'

const endpoints = {
  '/mpesa/stkpush/v1/processrequest': stkPush,
  '/mpesa/stkpushquery/v1/query': stkQuery,
  '/mpesa/b2c/v3/paymentrequest': b2c,
  '/mpesa/b2b/v1/paymentrequest': b2b,
  '/mpesa/transactionstatus/v1/query': transactionStatus,
} as const

const generateToken = (provider: Provider, request: FastifyRequest): Answer => {
  const { consumerKey, consumerSecret } = provider.credentials.daraja
  const expected = `Basic ${Buffer.from(`${consumerKey}:${consumerSecret}`).toString('base64')}`
  if (!sameText(request.headers.authorization ?? '', expected))
    return gatewayError(400, '400.008.01', 'Invalid Authentication passed')
  return { status: 200, body: { access_token: provider.darajaTokens.issue().value, expires_in: String(tokenLifetimeSeconds) } }
}

export const registerDaraja = (app: FastifyInstance, provider: Provider, respond: Respond): void => {
  app.get('/oauth/v1/generate', (request, reply) => {
    const answer = generateToken(provider, request)
    return reply.code(answer.status).send(answer.body)
  })
  for (const [path, endpoint] of Object.entries(endpoints)) {
    app.post(path, (request, reply) => {
      if (request.headers.authorization === undefined) {
        return respond(reply, () => gatewayError(404, '404.001.04', 'Invalid Authentication Header'), { faulty: false })
      }
      if (!provider.darajaTokens.accepts(request.headers.authorization)) {
        return respond(reply, () => gatewayError(404, '404.001.03', 'Invalid Access Token'), { faulty: false })
      }
      return respond(reply, () => endpoint(provider, request.body))
    })
  }
}
