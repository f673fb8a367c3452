import type { FastifyReply } from 'fastify'
import type { Principal } from '../../auth/principal.ts'
import type { Db } from '../../db/client.ts'
import type { App } from '../../http/app-type.ts'
import { type Column, orCsv, sendCsv, wantsCsv } from '../../http/csv.ts'
import { readPage } from '../../http/pagination.ts'
import {
  listStatementEntries,
  readStatementSummary,
  type StatementEntry,
  type StatementOf,
  type StatementSummary,
} from '../../ledger/statement.ts'
import { formatMinor } from '../../lib/money.ts'
import { effectiveTimeZone } from '../../policy/calendar.ts'
import type { Parts } from '../parts.ts'
import {
  accountColumns,
  type Line,
  periodOf,
  presentEntry,
  presentPeriod,
  presentWorkspaceEntry,
  type ReadPeriod,
  workspaceColumns,
} from './present.ts'
import { ReadStatement, Statement, WorkspaceStatement } from './schema.ts'

/** Whose payees are named: in person those of all that the account pays for, else the credential's own workspace's, or none. */
const payeesOf = ({ grant, permissions, workspace }: Principal): StatementOf['payeesOf'] => {
  if (!permissions.has('beneficiary.read')) return 'none'
  return grant ? workspace.id : 'all'
}

const openingLine = (period: ReadPeriod, minor: bigint): Line => ({
  id: 'opening',
  at: period.start,
  balance: 'opening_balance',
  minor,
})

/** The balance of the last moment of the last day; while that day goes on, that of the moment at which it was read. */
const closingLine = ({ end, unfinishedAt }: ReadPeriod, minor: bigint): Line => ({
  id: 'closing',
  at: unfinishedAt ?? new Date(end.getTime() - 1),
  balance: unfinishedAt ? 'balance_so_far' : 'closing_balance',
  minor,
})

type Export = { source: Db; of: StatementOf; period: ReadPeriod; summary: StatementSummary; balances: boolean }

/** Where nothing was booked there is nothing to read. */
const entriesOf = async (
  { source, of, summary }: Pick<Export, 'source' | 'of' | 'summary'>,
  after: string | null,
  take: number,
): Promise<StatementEntry[]> => (summary.through === null ? [] : listStatementEntries(source, of, { after, take, summary }))

/** The lines of an export, oldest first; `before` is the last one that was sent. */
const readLines =
  ({ source, of, period, summary, balances }: Export) =>
  async ({ before, take }: { before: string | null; take: number }): Promise<Line[]> => {
    const entries = await entriesOf({ source, of, summary }, before, take)
    const lines = entries.map((entry): Line => ({ id: entry.id, at: entry.at, entry }))
    if (!balances) return lines
    return [
      ...(before === null ? [openingLine(period, summary.openingMinor)] : []),
      ...lines,
      ...(entries.length < take ? [closingLine(period, summary.closingMinor)] : []),
    ]
  }

export const registerStatements = (app: App, deps: Parts): void => {
  const open = async (principal: Principal, query: ReadStatement, workspaceOnly: boolean) => {
    const { workspace } = principal
    const now = deps.clock.now()
    const period = periodOf(query, now, effectiveTimeZone(workspace.zone, now))
    const of: StatementOf = {
      ownerId: workspaceOnly ? workspace.owningAccountId : principal.accountId,
      workspaceId: workspaceOnly ? workspace.id : null,
      payeesOf: workspaceOnly ? workspace.id : payeesOf(principal),
      start: period.start,
      end: period.end,
    }
    const source = await deps.reads.db()
    const summary = await readStatementSummary(source, of)
    const readAt = deps.clock.now()
    return { source, of, period: { ...period, unfinishedAt: readAt < period.end ? readAt : null }, summary }
  }
  type Opened = Awaited<ReturnType<typeof open>>
  const csv = (
    request: Parameters<typeof sendCsv>[0],
    reply: FastifyReply,
    opened: Opened,
    columns: (timeZone: string, currency: string) => readonly Column<Line>[],
    balances: boolean,
  ) =>
    sendCsv(
      request,
      reply,
      `statement-${opened.period.from}-${opened.period.to}${opened.period.unfinishedAt ? '-unfinished' : ''}`,
      columns(opened.period.timeZone, deps.config.CURRENCY),
      readLines({ ...opened, balances }),
    )

  app.get(
    '/v1/accounts/me/statement',
    {
      config: { operation: 'accounts.statement', permission: 'account.read', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: {
        summary: 'Read a statement of the account',
        description:
          'For accounting: what was booked between two dates in the time zone of the workspace, oldest first, with the balances before and after, and sums by payee and by type. The opening balance of a statement is the closing balance of the one before. With `Accept: text/csv` it is whole, with amounts in major units and local dates.',
        querystring: ReadStatement,
        response: { 200: orCsv(Statement) },
      },
    },
    async (request, reply) => {
      const opened = await open(request.principal, request.query, false)
      if (wantsCsv(request)) return csv(request, reply, opened, accountColumns, true)
      const { of, period, summary } = opened
      const { data, ...more } = await readPage(deps, request, {
        of: of.ownerId,
        // Oldest first: the cursor names the last entry of the page before, as in every list.
        read: ({ before, take }) => entriesOf(opened, before, take),
        idOf: ({ id }) => id,
        present: (rows) => rows.map((row) => presentEntry(row)),
      })
      return reply.send({
        ...presentPeriod(period, deps.config.CURRENCY, summary),
        opening_balance_minor: formatMinor(summary.openingMinor),
        closing_balance_minor: formatMinor(summary.closingMinor),
        entries: data,
        ...more,
      })
    },
  )
  app.get(
    '/v1/workspaces/current/statement',
    {
      config: { operation: 'workspaces.statement', permission: 'payment.read', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: {
        summary: 'Read a statement of the workspace',
        description:
          'The payments of the workspace and what came back of them between two dates, oldest first, with sums by payee. The balances of the account that pays stand in its own statement.',
        querystring: ReadStatement,
        response: { 200: orCsv(WorkspaceStatement) },
      },
    },
    async (request, reply) => {
      const opened = await open(request.principal, request.query, true)
      if (wantsCsv(request)) return csv(request, reply, opened, workspaceColumns, false)
      const { period, summary } = opened
      const { data, ...more } = await readPage(deps, request, {
        of: request.principal.workspace.id,
        read: ({ before, take }) => entriesOf(opened, before, take),
        idOf: ({ id }) => id,
        present: (rows) => rows.map((row) => presentWorkspaceEntry(row)),
      })
      return reply.send({
        ...presentPeriod(period, deps.config.CURRENCY, summary),
        entries: data,
        ...more,
      })
    },
  )
}
