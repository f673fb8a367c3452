import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../http/app-type.ts'
import { orCsv, sendCsv, wantsCsv } from '../../http/csv.ts'
import { positionOf, readPage } from '../../http/pagination.ts'
import { routesOf } from '../../http/routes.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Parts } from '../parts.ts'
import { balancesOf, columnsOf, presentEntry, presentPart, presentPeriod } from './present.ts'
import { ReadStatement, Statement, WorkspaceStatement } from './schema.ts'
import { entriesOf, openStatement, statementLines } from './service.ts'

type StatementRequest = Parameters<typeof readPage>[1] & FastifyRequest & { query: ReadStatement }

export const registerStatements = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const { CURRENCY: currency } = deps.config
  /** Answers with a page, oldest entry first, or with the complete statement as CSV. `owner`: to whom the cursors are bound. */
  const answer = async (request: StatementRequest, reply: FastifyReply, owner: Uuid, isOfWorkspace: boolean) => {
    const isCsv = wantsCsv(request)
    const after = isCsv ? null : positionOf(deps, request, owner)
    const opened = await openStatement(deps, request.principal, request.query, { isOfWorkspace, after })
    const { scope, period, summary } = opened
    const isWhole = scope.workspaceId === null
    if (isCsv) {
      const name = `statement-${period.from}-${period.to}${period.unfinishedAt ? '-unfinished' : ''}`
      return sendCsv(request, reply, name, columnsOf(period.zones, currency, isWhole), statementLines(opened))
    }
    const { data: entries, ...more } = await readPage(deps, request, {
      owner,
      read: ({ before, take }) => entriesOf(opened, before, take),
      idOf: ({ id }) => id,
      present: (rows) => rows.map((row) => (isWhole ? presentEntry(row) : presentPart(row))),
    })
    const statement = { ...presentPeriod(period, currency, summary), ...balancesOf(opened), entries, ...more }
    return reply.send(statement satisfies WorkspaceStatement)
  }

  routes.handle('GET', '/v1/accounts/me/statement', 'accounts.statement', {
    permission: 'account.read',
    refuses: ['invalid_cursor'],
    summary: 'Retrieve a statement of your own balance',
    description:
      'Returns the ledger entries on the balance of the personal workspace between two dates in its time zone, oldest first, for accounting. It includes the opening and closing balances, and totals by beneficiary and by type. The opening balance of a statement is the closing balance of the previous one. With `Accept: text/csv`, returns the complete statement with amounts in major units and local dates.',
    querystring: ReadStatement,
    response: { 200: orCsv(Statement) },
    handler: (request, reply) => answer(request, reply, request.principal.accountId, false),
  })
  routes.handle('GET', '/v1/workspaces/current/statement', 'workspaces.statement', {
    permission: 'payment.read',
    refuses: ['invalid_cursor'],
    summary: 'Retrieve a statement of the workspace',
    description:
      'Returns the ledger entries on the balance of the workspace between two dates, oldest first. It includes the opening and closing balances, and totals by beneficiary and by type. If that balance is shared with the owning account, only the payments of the workspace and their returns are included, without balances.',
    querystring: ReadStatement,
    response: { 200: orCsv(WorkspaceStatement) },
    handler: (request, reply) => answer(request, reply, request.principal.workspace.id, true),
  })
}
