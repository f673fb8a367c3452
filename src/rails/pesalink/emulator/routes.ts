import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { EmulatedAnswer } from '../../../dev/sandbox/answer.ts'
import type { Respond } from '../../../dev/sandbox/faults.ts'
import { sameText } from '../../../dev/sandbox/secrets.ts'
import { field, textField } from '../../json.ts'
import type { Pesalink } from './credentials.ts'
import { registerNotices } from './deposits.ts'
import { queryAccount } from './names.ts'
import { refuse, transfer, transferDetails } from './transfers.ts'

const Login = z.object({ merchantCode: z.string(), consumerSecret: z.string() })
const Named = z.object({ reference: z.string() })

const partyOf = (body: unknown): string | null => {
  const destination = field(body, 'destination') ?? body
  return textField(destination, 'accountNumber') ?? textField(destination, 'mobileNumber') ?? null
}

const header = (request: FastifyRequest, name: string): string => {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

const login = (provider: Pesalink, request: FastifyRequest): EmulatedAnswer => {
  const { apiKey, merchantCode, consumerSecret } = provider.credentials.options
  const parsed = Login.safeParse(request.body)
  const known =
    parsed.success && parsed.data.merchantCode === merchantCode && sameText(parsed.data.consumerSecret, consumerSecret)
  if (!known || !sameText(header(request, 'api-key'), apiKey)) return refuse(401, 401_000, 'Unauthorized')
  const token = provider.tokens.PESALINK.issue()
  return {
    status: 200,
    body: { accessToken: token.value, refreshToken: '', expiresIn: token.until.toISOString(), tokenType: 'Bearer' },
  }
}

export const registerPesalink = (app: FastifyInstance, provider: Pesalink, respond: Respond): void => {
  const authorized = (request: FastifyRequest, reply: FastifyReply, answer: () => EmulatedAnswer, faulty = true) => {
    const options = { path: request.routeOptions.url ?? '', target: { rail: 'PESALINK' as const, party: partyOf(request.body) } }
    return provider.tokens.PESALINK.accepts(request.headers.authorization)
      ? respond(reply, answer, { ...options, faulty })
      : respond(reply, () => refuse(401, 401_001, 'Invalid access token'), { ...options, faulty: false })
  }

  app.post('/authentication/api/v3/authenticate/merchant', (request, reply) => {
    const answer = login(provider, request)
    return reply.code(answer.status).send(answer.body)
  })
  for (const service of ['pesalinkacc', 'pesalinkMobile'] as const) {
    app.post(`/transaction-api/v3.0/remittance/${service}`, (request, reply) =>
      authorized(request, reply, () => transfer(provider, service, request.body, header(request, 'signature'))),
    )
  }
  app.post('/account-api/v3.0/pesalink/lookup', (request, reply) =>
    authorized(request, reply, () => queryAccount(provider, request.body, header(request, 'signature')), false),
  )
  app.post('/account-api/v3.0/notifications', (request, reply) =>
    authorized(request, reply, () => registerNotices(provider, request.body), false),
  )
  app.get('/transaction-api/v3.0/transactions/details/:reference', (request, reply) =>
    authorized(request, reply, () => {
      const named = Named.safeParse(request.params)
      return transferDetails(provider, named.success ? named.data.reference : '', header(request, 'signature'))
    }),
  )
}
