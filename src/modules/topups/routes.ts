import type { App } from '../../http/app-type.ts'
import { respondWithRecord } from '../../http/idempotency.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { found } from '../../lib/errors.ts'
import { collectionRail, depositRails } from '../../lib/rail-names.ts'
import { recordKeys } from '../../queue/record-keys.ts'
import type { Parts } from '../parts.ts'
import { presentTopup } from './outcome.ts'
import { findTopup } from './queries.ts'
import { InitiateTopup, Topup } from './schema.ts'
import { initiateTopup } from './service.ts'

const topupKeys = recordKeys('topups', { path: '/v1/topups/initiate', kind: 'topup', permission: 'topup.read' })

export const registerTopups = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.handle('POST', '/v1/topups/initiate', 'topups.initiate', {
    permission: 'topup.create',
    idempotent: true,
    refuses: ['grant_frozen', 'capability_disabled', 'provider_not_configured'],
    summary: 'Start a top-up',
    description: `${collectionRail} sends an M-PESA prompt to the phone, and its owner confirms with the PIN. The amount must be in whole shillings, from 1 to 250,000. ${depositRails.join(' and ')} need no phone and no amount. \`instructions\` contains the account and the number to pay to; any amount that arrives under that number is credited. The answer is \`pending\`: read the top-up again or follow the stream until the provider has answered. A top-up waits 7 days for a deposit; later deposits are credited too.`,
    body: InitiateTopup,
    response: { 201: Topup },
    handler: async (request, reply) =>
      respondWithRecord(deps, request, reply, topupKeys, (tx, once) =>
        initiateTopup(tx, deps, { principal: request.principal, input: request.body, once }),
      ),
  })
  routes.get('/v1/topups/:id', 'topups.get', {
    permission: 'topup.read',
    summary: 'Retrieve a top-up',
    description:
      'Returns the current state of a top-up, which is the source of truth even after missed events. `expired` means that no answer came in time; a success that the provider confirms later is still credited.',
    params: byId('topup'),
    response: { 200: Topup },
    read: async ({ principal, params }) =>
      presentTopup(found(await findTopup(deps.db, { workspaceId: principal.workspace.id, id: params.id }))),
  })
}
