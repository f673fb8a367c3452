import { networkOf } from '../http/address.ts'
import type { App } from '../http/app-type.ts'
import { createAllowance } from '../lib/allowance.ts'
import type { Deps as PaymentsDeps } from '../modules/payments/deps.ts'
import { createReceiver } from '../modules/payments/lifecycle/attempts/deliveries/deliveries.ts'
import { receiveBalance } from '../modules/reconciliation/balances.ts'
import type { Deps as ReconciliationDeps } from '../modules/reconciliation/deps.ts'
import { receiveDeposit, validateDeposit } from '../modules/topups/deposits/receive.ts'
import type { Deps as TopupsDeps } from '../modules/topups/deps.ts'
import type { DeliveryKind } from '../rails/rail.ts'
import { createAllowList } from './allow-list.ts'

type Path = { attemptId: string; secret: string; kind: string }

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const accepted = { ResultCode: 0, ResultDesc: 'Accepted' }

const kindOf = (text: string): DeliveryKind | undefined => (text === 'result' || text === 'timeout' ? text : undefined)

const depositAnswers: Readonly<Record<string, typeof receiveDeposit | undefined>> = Object.assign(Object.create(null), {
  confirmation: receiveDeposit,
  validation: validateDeposit,
})

/** How many refused deliveries are stored: from one network in a minute, and from all of them. The rest is answered and discarded. */
const notedRefusals = { perName: 20, maxTotal: 200, windowSeconds: 60 }

/**
 * The endpoints for providers' deliveries. A delivery is stored, answered, and processed afterwards: a provider that waits sends again, or
 * gives up. A stranger gets the same answer and learns nothing from it. No path is logged: it contains the attempt's secret.
 */
export const registerCallbacks = (
  operator: App,
  deps: Pick<
    PaymentsDeps & ReconciliationDeps & TopupsDeps,
    | 'alerts'
    | 'appendEvents'
    | 'clock'
    | 'config'
    | 'db'
    | 'derivations'
    | 'jobs'
    | 'logger'
    | 'orderNames'
    | 'rails'
    | 'vault'
    | 'witness'
  >,
): void => {
  const isAllowed = createAllowList(deps.config.CALLBACK_ALLOWED_IPS)
  const mayNote = createAllowance(deps.clock, notedRefusals)
  const receive = createReceiver(deps)
  void operator.register(async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    app.post<{ Params: Path }>('/callbacks/:attemptId/:secret/:kind', async (request, reply) => {
      const kind = kindOf(request.params.kind)
      if (!kind) return reply.callNotFound()
      const { attemptId, secret } = request.params
      const arrival = {
        attemptId: uuid.test(attemptId) ? attemptId : null,
        secret,
        kind,
        body: typeof request.body === 'string' ? request.body : '',
        sourceIp: request.ip,
        allowedSource: isAllowed(request.ip),
      }
      await receive(arrival, () => mayNote(networkOf(request.ip)))
      return reply.send(accepted)
    })
    app.post<{ Params: { secret: string; kind: string } }>('/callbacks/deposits/:secret/:kind', async (request, reply) => {
      const { secret, kind } = request.params
      const answer = depositAnswers[kind]
      if (!answer) return reply.callNotFound()
      const body = typeof request.body === 'string' ? request.body : ''
      return reply.send(await answer(deps, { secret, body, allowedSource: isAllowed(request.ip) }))
    })
    app.post<{ Params: { id: string; secret: string; kind: string } }>(
      '/callbacks/balances/:id/:secret/:kind',
      async (request, reply) => {
        const { id, secret } = request.params
        const kind = kindOf(request.params.kind)
        if (!kind || !uuid.test(id)) return reply.callNotFound()
        const body = typeof request.body === 'string' ? request.body : ''
        await receiveBalance(deps, { id, secret, kind, body, allowedSource: isAllowed(request.ip) })
        return reply.send(accepted)
      },
    )
  })
}
