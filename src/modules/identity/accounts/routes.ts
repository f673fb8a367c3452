import type { Db } from '../../../db/client.ts'
import type { App } from '../../../http/app-type.ts'
import { orCsv, sendCsv, wantsCsv } from '../../../http/csv.ts'
import { ok } from '../../../http/idempotency.ts'
import { filtersOf, pageOf, readPage } from '../../../http/pagination.ts'
import { routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { effectiveTimeZone } from '../../../policy/calendar.ts'
import type { Parts } from '../../parts.ts'
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
} from '../schema.ts'
import { historyColumns, presentHistoryEntry, viewAccounts } from './present.ts'
import { type AccountRecord, findAccount, listAccounts, readHistory } from './queries.ts'
import { readAccount, summarizeHistory, updateAccount } from './service.ts'

const withIdentities = async (db: Db, accountId: Uuid) => {
  const [account, identities] = await Promise.all([readAccount(db, accountId), listIdentities(db, { accountId })])
  return { ...account, identities: identities.map((row) => presentIdentity(row)) }
}

export const registerAccounts = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.get('/v1/accounts/me', {
    config: { operation: 'accounts.get', permission: 'account.read', whileNotAdmitted: true },
    schema: {
      summary: 'Read your account',
      description:
        'The balance, the capabilities and the sign-in methods of the account behind the credential. `available_minor` is what can be spent now; `held_minor` is reserved by payments under way.',
      response: { 200: AccountWithIdentities },
    },
    read: ({ principal }) => withIdentities(deps.db, principal.accountId),
  })
  routes.patch('/v1/accounts/me', {
    config: { operation: 'accounts.update', permission: 'account.manage' },
    schema: {
      summary: 'Rename your account',
      description:
        'Changes the name that other members see. The e-mail is not set here: it is always a verified e-mail of a linked identity.',
      body: UpdateAccount,
      response: { 200: AccountWithIdentities },
    },
    work: async (tx, { principal, body }) => {
      await updateAccount(tx, principal, body)
      return ok(await withIdentities(tx, principal.accountId))
    },
  })
  routes.get('/v1/accounts/me/history/summary', {
    config: { operation: 'accounts.history_summary', permission: 'account.read' },
    schema: {
      summary: 'Add up the history by day',
      description:
        'Money in and out for each day of the current workspace, oldest first: for a chart, without reading every entry.',
      querystring: SummarizeHistory,
      response: { 200: HistorySummary },
    },
    read: ({ principal, query }) => summarizeHistory(deps, principal, query.days),
  })
  app.get(
    '/v1/accounts/me/history',
    {
      config: { operation: 'accounts.history', permission: 'account.read', refuses: ['invalid_cursor'] },
      schema: {
        summary: 'List the history of the balance',
        description:
          'Every movement of the balance, from the ledger, newest first. The entries of a period add up to the change of the balance in that period. With `Accept: text/csv` everything that the filters match is streamed as CSV, for accounting.',
        querystring: ListHistory,
        response: { 200: orCsv(pageOf(HistoryEntry)) },
      },
    },
    async (request, reply) => {
      const { principal } = request
      const { type: types, ...period } = filtersOf(request.query)
      const filter = { types, ...period }
      const source = await deps.reads.db()
      if (wantsCsv(request))
        return sendCsv(
          request,
          reply,
          'history',
          historyColumns(effectiveTimeZone(principal.workspace, deps.clock.now()), deps.config.CURRENCY),
          async (page) =>
            (await readHistory(source, principal, page, filter)).map((row) => ({ id: row.id, shown: presentHistoryEntry(row) })),
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
  routes.delete('/v1/accounts/me', {
    config: { operation: 'accounts.close', freshProof: 'always', access: 'undelegated', refuses: ['conflict'] },
    schema: {
      summary: 'Close your account',
      description:
        'Closes the account for good. Only a person can, and only while nothing is held and the balance is 0: pay the rest out first. Every key, agent, session and sign-in method ends, its workspaces close to all members, and what waits for an approval or a date is cancelled. The e-mail, the names and the addresses of sessions are removed, and the destinations of its payees can no longer be read by anyone. What was signed, receipts and the ledger are kept for as long as the law asks. A later sign-in begins a new account.',
      response: { 200: AccountWithIdentities },
    },
    work: async (tx, { principal }) => {
      await closeOwnAccount(tx, deps, principal)
      return ok({ ...(await readAccount(tx, principal.accountId)), identities: [] })
    },
    concerned: ({ principal }) => deps.ownersRelyingOn(deps.db, principal.accountId),
  })
}

const viewWithIdentities = async (db: Db, deps: Parts, record: AccountRecord | undefined) => {
  const [account] = record ? await viewAccounts(db, deps.config, [record]) : []
  if (!account || !record) throw notFound()
  return { ...account, identities: (await listIdentities(db, { accountId: record.id })).map((row) => presentIdentity(row)) }
}

export const registerAdminAccounts = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.list('/v1/admin/accounts', {
    config: { operation: 'admin.list_accounts', access: 'admin' },
    schema: {
      summary: 'Find accounts',
      description: 'By id, e-mail, wallet or status.',
      querystring: FindAccounts,
      response: { 200: pageOf(AdminAccount) },
    },
    read: (page, { query }) => listAccounts(deps.db, filtersOf(query), page),
    present: (rows) => viewAccounts(deps.db, deps.config, rows),
  })
  routes.get('/v1/admin/accounts/:id', {
    config: { operation: 'admin.get_account', access: 'admin' },
    schema: {
      summary: 'Read an account',
      description: 'With its identities and balance.',
      params: byId('account'),
      response: { 200: AdminAccountWithIdentities },
    },
    read: async ({ params }) => viewWithIdentities(deps.db, deps, await findAccount(deps.db, params.id)),
  })
  routes.patch('/v1/admin/accounts/:id', {
    config: { operation: 'admin.update_account', access: 'admin', refuses: ['separation_of_duties', 'conflict'] },
    schema: {
      summary: 'Freeze an account or switch a capability',
      description:
        'Freezes an account, closes one without a balance, or disables top-ups, payments, keys or OAuth for it. The reason is for the audit log.\n\nFreezes, closes or reactivates an account, and switches its capabilities. Closing ends its sessions, keys and grants.',
      params: byId('account'),
      body: AdministerAccount,
      response: { 200: AdminAccountWithIdentities },
    },
    work: async (tx, { principal, params, body }) =>
      ok(await viewWithIdentities(tx, deps, await administerAccount(tx, deps, principal, params.id, body))),
    concerned: async ({ params }) => [params.id, ...(await deps.ownersRelyingOn(deps.db, params.id))],
  })
}
