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
import { type Commands, command, idOf, parseFields, readList, UsageError } from './arguments.ts'
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

const administer = async (at: Console, name: string, change: Record<string, unknown>): Promise<unknown> => {
  const { id } = await oneAccount(at, name)
  const input = parseFields(AdministerAccount, change)
  return show(at, [await inTxEndingGrants(at.deps, id, (tx) => administerAccount(tx, at.deps, at.operator, id, input))])
}

const setStatus = (status: string, help: string) =>
  command('<account> [--reason <text>]', help, (at, [name], { reason }) => administer(at, name, { status, reason }))

const setCapability = (value: 'active' | 'disabled', help: string) =>
  command('<account> topups|payments|api_keys|oauth [--reason <text>]', help, (at, [name, capability], { reason }) =>
    administer(at, name, { capabilities: { [capability]: value }, reason }),
  )

const nameAdministrator = (isAdmin: boolean, help: string) =>
  command('<account>', help, async (at, [name]) => {
    const { id } = await oneAccount(at, name)
    await inTx(at.deps.db, (tx) => setAdministrator(tx, at.operator, id, isAdmin))
    return show(at, await findAccounts(at, { id }))
  })

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
  'accounts find': command(
    '<account>',
    'the accounts with this id, e-mail address or wallet (its address, or eip155:<chain>:<address> for a contract)',
    async (at, [name]) => show(at, await findAccounts(at, filterOf(name))),
  ),
  'accounts freeze': setStatus('frozen', 'refuses the payments and changes of an account until it is unfrozen'),
  'accounts unfreeze': setStatus('active', 'ends a freeze'),
  'accounts close': setStatus('closed', 'closes an account without a balance permanently'),
  'accounts enable': setCapability('active', 'lets an account use a feature again'),
  'accounts disable': setCapability('disabled', 'refuses a feature to an account'),
  invite: command('<e-mail-or-wallet>', 'allows a person to sign up if SIGN_UP is invited', (at, [name]) => invite(at, name)),
  grant: nameAdministrator(true, 'gives administrator rights'),
  revoke: nameAdministrator(false, 'removes administrator rights'),
  'persons export': command('<account>', 'all stored data about a person, as JSON', async (at, [name]) =>
    exportPerson(at, (await oneAccount(at, name)).id),
  ),
  'keys find': command('<key>', 'the owner of an API key, found by the key or its first characters', async ({ deps }, [key]) => {
    const start = readKeyStart(key)
    if (!start) throw new UsageError('expected a key, or its beginning with at least six digits after "service_live_"')
    const found = await findKeysThatBegin(deps.db, start)
    const views = await viewKeys(deps.db, deps.clock.now(), found)
    const owners = new Map(found.map(({ key: { id, accountId } }) => [formatId('api_key', id), formatId('account', accountId)]))
    return views.map((view) => ({ account_id: owners.get(view.id), ...view }))
  }),
  'keys revoke': command(
    '<key-id> [--reason <text>]',
    'revokes a leaked key, and everything created with it',
    ({ deps, operator }, [id], { reason }) => revokeAnyKey(deps, operator, idOf('api_key', id), reason),
  ),
} satisfies Commands
