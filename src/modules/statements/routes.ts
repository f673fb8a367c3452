import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../http/app-type.ts'
import { orCsv, sendCsv, wantsCsv } from '../../http/csv.ts'
import { positionOf, readPage } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import type { StatementEntry } from '../../ledger/statement.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Parts } from '../parts.ts'
import { balancesOf, columnsOf, presentEntry, presentPart, presentPeriod } from './present.ts'
import { ReadStatement, Statement, WorkspaceStatement } from './schema.ts'
import { entriesOf, type Opened, openStatement, readLines } from './service.ts'

type StatementRequest = Parameters<typeof readPage>[1] & FastifyRequest & { query: ReadStatement }

export const registerStatements = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const { CURRENCY: currency } = deps.config
  const csv = (request: StatementRequest, reply: FastifyReply, opened: Opened): FastifyReply => {
    const { from, to, zones, unfinishedAt } = opened.period
    const columns = columnsOf(zones, currency, opened.of.workspaceId === null)
    return sendCsv(request, reply, `statement-${from}-${to}${unfinishedAt ? '-unfinished' : ''}`, columns, readLines(opened))
  }
  /** `of`: the owner to whom the cursors are bound. */
  const open = (request: StatementRequest, of: Uuid, isOfWorkspace: boolean) => {
    const after = wantsCsv(request) ? null : positionOf(deps, request, of)
    return openStatement(deps, request.principal, request.query, { isOfWorkspace, after })
  }
  /** Returns a page, oldest entry first. The cursor names the last entry of the previous page. */
  const page = async <Item, More extends object>(
    request: StatementRequest,
    opened: Opened,
    of: Uuid,
    present: (entry: StatementEntry) => Item,
    balances: More,
  ) => {
    const { data: entries, ...more } = await readPage(deps, request, {
      of,
      read: ({ before, take }) => entriesOf(opened, before, take),
      idOf: ({ id }) => id,
      present: (rows) => rows.map(present),
    })
    return { ...presentPeriod(opened.period, currency, opened.summary), ...balances, entries, ...more }
  }

  routes.handle('GET', '/v1/accounts/me/statement', 'accounts.statement', {
    permission: 'account.read',
    refuses: ['invalid_cursor'],
    summary: 'Retrieve a statement of your own balance',
    description:
      'Returns the ledger entries on the balance of the personal workspace between two dates in its time zone, oldest first, for accounting. It includes the opening and closing balances, and totals by beneficiary and by type. The opening balance of a statement is the closing balance of the previous one. With `Accept: text/csv`, returns the complete statement with amounts in major units and local dates.',
    querystring: ReadStatement,
    response: { 200: orCsv(Statement) },
    handler: async (request, reply) => {
      const { accountId } = request.principal
      const opened = await open(request, accountId, false)
      if (wantsCsv(request)) return csv(request, reply, opened)
      return reply.send(await page(request, opened, accountId, presentEntry, balancesOf(opened.summary)))
    },
  })
  routes.handle('GET', '/v1/workspaces/current/statement', 'workspaces.statement', {
    permission: 'payment.read',
    refuses: ['invalid_cursor'],
    summary: 'Retrieve a statement of the workspace',
    description:
      'Returns the ledger entries on the balance of the workspace between two dates, oldest first. It includes the opening and closing balances, and totals by beneficiary and by type. If that balance is shared with the owning account, only the payments of the workspace and their returns are included, without balances.',
    querystring: ReadStatement,
    response: { 200: orCsv(WorkspaceStatement) },
    handler: async (request, reply) => {
      const { id } = request.principal.workspace
      const opened = await open(request, id, true)
      if (wantsCsv(request)) return csv(request, reply, opened)
      if (opened.of.workspaceId === null)
        return reply.send(await page(request, opened, id, presentEntry, balancesOf(opened.summary)))
      return reply.send(
        await page(request, opened, id, presentPart, { opening_balance_minor: null, closing_balance_minor: null }),
      )
    },
  })
}
