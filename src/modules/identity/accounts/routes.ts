import type { Db } from '../../../db/client.ts'
import type { App } from '../../../http/app-type.ts'
import { orCsv, sendCsv, wantsCsv } from '../../../http/csv.ts'
import { ok } from '../../../http/idempotency.ts'
import { pageOf, readPage } from '../../../http/pagination.ts'
import { routesOf } from '../../../http/routes.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { effectiveTimeZone } from '../../../policy/calendar.ts'
import type { Deps } from '../deps.ts'
import { presentIdentity } from '../identities/present.ts'
import { listIdentities } from '../identities/queries.ts'
import { AccountWithIdentities } from '../identities/schema.ts'
import { readHistory } from './history.ts'
import { historyColumns, presentHistoryEntry, presentRow } from './present.ts'
import { HistoryEntry, HistorySummary, ListHistory, SummarizeHistory, UpdateAccount } from './schema.ts'
import { readAccount, updateAccount } from './service.ts'
import { summarizeHistory } from './summary.ts'

const withIdentities = async (db: Db, accountId: Uuid) => {
  const [account, identities] = await Promise.all([readAccount(db, accountId), listIdentities(db, accountId)])
  return { ...account, identities: identities.map(presentIdentity) }
}

export const registerAccounts = (app: App, deps: Deps): void => {
  const routes = routesOf(app, deps)
  routes.get('/v1/accounts/me', {
    config: { operation: 'accounts.get', permission: 'account.read', whileNotAdmitted: true },
    schema: { response: { 200: AccountWithIdentities } },
    read: ({ principal }) => withIdentities(deps.db, principal.accountId),
  })
  routes.patch('/v1/accounts/me', {
    config: {
      operation: 'accounts.update',
      permission: 'account.manage',
      refuses: ['invalid_request'],
    },
    schema: { body: UpdateAccount, response: { 200: AccountWithIdentities } },
    work: async (tx, { principal, body }) => {
      await updateAccount(tx, principal, body)
      return ok(await withIdentities(tx, principal.accountId))
    },
  })
  routes.get('/v1/accounts/me/history/summary', {
    config: { operation: 'accounts.history_summary', permission: 'account.read', refuses: ['invalid_request'] },
    schema: { querystring: SummarizeHistory, response: { 200: HistorySummary } },
    read: ({ principal, query }) => summarizeHistory(deps, principal, query.days),
  })
  app.get(
    '/v1/accounts/me/history',
    {
      config: { operation: 'accounts.history', permission: 'account.read', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: {
        querystring: ListHistory,
        response: { 200: orCsv(pageOf(HistoryEntry)) },
      },
    },
    async (request, reply) => {
      const { principal } = request
      const { type, created_after, created_before } = request.query
      const filter = {
        ...(type && { types: type }),
        ...(created_after && { createdAfter: created_after }),
        ...(created_before && { createdBefore: created_before }),
      }
      const source = await deps.reads.db()
      if (wantsCsv(request))
        return sendCsv(
          request,
          reply,
          'history',
          historyColumns(effectiveTimeZone(principal.workspace.zone, deps.clock.now()), deps.config.CURRENCY),
          async (page) => (await readHistory(source, principal, page, filter)).map(presentRow),
        )
      return reply.send(
        await readPage(deps, request, {
          of: principal.accountId,
          read: (page) => readHistory(source, principal, page, filter),
          idOf: (row) => row.id,
          present: (rows) => rows.map(presentHistoryEntry),
        }),
      )
    },
  )
}
