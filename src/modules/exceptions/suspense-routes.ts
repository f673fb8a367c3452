import type { App } from '../../http/app-type.ts'
import { accepted, ok } from '../../http/idempotency.ts'
import { pageOf } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import { byId } from '../../http/wire.ts'
import { eachById } from '../for-each-row.ts'
import type { Parts } from '../parts.ts'
import { listProviderAlerts, presentProviderAlert, resolveProviderAlert } from '../suspense/provider-alerts-service.ts'
import {
  AssignSuspense,
  EnterAmount,
  FindSuspense,
  ProviderAlert,
  ResolveProviderAlert,
  ResolveSuspense,
  ResolveSuspenseItems,
  SuspenseItem,
  SuspenseItems,
} from '../suspense/schema.ts'
import { listSuspense, presentSuspense, resolveSuspense } from '../suspense/service.ts'
import { assignSuspense, enterAmount } from './assign.ts'

/** Routes for money that a provider moved and our books do not explain. A person decides about it. */
export const registerSuspense = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps, { access: 'admin' })
  routes.list('/v1/admin/suspense', 'admin.list_suspense', {
    summary: 'List money in suspense',
    description:
      'Lists money that a provider moved but the service could not book, with the likely payment or top-up. A person must resolve each item.',
    querystring: FindSuspense,
    response: { 200: pageOf(SuspenseItem) },
    read: (page, { query }) => listSuspense(deps.db, query.status, page),
    present: (rows) => rows.map(presentSuspense),
  })
  routes.list('/v1/admin/provider-alerts', 'admin.list_provider_alerts', {
    summary: "List providers' alerts",
    description:
      'Returns later reports of a provider about money that is already booked. Nothing was booked for them. A person must ask the provider.',
    querystring: FindSuspense,
    response: { 200: pageOf(ProviderAlert) },
    read: (page, { query }) => listProviderAlerts(deps.db, query.status, page),
    present: (rows) => rows.map(presentProviderAlert),
  })
  routes.post('/v1/admin/provider-alerts/:id/resolve', 'admin.resolve_provider_alert', {
    refuses: ['conflict'],
    summary: "Resolve a provider's alert",
    description: 'Records the answer of the provider. No money moves.',
    params: byId('alert'),
    body: ResolveProviderAlert,
    response: { 200: ProviderAlert },
    work: async (tx, { principal, params, body }) =>
      ok(presentProviderAlert(await resolveProviderAlert(tx, principal, params.id, body))),
  })
  routes.post('/v1/admin/suspense/resolve', 'admin.resolve_suspense_items', {
    refuses: ['conflict'],
    summary: 'Resolve several suspense items',
    description:
      'Resolves all items with one outcome and one note, as one change. If one is already resolved or does not exist, none is resolved. Items that need a second administrator remain open with their `proposal` (202). Each item gets its own entry in the audit log.',
    body: ResolveSuspenseItems,
    response: { 200: SuspenseItems, 202: SuspenseItems },
    work: async (tx, { principal, body }) => {
      const items = await eachById(body.ids, (id) => resolveSuspense(tx, deps.config, principal, id, body))
      const answer = items.some(({ resolvedAt }) => resolvedAt === null) ? accepted : ok
      return answer({ data: items.map(presentSuspense) })
    },
  })
  routes.post('/v1/admin/suspense/:id/resolve', 'admin.resolve_suspense', {
    refuses: ['conflict'],
    summary: 'Resolve a suspense item',
    description:
      'Records the outcome: an adjustment gave the money to an account, the provider reversed it, or it was explained. The note is recorded in the audit log. Booked money that was not adjusted counts towards the daily limit of one administrator. Above that limit, the answer is 202 and the item remains open until a second administrator sends the same outcome.',
    params: byId('suspense'),
    body: ResolveSuspense,
    response: { 200: SuspenseItem, 202: SuspenseItem },
    work: async (tx, { principal, params, body }) => {
      const item = await resolveSuspense(tx, deps.config, principal, params.id, body)
      return (item.resolvedAt === null ? accepted : ok)(presentSuspense(item))
    },
  })
  routes.post('/v1/admin/suspense/:id/amount', 'admin.enter_suspense_amount', {
    refuses: ['separation_of_duties', 'conflict'],
    summary: 'Enter the amount of a suspense item',
    description:
      'Enters the amount that the provider reports, for an item without `amount_minor`. The whole amount of a succeeded payment returns to its balance, and counts towards the daily limit of one administrator. Any other amount is booked, and the item waits to be assigned or resolved.',
    params: byId('suspense'),
    body: EnterAmount,
    response: { 200: SuspenseItem },
    work: async (tx, { principal, params, body }) =>
      ok(presentSuspense(await enterAmount(tx, deps.config, principal, params.id, body))),
  })
  routes.post('/v1/admin/suspense/:id/assign', 'admin.assign_suspense', {
    idempotent: true,
    refuses: ['separation_of_duties'],
    summary: 'Assign a suspense item to an account',
    description:
      'Assigns a deposit with an unknown reference, once the sender is known. Use `account_id`, or the `topup_id` that the payer meant, which then ends. Administrators cannot assign money to themselves. Amounts that need a second administrator require an adjustment instead.',
    params: byId('suspense'),
    body: AssignSuspense,
    response: { 200: SuspenseItem },
    work: async (tx, { principal, params, body }) =>
      ok(presentSuspense(await assignSuspense(tx, deps.config, principal, params.id, body))),
  })
}
