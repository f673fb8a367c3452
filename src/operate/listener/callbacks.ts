import { BlockList, isIP } from 'node:net'
import type { App } from '../../http/app-type.ts'
import { networkOf } from '../../http/rate-limit.ts'
import type { Clock } from '../../lib/clock.ts'
import { answerDeposit } from '../../modules/deposits/receive.ts'
import { receiveBalance } from '../../modules/exceptions/reconciliation/receive-balance.ts'
import type { Parts } from '../../modules/parts.ts'
import { createReceiver } from '../../modules/sending/deliveries.ts'
import type { DeliveryKind } from '../../rails/rail.ts'

const windowMs = 60_000
const maxOfNetwork = 20
const maxOfAll = 200

/** Limits how many rejected callbacks per minute are stored for a network. Further ones get a response but are discarded. */
const createAllowance = (clock: Clock) => {
  let began = 0
  let stored: string[] = []
  return (network: string): boolean => {
    const now = clock.now().getTime()
    if (now - began >= windowMs) {
      began = now
      stored = []
    }
    if (stored.length >= maxOfAll || stored.filter((each) => each === network).length >= maxOfNetwork) return false
    stored.push(network)
    return true
  }
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Addresses and networks that may send callbacks. Default: all. The secret in the path is always checked. */
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

const isKind = (text: string): text is DeliveryKind => text === 'result' || text === 'timeout'

type Named = { id?: string; secret: string; kind: string }
type Delivered = { body: string; sourceIp: string; allowedSource: boolean }

/**
 * Endpoints for providers' callbacks. A callback is stored, answered, and then processed, because a waiting provider sends it
 * again or gives up. Strangers get the same response, which reveals nothing. No path is logged: it contains the attempt's secret.
 */
export const registerCallbacks = (operator: App, deps: Parts): void => {
  const isAllowed = createAllowList(deps.config.CALLBACK_ALLOWED_IPS)
  const mayStoreRejection = createAllowance(deps.clock)
  const receive = createReceiver(deps)
  void operator.register(async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    const on = (path: string, handle: (named: Named, delivered: Delivered) => Promise<object | undefined>) =>
      app.post<{ Params: Named }>(path, async ({ params, body, ip }, reply) => {
        const delivered = { body: typeof body === 'string' ? body : '', sourceIp: ip, allowedSource: isAllowed(ip) }
        const answer = await handle(params, delivered)
        return answer ? reply.send(answer) : reply.callNotFound()
      })
    on('/callbacks/:id/:secret/:kind', async ({ id = '', secret, kind }, delivered) => {
      if (!isKind(kind)) return undefined
      const arrival = { ...delivered, attemptId: uuid.test(id) ? id : null, secret, kind }
      await receive(arrival, () => mayStoreRejection(networkOf(delivered.sourceIp)))
      return accepted
    })
    on('/callbacks/deposits/:secret/:kind', (named, delivered) => answerDeposit(deps, { ...named, ...delivered }))
    on('/callbacks/balances/:id/:secret/:kind', async ({ id = '', secret, kind }, { body, allowedSource }) => {
      if (!isKind(kind) || !uuid.test(id)) return undefined
      await receiveBalance(deps, { id, secret, kind, body, allowedSource })
      return accepted
    })
  })
}
