import { type Principal, seesEveryPayment, seesWholeBalance } from '../../auth/principal.ts'
import type { Db } from '../../db/client.ts'
import {
  bookedAt,
  listStatementEntries,
  readStatementSummary,
  type StatementEntry,
  type StatementScope,
  type StatementSummary,
} from '../../ledger/statement.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Parts } from '../parts.ts'
import { readOwnZones, readZones } from '../workspaces/queries.ts'
import { type Line, periodOf, type ReadPeriod } from './present.ts'
import type { ReadStatement } from './schema.ts'

export type OpenStatement = { source: Db; scope: StatementScope; period: ReadPeriod; summary: StatementSummary }

/** The workspace's entries of the same period on an account that holds its balance, or held it before a separation. */
export const openedOn = async (opened: OpenStatement, ownerId: Uuid, workspaceId: Uuid): Promise<OpenStatement> => {
  if (opened.scope.ownerId === ownerId) return opened
  const scope = { ...opened.scope, ownerId, workspaceId }
  return { ...opened, scope, summary: await readStatementSummary(opened.source, scope) }
}

export const entriesOf = async (
  { source, scope, summary }: OpenStatement,
  after: string | null,
  take: number,
): Promise<StatementEntry[]> => (summary.through === null ? [] : listStatementEntries(source, scope, { after, take, summary }))

/** The lines of a statement. A whole balance has opening and closing lines. `before`: the last line that was sent. */
export const statementLines =
  (opened: OpenStatement) =>
  async ({ before, take }: { before: string | null; take: number }): Promise<Line[]> => {
    // The closing balance is the last line, even if it filled the previous page.
    if (before === 'closing') return []
    const { start, end, unfinishedAt } = opened.period
    const { openingMinor, closingMinor } = opened.summary
    const entries = await entriesOf(opened, before, take)
    const lines = entries.map((entry): Line => ({ id: entry.id, at: entry.at, entry }))
    if (opened.scope.workspaceId !== null) return lines
    if (before === null) lines.unshift({ id: 'opening', at: start, balance: 'opening_balance', minor: openingMinor })
    // The last moment of the period, or the time of the request.
    const at = unfinishedAt ?? new Date(end.getTime() - 1)
    const balance = unfinishedAt ? 'balance_so_far' : 'closing_balance'
    if (entries.length < take) lines.push({ id: 'closing', at, balance, minor: closingMinor })
    return lines
  }

/**
 * Opens the statement of the person's own balance or of the workspace. `after`: the last entry of the previous page. A statement
 * of the current month continues in the month of that entry, even if the month has ended since.
 */
export const openStatement = async (
  { clock, db, reads }: Pick<Parts, 'clock' | 'db' | 'reads'>,
  principal: Principal,
  query: Pick<ReadStatement, 'from' | 'to'>,
  { isOfWorkspace, after }: { isOfWorkspace: boolean; after: Uuid | null },
): Promise<OpenStatement> => {
  const { workspace } = principal
  const isOfCurrentMonth = query.from === undefined && query.to === undefined
  const [zones, at] = await Promise.all([
    isOfWorkspace ? readZones(db, workspace) : readOwnZones(db, principal),
    isOfCurrentMonth && after !== null ? bookedAt(db, after) : clock.now(),
  ])
  const period = periodOf(query, at, zones)
  const ownerId = isOfWorkspace ? workspace.balanceAccountId : principal.accountId
  const detailsOf = seesEveryPayment(principal, ownerId) ? 'all' : workspace.id
  const ownPayees = principal.permissions.has('beneficiary.read') ? detailsOf : 'none'
  const scope: StatementScope = {
    ownerId,
    workspaceId: isOfWorkspace && !seesWholeBalance(principal) ? workspace.id : null,
    detailsOf,
    payeesOf: isOfWorkspace ? workspace.id : ownPayees,
    start: period.start,
    end: period.end,
  }
  const source = await reads.db()
  const summary = await readStatementSummary(source, scope)
  const readAt = clock.now()
  return { source, scope, period: { ...period, unfinishedAt: readAt < period.end ? readAt : null }, summary }
}
