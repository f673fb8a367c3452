import { readKeyStart } from '../../auth/secrets.ts'
import { inTx } from '../../db/client.ts'
import { insertOnce } from '../../db/prepare-write.ts'
import { operatorInvitations } from '../../db/tables/installation.ts'
import { audit } from '../../events/audit.ts'
import { emailKey } from '../../lib/email-key.ts'
import { formatId, parseId } from '../../lib/ids.ts'
import { checksumProblem, hasWrongChecksum, parseWalletName, walletNameOf } from '../../lib/wallet-name.ts'
import { revokeAnyKey } from '../../modules/delegation/api-key-service.ts'
import { findKeysThatBegin } from '../../modules/delegation/queries.ts'
import { inTxEndingGrants } from '../../modules/delegation/revoke-service.ts'
import { viewKeys } from '../../modules/delegation/view-service.ts'
import { viewAccounts } from '../../modules/identity/accounts/present.ts'
import { type AccountFilter, type AccountRecord, listAccounts } from '../../modules/identity/accounts/queries.ts'
import { administerAccount, setAdministrator } from '../../modules/identity/administer.ts'
import { AdministerAccount } from '../../modules/identity/schema.ts'
import { nameOfOperator } from '../../modules/operators.ts'
import { type Arguments, argumentAt, type Commands, idOf, parseFields, readList, UsageError } from './arguments.ts'
import type { Console } from './console.ts'
import { exportPerson } from './persons.ts'

const filterOf = (name: string): AccountFilter => {
  const id = parseId('account', name)
  if (id) return { id }
  const wallet = parseWalletName(name)
  return wallet ? { wallet } : { email: name }
}

const findAccounts = ({ deps }: Console, filter: AccountFilter): Promise<AccountRecord[]> =>
  readList((page) => listAccounts(deps.db, filter, page))

/** The only account with this id, e-mail address or wallet. */
const oneAccount = async (at: Console, name: string): Promise<AccountRecord> => {
  const [account, another] = await findAccounts(at, filterOf(name))
  if (!account) throw new UsageError(`No account is called "${name}".`)
  if (another) throw new UsageError(`"${name}" matches more than one account: use the account id`)
  return account
}

const show = (at: Console, records: readonly AccountRecord[]) => viewAccounts(at.deps.db, at.deps.config, records)

const administer = async (at: Console, args: Arguments, change: Record<string, unknown>): Promise<unknown> => {
  const { id } = await oneAccount(at, argumentAt(args, 0, 'account'))
  const input = parseFields(AdministerAccount, { ...change, reason: args.options.reason })
  return show(at, [await inTxEndingGrants(at.deps, id, (tx) => administerAccount(tx, at.deps, at.operator, id, input))])
}

const setCapability = (at: Console, args: Arguments, value: 'active' | 'disabled') =>
  administer(at, args, { capabilities: { [argumentAt(args, 1, 'capability')]: value } })

const nameAdministrator = async (at: Console, args: Arguments, isAdmin: boolean): Promise<unknown> => {
  const { id } = await oneAccount(at, argumentAt(args, 0, 'account'))
  await inTx(at.deps.db, (tx) => setAdministrator(tx, at.operator, id, isAdmin))
  return show(at, await findAccounts(at, { id }))
}

/** Invites an e-mail address or a wallet to open an account, if SIGN_UP is `invited`. Repeating an invitation has no effect. */
const invite = async ({ deps, operator }: Console, name: string): Promise<unknown> => {
  const wallet = parseWalletName(name)
  if (hasWrongChecksum(name)) throw new UsageError(`"${name}" ${checksumProblem}`)
  if (!wallet && !/^[^\s@]+@[^\s@]+$/.test(name))
    throw new UsageError(`"${name}" must be an e-mail address, a wallet address or eip155:<chain>:<address>`)
  const subjectKey = wallet ? walletNameOf(wallet.address, wallet.chainId) : emailKey(name)
  await inTx(deps.db, async (tx) => {
    const isNew = await insertOnce(tx, operatorInvitations, { subjectKey, invitedBy: nameOfOperator(operator), createdAt: tx.at })
    if (isNew) audit(tx, operator, 'admin.invite', { after: { invited: subjectKey } })
  })
  return { invited: subjectKey, sign_up: deps.config.signUp }
}

export const accountCommands = {
  'keys find': async ({ deps }, args) => {
    const start = readKeyStart(argumentAt(args, 0, 'key'))
    if (!start) throw new UsageError('expected a key, or its beginning with at least six digits after "service_live_"')
    const found = await findKeysThatBegin(deps.db, start)
    const views = await viewKeys(deps.db, deps.clock.now(), found)
    const owners = new Map(found.map(({ key }) => [formatId('api_key', key.id), formatId('account', key.accountId)]))
    return views.map((view) => ({ account_id: owners.get(view.id), ...view }))
  },
  'keys revoke': ({ deps, operator }, args) =>
    revokeAnyKey(deps, operator, idOf('api_key', argumentAt(args, 0, 'key id')), args.options.reason),
  'accounts find': async (at, args) => show(at, await findAccounts(at, filterOf(argumentAt(args, 0, 'account')))),
  'accounts freeze': (at, args) => administer(at, args, { status: 'frozen' }),
  'accounts unfreeze': (at, args) => administer(at, args, { status: 'active' }),
  'accounts close': (at, args) => administer(at, args, { status: 'closed' }),
  'accounts enable': (at, args) => setCapability(at, args, 'active'),
  'accounts disable': (at, args) => setCapability(at, args, 'disabled'),
  'persons export': async (at, args) => exportPerson(at, (await oneAccount(at, argumentAt(args, 0, 'account'))).id),
  invite: (at, args) => invite(at, argumentAt(args, 0, 'e-mail or wallet')),
  grant: (at, args) => nameAdministrator(at, args, true),
  revoke: (at, args) => nameAdministrator(at, args, false),
} satisfies Commands
