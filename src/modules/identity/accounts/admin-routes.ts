import type { Db } from '../../../db/client.ts'
import type { App } from '../../../http/app-type.ts'
import { ok, respondOnce } from '../../../http/idempotency.ts'
import { pageOf, readPage } from '../../../http/pagination.ts'
import { byId } from '../../../http/wire.ts'
import { notFound } from '../../../lib/errors.ts'
import type { Deps } from '../deps.ts'
import { presentIdentity } from '../identities/present.ts'
import { listIdentities } from '../identities/queries.ts'
import { AdminAccountWithIdentities } from '../identities/schema.ts'
import { viewAccounts } from './admin-present.ts'
import { listAccounts } from './admin-queries.ts'
import { AdminAccount, AdministerAccount, FindAccounts } from './admin-schema.ts'
import { administerAccount } from './administer.ts'
import { type AccountRecord, findAccount } from './queries.ts'

const viewWithIdentities = async (db: Db, deps: Deps, record: AccountRecord | undefined) => {
  const [account] = record ? await viewAccounts(db, deps, [record]) : []
  if (!account || !record) throw notFound()
  return { ...account, identities: (await listIdentities(db, record.id)).map(presentIdentity) }
}

export const registerAdminAccounts = (app: App, deps: Deps): void => {
  app.get(
    '/v1/admin/accounts',
    {
      config: { operation: 'admin.list_accounts', access: 'admin', refuses: ['invalid_request', 'invalid_cursor'] },
      schema: {
        querystring: FindAccounts,
        response: { 200: pageOf(AdminAccount) },
      },
    },
    async (request, reply) => {
      const { id, email, wallet_address: walletAddress, status } = request.query
      const filter = {
        ...(id !== undefined && { id }),
        ...(email !== undefined && { email }),
        ...(walletAddress !== undefined && { walletAddress }),
        ...(status !== undefined && { status }),
      }
      return reply.send(
        await readPage(deps, request, {
          of: null,
          read: (page) => listAccounts(deps.db, filter, page),
          idOf: (row) => row.id,
          present: (rows) => viewAccounts(deps.db, deps, rows),
        }),
      )
    },
  )
  app.get(
    '/v1/admin/accounts/:id',
    {
      config: { operation: 'admin.get_account', access: 'admin', refuses: ['not_found'] },
      schema: { params: byId('account'), response: { 200: AdminAccountWithIdentities } },
    },
    async (request, reply) => reply.send(await viewWithIdentities(deps.db, deps, await findAccount(deps.db, request.params.id))),
  )
  app.patch(
    '/v1/admin/accounts/:id',
    {
      config: { operation: 'admin.update_account', access: 'admin', refuses: ['invalid_request', 'not_found', 'conflict'] },
      schema: {
        description:
          'Freezes, closes or reactivates an account, and switches its capabilities. Closing ends its sessions, keys and grants.',
        params: byId('account'),
        body: AdministerAccount,
        response: { 200: AdminAccountWithIdentities },
      },
    },
    async (request, reply) =>
      respondOnce(
        deps,
        request,
        reply,
        async (tx) =>
          ok(
            await viewWithIdentities(
              tx,
              deps,
              await administerAccount(tx, deps, request.principal, request.params.id, request.body),
            ),
          ),
        async () => [request.params.id, ...(await deps.ownersRelyingOn(deps.db, request.params.id))],
      ),
  )
}
