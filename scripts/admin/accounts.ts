import { inTx } from '../../src/db/client.ts'
import { parseId } from '../../src/lib/ids.ts'
import { showAccounts } from '../../src/modules/identity/accounts/admin-present.ts'
import { type AccountFilter, listAccounts } from '../../src/modules/identity/accounts/admin-queries.ts'
import { AdministerAccount } from '../../src/modules/identity/accounts/admin-schema.ts'
import { administerAccount, setAdministrator } from '../../src/modules/identity/accounts/administer.ts'
import type { AccountRecord } from '../../src/modules/identity/accounts/queries.ts'
import { presentWorkspace } from '../../src/modules/workspaces/present.ts'
import { reinstateWorkspace, suspendWorkspace } from '../../src/modules/workspaces/suspend.ts'
import { type Arguments, fieldsOf, idOf, Misused, word } from './arguments.ts'
import type { Console } from './console.ts'

const filterOf = (name: string): AccountFilter => {
  const id = parseId('account', name)
  if (id) return { id }
  return name.startsWith('0x') ? { walletAddress: name } : { email: name }
}

const findAccounts = ({ deps }: Console, name: string): Promise<AccountRecord[]> =>
  listAccounts(deps.db, filterOf(name), { before: null, take: 100 })

/** The one account that an id, an e-mail or a wallet names. */
const oneAccount = async (at: Console, name: string): Promise<AccountRecord> => {
  const [found, another] = await findAccounts(at, name)
  if (!found) throw new Misused(`there is no account "${name}"`)
  if (another) throw new Misused(`"${name}" names more than one account: give its id`)
  return found
}

const show = (at: Console, records: readonly AccountRecord[]) => showAccounts(at.deps.db, at.deps, records)

const administer = async (at: Console, given: Arguments, change: Record<string, unknown>): Promise<unknown> => {
  const { id } = await oneAccount(at, word(given, 0, 'account'))
  const input = fieldsOf(AdministerAccount, { ...change, reason: given.options.reason })
  return show(at, [await inTx(at.deps.db, (tx) => administerAccount(tx, at.deps, at.operator, id, input))])
}

const setCapability = (at: Console, given: Arguments, value: 'active' | 'disabled') =>
  administer(at, given, { capabilities: { [word(given, 1, 'capability')]: value } })

const nameAdministrator = async (at: Console, given: Arguments, isAdmin: boolean): Promise<unknown> => {
  const { id } = await oneAccount(at, word(given, 0, 'account'))
  await inTx(at.deps.db, (tx) => setAdministrator(tx, at.deps, at.operator, id, isAdmin))
  return show(at, await listAccounts(at.deps.db, { id }, { before: null, take: 1 }))
}

const workspace = async (at: Console, given: Arguments, act: typeof suspendWorkspace): Promise<unknown> => {
  const id = idOf('workspace', word(given, 0, 'workspace'))
  const changed = await inTx(at.deps.db, (tx) => act(tx, at.deps, at.operator, id, given.options.reason))
  return presentWorkspace(changed, at.deps.config.CURRENCY)
}

export const accountCommands = {
  'accounts find': async (at: Console, given: Arguments) => show(at, await findAccounts(at, word(given, 0, 'account'))),
  'accounts freeze': (at: Console, given: Arguments) => administer(at, given, { status: 'frozen' }),
  'accounts unfreeze': (at: Console, given: Arguments) => administer(at, given, { status: 'active' }),
  'accounts close': (at: Console, given: Arguments) => administer(at, given, { status: 'closed' }),
  'accounts enable': (at: Console, given: Arguments) => setCapability(at, given, 'active'),
  'accounts disable': (at: Console, given: Arguments) => setCapability(at, given, 'disabled'),
  grant: (at: Console, given: Arguments) => nameAdministrator(at, given, true),
  revoke: (at: Console, given: Arguments) => nameAdministrator(at, given, false),
  'workspaces suspend': (at: Console, given: Arguments) => workspace(at, given, suspendWorkspace),
  'workspaces reinstate': (at: Console, given: Arguments) => workspace(at, given, reinstateWorkspace),
}
