import { BlockList, isIP } from 'node:net'
import type { App } from '../../http/app-type.ts'
import { networkOf } from '../../http/rate-limit.ts'
import type { Clock } from '../../lib/clock.ts'
import { receiveDeposit, validateDeposit } from '../../modules/deposits/receive.ts'
import { receiveBalance } from '../../modules/exceptions/reconciliation/balances.ts'
import type { Parts } from '../../modules/parts.ts'
import { createReceiver } from '../../modules/sending/deliveries.ts'
import type { DeliveryKind } from '../../rails/rail.ts'

const windowMs = 60_000
const mostOfNetwork = 20
const mostOfAll = 200

/** Whether a refused delivery of this network is stored. The rest of a minute, also of many networks together, is answered and discarded. */
const createAllowance = (clock: Clock) => {
  let began = 0
  let noted: string[] = []
  return (network: string): boolean => {
    const now = clock.now().getTime()
    if (now - began >= windowMs) {
      began = now
      noted = []
    }
    if (noted.length >= mostOfAll || noted.filter((each) => each === network).length >= mostOfNetwork) return false
    noted.push(network)
    return true
  }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Who may deliver: addresses and networks. If it is not set, everybody may; the secret in the path is always checked. */
const createAllowList = (entries: readonly string[] | undefined): ((address: string) => boolean) => {
  if (entries === undefined) return () => true
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/')
    if (prefix === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const accepted = { ResultCode: 0, ResultDesc: 'Accepted' }

const textOf = (body: unknown): string => (typeof body === 'string' ? body : '')

const kindOf = (text: string): DeliveryKind | undefined => (text === 'result' || text === 'timeout' ? text : undefined)

const depositAnswers = new Map<string, typeof receiveDeposit>([
  ['confirmation', receiveDeposit],
  ['validation', validateDeposit],
])

/**
 * The endpoints for providers' deliveries. A delivery is stored, answered, and processed afterwards: a provider that waits sends again, or
 * gives up. A stranger gets the same answer and learns nothing from it. No path is logged: it contains the attempt's secret.
 */
export const registerCallbacks = (operator: App, deps: Parts): void => {
  const isAllowed = createAllowList(deps.config.CALLBACK_ALLOWED_IPS)
  const mayNote = createAllowance(deps.clock)
  const receive = createReceiver(deps)
  void operator.register(async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    app.post<{ Params: { attemptId: string; secret: string; kind: string } }>(
      '/callbacks/:attemptId/:secret/:kind',
      async (request, reply) => {
        const kind = kindOf(request.params.kind)
        if (!kind) return reply.callNotFound()
        const { attemptId, secret } = request.params
        const arrival = {
          attemptId: uuid.test(attemptId) ? attemptId : null,
          secret,
          kind,
          body: textOf(request.body),
          sourceIp: request.ip,
          allowedSource: isAllowed(request.ip),
        }
        await receive(arrival, () => mayNote(networkOf(request.ip)))
        return reply.send(accepted)
      },
    )
    app.post<{ Params: { secret: string; kind: string } }>('/callbacks/deposits/:secret/:kind', async (request, reply) => {
      const { secret, kind } = request.params
      const answer = depositAnswers.get(kind)
      if (!answer) return reply.callNotFound()
      return reply.send(await answer(deps, { secret, body: textOf(request.body), allowedSource: isAllowed(request.ip) }))
    })
    app.post<{ Params: { id: string; secret: string; kind: string } }>(
      '/callbacks/balances/:id/:secret/:kind',
      async (request, reply) => {
        const { id, secret } = request.params
        const kind = kindOf(request.params.kind)
        if (!kind || !uuid.test(id)) return reply.callNotFound()
        await receiveBalance(deps, { id, secret, kind, body: textOf(request.body), allowedSource: isAllowed(request.ip) })
        return reply.send(accepted)
      },
    )
  })
}
