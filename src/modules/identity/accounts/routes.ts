import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { seesWholeBalance } from '../../../auth/principal.ts'
import type { Db } from '../../../db/client.ts'
import type { App } from '../../../http/app-type.ts'
import { orCsv, sendCsv, wantsCsv } from '../../../http/csv.ts'
import { ok } from '../../../http/idempotency.ts'
import { filtersOf, type PageRequest, pageOf, readPage } from '../../../http/pagination.ts'
import { routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import type { HistoryFilter } from '../../../ledger/history.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Parts } from '../../parts.ts'
import { readOwnZones, readZones } from '../../workspaces/queries.ts'
import { administerAccount, closeOwnAccount } from '../administer.ts'
import { listIdentities, presentIdentity } from '../identities/queries.ts'
import {
  AccountWithIdentities,
  AdminAccount,
  AdminAccountWithIdentities,
  AdministerAccount,
  FindAccounts,
  HistoryEntry,
  HistorySummary,
  ListHistory,
  SummarizeHistory,
  UpdateAccount,
  WorkspaceHistoryEntry,
} from '../schema.ts'
import { historyColumns, presentHistoryEntry, viewAccounts } from './present.ts'
import { type AccountRecord, findAccount, listAccounts, type NamedEntry, readHistory } from './queries.ts'
import { readAccount, summarizeHistory, updateAccount } from './service.ts'

const withIdentities = async (db: Db, accountId: Uuid) => {
  const [account, identities] = await Promise.all([readAccount(db, accountId), listIdentities(db, { accountId })])
  return { ...account, identities: identities.map((row) => presentIdentity(row)) }
}

type HistoryRequest = Parameters<typeof readPage>[1] & FastifyRequest & { query: z.output<typeof ListHistory> }
type HistoryOf<Item> = { holderId: Uuid; scope: HistoryFilter; present: (row: NamedEntry) => Item }

export const registerAccounts = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const sendHistory = async <Item extends z.output<typeof WorkspaceHistoryEntry>>(
    request: HistoryRequest,
    reply: FastifyReply,
    { holderId, present, scope }: HistoryOf<Item>,
  ) => {
    const { principal } = request
    const { type: types, ...period } = filtersOf(request.query)
    const filter = { types, ...period, ...scope }
    const source = await deps.reads.db()
    const read = (page: PageRequest) => readHistory(source, principal, holderId, page, filter)
    if (!wantsCsv(request)) {
      const owner = holderId === principal.accountId ? holderId : principal.workspace.id
      const rows = { owner, read, idOf: (row: NamedEntry) => row.id, present: (all: readonly NamedEntry[]) => all.map(present) }
      return reply.send(await readPage(deps, request, rows))
    }
    const isOwn = request.routeOptions.config.permission === 'account.read'
    const zones = await (isOwn ? readOwnZones(deps.db, principal) : readZones(deps.db, principal.workspace))
    const columns = historyColumns(zones, deps.config.CURRENCY)
    return sendCsv(request, reply, 'history', columns, async (page) =>
      (await read(page)).map((row) => ({ id: row.id, shown: present(row) })),
    )
  }
  routes.get('/v1/accounts/me', 'accounts.get', {
    permission: 'account.read',
    whileNotAdmitted: true,
    summary: 'Retrieve your account',
    description:
      'Returns the account of the credential with its capabilities, its sign-in methods and the balance of its personal workspace. `available_minor` can be spent now; `held_minor` is reserved for payments in progress.',
    response: { 200: AccountWithIdentities },
    read: ({ principal }) => withIdentities(deps.db, principal.accountId),
  })
  routes.get('/v1/workspaces/current/history/summary', 'workspaces.history_summary', {
    permission: 'payment.read',
    summary: 'Summarize the workspace history by day',
    description:
      'Returns money in and out of the balance that the workspace uses by day, oldest first. If that balance is shared with the owning account, only the payments of the workspace are counted.',
    querystring: SummarizeHistory,
    response: { 200: HistorySummary },
    read: ({ principal, query }) => {
      const { id, balanceAccountId: holderId } = principal.workspace
      const workspaceId = seesWholeBalance(principal) ? null : id
      return summarizeHistory(deps, { holderId, workspaceId }, principal.workspace, query.days)
    },
  })
  routes.patch('/v1/accounts/me', 'accounts.update', {
    permission: 'account.manage',
    refuses: ['forbidden'],
    summary: 'Rename your account',
    description:
      'Changes the name that other members see. The email cannot be changed here: it is always a verified email of a linked identity.',
    body: UpdateAccount,
    response: { 200: AccountWithIdentities },
    work: async (tx, { principal, body }) => {
      await updateAccount(tx, deps.config, principal, body)
      return ok(await withIdentities(tx, principal.accountId))
    },
  })
  routes.get('/v1/accounts/me/history/summary', 'accounts.history_summary', {
    permission: 'account.read',
    summary: 'Summarize the history of your own balance by day',
    description:
      'Returns money in and out of your own balance by day in the time zone of the current workspace, oldest first. Useful for charts.',
    querystring: SummarizeHistory,
    response: { 200: HistorySummary },
    read: ({ principal, query }) =>
      summarizeHistory(deps, { holderId: principal.accountId, workspaceId: null }, principal.workspace, query.days),
  })
  routes.handle('GET', '/v1/accounts/me/history', 'accounts.history', {
    permission: 'account.read',
    refuses: ['invalid_cursor'],
    summary: 'List the history of your own balance',
    description:
      'Returns every ledger entry of the balance of the personal workspace, newest first. The entries of a period add up to the change of the balance in that period. With `Accept: text/csv`, all matching entries are streamed as CSV, for accounting.',
    querystring: ListHistory,
    response: { 200: orCsv(pageOf(HistoryEntry)) },
    handler: async (request, reply) =>
      sendHistory(request, reply, { holderId: request.principal.accountId, present: presentHistoryEntry, scope: {} }),
  })
  routes.handle('GET', '/v1/workspaces/current/history', 'workspaces.history', {
    permission: 'payment.read',
    refuses: ['invalid_cursor'],
    summary: 'List the history of the workspace’s balance',
    description:
      'Returns every ledger entry of the balance that the workspace uses, newest first. If that balance is shared with the owning account, only the entries of the workspace’s payments are returned, without balances.',
    querystring: ListHistory,
    response: { 200: orCsv(pageOf(WorkspaceHistoryEntry)) },
    handler: async (request, reply) => {
      const { workspace } = request.principal
      const isWhole = seesWholeBalance(request.principal)
      return sendHistory(request, reply, {
        holderId: workspace.balanceAccountId,
        scope: isWhole ? {} : { workspaceId: workspace.id },
        present: (row: NamedEntry) => ({ ...presentHistoryEntry(row), ...(!isWhole && { available_after_minor: null }) }),
      })
    },
  })
  routes.delete('/v1/accounts/me', 'accounts.close', {
    freshProof: 'always',
    access: 'undelegated',
    refuses: ['conflict', 'last_owner'],
    summary: 'Close your account',
    description:
      'Closes the account permanently. Only a person can do this, and only if the balance is 0 and nothing is held: pay out the rest first. The last active owner of a team cannot close the account (409 `last_owner`). All keys, agents, sessions and sign-in methods end. The personal workspace and all workspaces that share its balance close for all members, and pending or scheduled payments are cancelled. The email, the names and the IP addresses of sessions are removed. The destinations of its beneficiaries can no longer be read by anyone. Signed texts, receipts and the ledger are kept for as long as the law requires. A later sign-in creates a new account.',
    response: { 200: AccountWithIdentities },
    work: async (tx, { principal }) => {
      await closeOwnAccount(tx, deps, principal)
      return ok({ ...(await readAccount(tx, principal.accountId)), identities: [] })
    },
    otherAccounts: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
}

const viewWithIdentities = async (db: Db, deps: Parts, record: AccountRecord | undefined) => {
  const [account] = record ? await viewAccounts(db, deps.config, [record]) : []
  if (!account || !record) throw notFound()
  return { ...account, identities: (await listIdentities(db, { accountId: record.id })).map((row) => presentIdentity(row)) }
}

export const registerAdminAccounts = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps, { access: 'admin' })
  routes.list('/v1/admin/accounts', 'admin.list_accounts', {
    summary: 'Find accounts',
    description: 'Finds accounts by ID, email, wallet or status.',
    querystring: FindAccounts,
    response: { 200: pageOf(AdminAccount) },
    read: (page, { query }) => listAccounts(deps.db, filtersOf(query), page),
    present: (rows) => viewAccounts(deps.db, deps.config, rows),
  })
  routes.get('/v1/admin/accounts/:id', 'admin.get_account', {
    summary: 'Retrieve an account',
    description: 'Returns the account with its identities and balance.',
    params: byId('account'),
    response: { 200: AdminAccountWithIdentities },
    read: async ({ params }) => viewWithIdentities(deps.db, deps, await findAccount(deps.db, params.id)),
  })
  routes.patch('/v1/admin/accounts/:id', 'admin.update_account', {
    refuses: ['separation_of_duties', 'conflict', 'last_owner'],
    summary: 'Freeze an account or change its capabilities',
    description:
      'Freezes or reactivates an account, closes an account without a balance, or disables top-ups, payments, keys or OAuth for it. Closing ends its sessions, keys and grants. The reason is recorded in the audit log.',
    params: byId('account'),
    body: AdministerAccount,
    response: { 200: AdminAccountWithIdentities },
    work: async (tx, { principal, params, body }) =>
      ok(await viewWithIdentities(tx, deps, await administerAccount(tx, deps, principal, params.id, body))),
    otherAccounts: async ({ params }) => [params.id, ...(await deps.ownersRelyingOn(deps.db, params.id))],
  })
}
