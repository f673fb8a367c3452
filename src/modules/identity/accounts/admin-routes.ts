import type { Db } from '../../../db/client.ts'
import type { App } from '../../../http/app-type.ts'
import { ok } from '../../../http/idempotency.ts'
import { pageOf } from '../../../http/pagination.ts'
import { listsOf, routesOf } from '../../../http/routes.ts'
import { byId } from '../../../http/wire.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Parts } from '../../parts.ts'
import { listIdentities, presentIdentity } from '../identities/queries.ts'
import { AdminAccount, AdminAccountWithIdentities, AdministerAccount, FindAccounts } from '../schema.ts'
import { administerAccount } from './administer.ts'
import { viewAccounts } from './present.ts'
import { type AccountRecord, findAccount, listAccounts } from './queries.ts'

const viewWithIdentities = async (db: Db, deps: Parts, record: AccountRecord | undefined) => {
  const [account] = record ? await viewAccounts(db, deps.config, [record]) : []
  if (!account || !record) throw notFound()
  return { ...account, identities: (await listIdentities(db, { accountId: record.id })).map((row) => presentIdentity(row)) }
}

export const registerAdminAccounts = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  const list = listsOf(app, deps)
  list('/v1/admin/accounts', {
    config: { operation: 'admin.list_accounts', access: 'admin' },
    schema: {
      summary: 'Find accounts',
      description: 'By id, e-mail, wallet or status.',
      querystring: FindAccounts,
      response: { 200: pageOf(AdminAccount) },
    },
    read: (page, { query: { wallet_address: walletAddress, ...filter } }) =>
      listAccounts(deps.db, { ...filter, walletAddress }, page),
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
