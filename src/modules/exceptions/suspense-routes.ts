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

/** Money that a provider moved and the books do not follow: a person decides. */
export const registerSuspense = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/admin/suspense', 'admin.list_suspense', {
    access: 'admin',
    summary: 'List money in suspense',
    description:
      'Money that a provider moved and that could not be booked, with what it seems to be about. A person must resolve each.',
    querystring: FindSuspense,
    response: { 200: pageOf(SuspenseItem) },
    read: (page, { query }) => listSuspense(deps.db, query.status, page),
    present: (rows) => rows.map(presentSuspense),
  })
  routes.list('/v1/admin/provider-alerts', 'admin.list_provider_alerts', {
    access: 'admin',
    summary: "List providers' alerts",
    description:
      'What a provider said later about money that is booked already. Nothing was booked for it. A person asks the provider.',
    querystring: FindSuspense,
    response: { 200: pageOf(ProviderAlert) },
    read: (page, { query }) => listProviderAlerts(deps.db, query.status, page),
    present: (rows) => rows.map(presentProviderAlert),
  })
  routes.post('/v1/admin/provider-alerts/:id/resolve', 'admin.resolve_provider_alert', {
    access: 'admin',
    refuses: ['conflict'],
    summary: "Resolve a provider's alert",
    description: 'Notes what the provider answered. It moves no money.',
    params: byId('alert'),
    body: ResolveProviderAlert,
    response: { 200: ProviderAlert },
    work: async (tx, { principal, params, body }) =>
      ok(presentProviderAlert(await resolveProviderAlert(tx, principal, params.id, body))),
  })
  routes.post('/v1/admin/suspense/resolve', 'admin.resolve_suspense_items', {
    access: 'admin',
    refuses: ['conflict'],
    summary: 'Resolve several items of suspense',
    description:
      'One result and one note for all of them, as one change: where one is resolved already or unknown, none is resolved. Items that need a second administrator stay open with their `proposal` (202). Each item has its own row in the audit log.',
    body: ResolveSuspenseItems,
    response: { 200: SuspenseItems, 202: SuspenseItems },
    work: async (tx, { principal, body }) => {
      const items = await eachById(body.ids, (id) => resolveSuspense(tx, deps.config, principal, id, body))
      const answer = items.some(({ resolvedAt }) => resolvedAt === null) ? accepted : ok
      return answer({ data: items.map(presentSuspense) })
    },
  })
  routes.post('/v1/admin/suspense/:id/resolve', 'admin.resolve_suspense', {
    access: 'admin',
    refuses: ['conflict'],
    summary: 'Resolve money in suspense',
    description:
      'Records the result: an adjustment gave the money to an account, the provider reversed it, or it was explained. The note is for the audit log. Booked money that was not adjusted counts for what one administrator may move alone in a day: beyond it the answer is 202, and the item stays open until a second administrator sends the same outcome.',
    params: byId('suspense'),
    body: ResolveSuspense,
    response: { 200: SuspenseItem, 202: SuspenseItem },
    work: async (tx, { principal, params, body }) => {
      const item = await resolveSuspense(tx, deps.config, principal, params.id, body)
      return (item.resolvedAt === null ? accepted : ok)(presentSuspense(item))
    },
  })
  routes.post('/v1/admin/suspense/:id/amount', 'admin.enter_suspense_amount', {
    access: 'admin',
    refuses: ['separation_of_duties', 'conflict'],
    summary: 'Enter the amount of money in suspense',
    description:
      'For an item without `amount_minor`: what the provider says has moved. The whole amount of a payment that succeeded returns it to its balance, and counts for what one administrator may move alone in a day. Any other amount is booked, and the item waits to be assigned or resolved.',
    params: byId('suspense'),
    body: EnterAmount,
    response: { 200: SuspenseItem },
    work: async (tx, { principal, params, body }) =>
      ok(presentSuspense(await enterAmount(tx, deps.config, principal, params.id, body))),
  })
  routes.post('/v1/admin/suspense/:id/assign', 'admin.assign_suspense', {
    access: 'admin',
    idempotent: true,
    refuses: ['separation_of_duties'],
    summary: 'Give money in suspense to its account',
    description:
      'For a deposit under a reference that nothing here has, once the sender is known: by `account_id`, or by the `topup_id` that the payer meant, which it ends. Never to the administrator, and above the sum that needs a second administrator only by an adjustment.',
    params: byId('suspense'),
    body: AssignSuspense,
    response: { 200: SuspenseItem },
    work: async (tx, { principal, params, body }) =>
      ok(presentSuspense(await assignSuspense(tx, deps.config, principal, params.id, body))),
  })
}
