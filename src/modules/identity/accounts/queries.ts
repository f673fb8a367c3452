import { eq, getTableColumns, isNull, type SQL, sql } from 'drizzle-orm'
import { type Principal, seesEveryPayment } from '../../../auth/principal.ts'
import { type Db, first, type Tx } from '../../../db/client.ts'
import { newestFirst } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { selectRow, selectRows } from '../../../db/select-rows.ts'
import { accounts, identities } from '../../../db/tables/accounts.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { emailKeyOf } from '../../../db/tables/columns.ts'
import { paymentBatches } from '../../../db/tables/payment-batches.ts'
import { payments } from '../../../db/tables/payments.ts'
import { topups } from '../../../db/tables/topups.ts'
import { balanceAccountSql, members, workspaces } from '../../../db/tables/workspaces.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import { type HistoryFilter, listHistory } from '../../../ledger/history.ts'
import { emailKey, emailKeySql } from '../../../lib/email-key.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { assertPresent } from '../../../lib/lists.ts'
import { type WalletName, walletKeySql, walletKeys } from '../../../lib/wallet-name.ts'

export type AccountRecord = typeof accounts.$inferSelect

/** Reads accounts that hold balances, each with its team. A personal account has no team. */
const holdersAmong = prepare('accounts.holders', { ids: 'uuid[]' }, 'pool', (orm, param) =>
  orm
    .select({ account: getTableColumns(accounts), team: getTableColumns(workspaces) })
    .from(accounts)
    .leftJoin(workspaces, eq(workspaces.id, accounts.holderOfWorkspaceId))
    .where(sql`${accounts.id} = any(${param.ids})`),
)
export const getHolders = (db: Db, ids: readonly Uuid[]) => db.run(holdersAmong, { ids })

const byId = selectRow('accounts.by_id', accounts, ['id'], { connection: 'coalesced' })
const lockById = selectRow('accounts.lock', accounts, ['id'], { lock: 'no key update' })

/** Finds a person's account, but not an account that only holds a team's balance. */
export const findAccount = async (db: Db, id: Uuid): Promise<AccountRecord | undefined> => {
  const account = await byId(db, { id })
  return account?.holderOfWorkspaceId ? undefined : account
}

const missingAccount = 'an account that must exist is missing'

/** `email`: the normalized address. */
export const accountWithEmail = prepare('accounts.with_email', { email: 'text' }, (orm, param) =>
  orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(emailKeyOf(accounts.email), param.email)),
)

const holderOf = prepare('accounts.holder_of', { workspaceId: 'uuid' }, (orm, param) =>
  orm
    .select(getTableColumns(accounts))
    .from(workspaces)
    .innerJoin(accounts, sql`${accounts.id} = ${sql.raw(balanceAccountSql('workspaces'))}`)
    .where(eq(workspaces.id, param.workspaceId)),
)

export const getHolderOf = async (db: Db, workspaceId: Uuid): Promise<AccountRecord> =>
  assertPresent(await first(db, holderOf, { workspaceId }), missingAccount)

/** Reads the account of a person or of a team's balance. */
export const getAccount = async (db: Db, id: Uuid): Promise<AccountRecord> =>
  assertPresent(await byId(db, { id }), missingAccount)

/**
 * Guards an account's identities and e-mail. The lock is NO KEY UPDATE, because an insert of an identity or a session takes KEY
 * SHARE on this row: if two such transactions then wanted FOR UPDATE, they would wait for each other.
 */
export const lockAccountRow = async (tx: Tx, id: Uuid): Promise<AccountRecord> =>
  assertPresent(await lockById(tx, { id }), missingAccount)

/** `wallet`: the wallet with exactly this name. `walletAddress`: any account that linked the address, on any chain. */
export type AccountFilter = {
  id?: Uuid | undefined
  email?: string | undefined
  walletAddress?: string | undefined
  wallet?: WalletName | undefined
  status?: AccountRecord['status'] | undefined
}

const hasIdentity = (condition: SQL | undefined) =>
  sql`${accounts.id} in (select ${identities.accountId} from ${identities} where ${condition})`

/** Two lookups, because a single one with `or` would read every account. */
const byEmail = (key: SQL) =>
  sql`${accounts.id} in (select a.id from accounts a where ${sql.raw(emailKeySql('a.email'))} = ${key}
    union all select v.account_id from identities v where ${sql.raw(emailKeySql('v.email'))} = ${key} and v.email_verified)`

const byWalletName = (keys: SQL) =>
  hasIdentity(sql`${identities.provider} = 'wallet' and ${sql.raw(walletKeySql('identities'))} = any(${keys})`)

const byWalletAddress = (address: SQL) =>
  hasIdentity(sql`${identities.provider} = 'wallet' and right(${identities.subjectKey}, 42) = ${address}`)

const list = prepare(
  'accounts.list',
  { id: 'uuid?', email: 'text?', walletAddress: 'text?', wallet: 'text[]?', status: 'text?', before: 'uuid?', take: 'rows' },
  'pool',
  (orm, param) =>
    newestFirst(
      orm.select().from(accounts),
      { id: accounts.id },
      param,
      isNull(accounts.holderOfWorkspaceId),
      param.id && eq(accounts.id, param.id),
      param.email && byEmail(param.email),
      param.walletAddress && byWalletAddress(param.walletAddress),
      param.wallet && byWalletName(param.wallet),
      param.status && eq(accounts.status, param.status),
    ),
)

export const listAccounts = (db: Db, { id, email, walletAddress, wallet, status }: AccountFilter, page: PageRequest) =>
  db.run(list, {
    id,
    email: email === undefined ? null : emailKey(email),
    walletAddress: walletAddress?.toLowerCase(),
    wallet: wallet && walletKeys(wallet),
    status,
    ...page,
  })

export const listMembershipsOf = selectRows('members.of_account', members, ['accountId'])

const paymentDetails = prepare('accounts.history_beneficiaries', { ids: 'uuid[]' }, 'page', (orm, param) =>
  orm
    .select({
      paymentId: payments.id,
      workspaceId: payments.workspaceId,
      id: beneficiaries.id,
      displayName: beneficiaries.displayName,
      batchId: payments.batchId,
      batchIndex: payments.batchIndex,
      batchName: paymentBatches.name,
      idempotencyKey: sql<string | null>`coalesce(${payments.idempotencyKey}, ${paymentBatches.idempotencyKey})`,
    })
    .from(payments)
    .innerJoin(beneficiaries, eq(beneficiaries.id, payments.beneficiaryId))
    .leftJoin(paymentBatches, eq(paymentBatches.id, payments.batchId))
    .where(sql`${payments.id} = any(${param.ids})`),
)

const topupKeys = prepare('accounts.history_topups', { ids: 'uuid[]' }, 'page', (orm, param) =>
  orm
    .select({ id: topups.id, workspaceId: topups.workspaceId, idempotencyKey: topups.idempotencyKey })
    .from(topups)
    .where(sql`${topups.id} = any(${param.ids})`),
)

/** `holderId`: the account that holds the balance. */
export const readHistory = async (db: Db, principal: Principal, holderId: Uuid, page: PageRequest, filter: HistoryFilter) => {
  const entries = await listHistory(db, holderId, page, filter)
  const idsOf = (type: string) => entries.flatMap((entry) => (entry.referenceType === type ? [entry.referenceId] : []))
  const read = async <Row>(ids: Uuid[], run: (key: { ids: Uuid[] }) => Promise<Row[]>) => (ids.length > 0 ? run({ ids }) : [])
  const [paymentRows, topupRows] = await Promise.all([
    read(idsOf('payment'), (key) => db.run(paymentDetails, key)),
    read(idsOf('topup'), (key) => db.run(topupKeys, key)),
  ])
  const seesAll = seesEveryPayment(principal, holderId)
  const isSeen = ({ workspaceId }: { workspaceId: Uuid }) => seesAll || workspaceId === principal.workspace.id
  const payees = new Map(paymentRows.filter(isSeen).map((row) => [row.paymentId, row]))
  const keys = new Map(
    topupRows.filter(isSeen).map(({ id, idempotencyKey }) => [id, { idempotencyKey, batchId: null, batchIndex: null }]),
  )
  const seesPayees = principal.permissions.has('beneficiary.read')
  return entries.map((entry) => {
    const payee = payees.get(entry.referenceId) ?? null
    return { id: entry.id, entry, requested: payee ?? keys.get(entry.referenceId), payee: seesPayees ? payee : null }
  })
}
export type NamedEntry = Awaited<ReturnType<typeof readHistory>>[number]
