import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Principal, seesWholeBalance } from '../../auth/principal.ts'
import type { Db } from '../../db/client.ts'
import type { App } from '../../http/app-type.ts'
import { orCsv, sendCsv, wantsCsv } from '../../http/csv.ts'
import { readPage } from '../../http/pagination.ts'
import {
  listStatementEntries,
  readStatementSummary,
  type StatementEntry,
  type StatementOf,
  type StatementSummary,
} from '../../ledger/statement.ts'
import type { Uuid } from '../../lib/ids.ts'
import { formatMinor } from '../../lib/money.ts'
import type { Parts } from '../parts.ts'
import { columnsOf, type Line, periodOf, presentEntry, presentPart, presentPeriod, type ReadPeriod } from './present.ts'
import { ReadStatement, Statement, WorkspaceStatement } from './schema.ts'

/** In person those of all that the own balance pays, else the credential's own workspace's. */
const payeesOf = ({ grant, permissions, workspace }: Principal): StatementOf['payeesOf'] => {
  if (!permissions.has('beneficiary.read')) return 'none'
  return grant ? workspace.id : 'all'
}

type Opened = { source: Db; of: StatementOf; period: ReadPeriod; summary: StatementSummary }

const entriesOf = async ({ source, of, summary }: Opened, after: string | null, take: number): Promise<StatementEntry[]> =>
  summary.through === null ? [] : listStatementEntries(source, of, { after, take, summary })

/** Of a whole balance, between the one before and the one after. `before`: the last line that was sent. */
const readLines =
  (opened: Opened) =>
  async ({ before, take }: { before: string | null; take: number }): Promise<Line[]> => {
    const { start, end, unfinishedAt } = opened.period
    const { openingMinor, closingMinor } = opened.summary
    const entries = await entriesOf(opened, before, take)
    const lines = entries.map((entry): Line => ({ id: entry.id, at: entry.at, entry }))
    if (opened.of.workspaceId !== null) return lines
    if (before === null) lines.unshift({ id: 'opening', at: start, balance: 'opening_balance', minor: openingMinor })
    // Of the last moment of the last day, or of the moment at which it was read.
    const at = unfinishedAt ?? new Date(end.getTime() - 1)
    const balance = unfinishedAt ? 'balance_so_far' : 'closing_balance'
    if (entries.length < take) lines.push({ id: 'closing', at, balance, minor: closingMinor })
    return lines
  }

const balancesOf = ({ summary: { openingMinor, closingMinor } }: Opened) => ({
  opening_balance_minor: formatMinor(openingMinor),
  closing_balance_minor: formatMinor(closingMinor),
})

type StatementRequest = Parameters<typeof readPage>[1] & FastifyRequest & { query: ReadStatement }

const open = async ({ clock, reads }: Parts, { principal, query }: StatementRequest, isOfWorkspace: boolean): Promise<Opened> => {
  const { workspace } = principal
  const now = clock.now()
  const period = periodOf(query, now, workspace)
  const of: StatementOf = {
    ownerId: isOfWorkspace ? workspace.balanceAccountId : principal.accountId,
    workspaceId: isOfWorkspace && !seesWholeBalance(principal) ? workspace.id : null,
    payeesOf: isOfWorkspace ? workspace.id : payeesOf(principal),
    start: period.start,
    end: period.end,
  }
  const source = await reads.db()
  const summary = await readStatementSummary(source, of)
  const readAt = clock.now()
  return { source, of, period: { ...period, unfinishedAt: readAt < period.end ? readAt : null }, summary }
}

export const registerStatements = (app: App, deps: Parts): void => {
  const { CURRENCY: currency } = deps.config
  const csv = (request: StatementRequest, reply: FastifyReply, opened: Opened): FastifyReply => {
    const { from, to, timeZone, unfinishedAt } = opened.period
    const columns = columnsOf(timeZone, currency, opened.of.workspaceId === null)
    return sendCsv(request, reply, `statement-${from}-${to}${unfinishedAt ? '-unfinished' : ''}`, columns, readLines(opened))
  }
  /** Oldest first; the cursor names the last entry of the page before. */
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

  app.get(
    '/v1/accounts/me/statement',
    {
      config: { operation: 'accounts.statement', permission: 'account.read', refuses: ['invalid_cursor'] },
      schema: {
        summary: 'Read a statement of your own balance',
        description:
          'For accounting: what was booked on the balance of the personal workspace between two dates in the time zone of the workspace, oldest first, with the balances before and after, and sums by payee and by type. The opening balance of a statement is the closing balance of the one before. With `Accept: text/csv` it is whole, with amounts in major units and local dates.',
        querystring: ReadStatement,
        response: { 200: orCsv(Statement) },
      },
    },
    async (request, reply) => {
      const opened = await open(deps, request, false)
      if (wantsCsv(request)) return csv(request, reply, opened)
      return reply.send(await page(request, opened, opened.of.ownerId, presentEntry, balancesOf(opened)))
    },
  )
  app.get(
    '/v1/workspaces/current/statement',
    {
      config: { operation: 'workspaces.statement', permission: 'payment.read', refuses: ['invalid_cursor'] },
      schema: {
        summary: 'Read a statement of the workspace',
        description:
          'What was booked on the balance of the workspace between two dates, oldest first, with the balances before and after, and sums by payee and by type. Where that balance is shared with the owning account, only the payments of the workspace and what came back of them, without balances.',
        querystring: ReadStatement,
        response: { 200: orCsv(WorkspaceStatement) },
      },
    },
    async (request, reply) => {
      const opened = await open(deps, request, true)
      if (wantsCsv(request)) return csv(request, reply, opened)
      const { id } = request.principal.workspace
      if (opened.of.workspaceId === null) return reply.send(await page(request, opened, id, presentEntry, balancesOf(opened)))
      return reply.send(
        await page(request, opened, id, presentPart, { opening_balance_minor: null, closing_balance_minor: null }),
      )
    },
  )
}
