import type { Uuid } from '../lib/ids.ts'
import { fieldsOf } from '../lib/lists.ts'
import { statement, type Tx } from './client.ts'

/** `exclusive`: accounts whose money, limits or status change. `shared`: callers' accounts that move other accounts' money. */
export type AccountLocks = { exclusive: readonly Uuid[]; shared?: readonly Uuid[] }

const lockKeys = statement('locks.accounts')`
  select case when exclusive then pg_advisory_xact_lock(key) else pg_advisory_xact_lock_shared(key) end,
     pg_current_xact_id_if_assigned() is not null as late
   from unnest($1::bigint[], $2::boolean[]) as wanted(key, exclusive)`
const tryLockKeys = statement('locks.try_accounts')`
  select account, case when exclusive then pg_try_advisory_xact_lock(key) else pg_try_advisory_xact_lock_shared(key) end as taken
   from unnest($1::uuid[], $2::bigint[], $3::boolean[]) as wanted(account, key, exclusive)`

const lockSorted = statement('locks.names')`
  select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest($1::text[]) as name`

/** Locks things by name that may have no row yet, or are of no single account. Sorted, so that two callers cannot deadlock. */
export const lockNames = (tx: Tx, ...names: readonly string[]): Promise<unknown> =>
  tx.query(lockSorted, [[...new Set(names)].sort()])

/** The last eight bytes of a UUIDv7 are random. If two accounts share a key, they only wait for each other. */
const keyOf = (account: Uuid): bigint => BigInt.asIntN(64, BigInt(`0x${account.replaceAll('-', '').slice(16)}`))

/** For new accounts, which no other transaction can know yet. */
export const recordLocked = (tx: Tx, accounts: readonly Uuid[]): void => {
  for (const account of accounts) tx.accountLocks.set(account, 'exclusive')
}

type LockRequest = { account: Uuid; key: bigint; exclusive: boolean }

/** Sorted, so that two transactions that lock the same accounts cannot deadlock. */
const notYetLocked = (tx: Tx, { exclusive, shared = [] }: AccountLocks): LockRequest[] => {
  const exclusiveAccounts = new Set(exclusive)
  const accounts = [...new Set([...exclusive, ...shared])]
  return accounts
    .map((account) => ({ account, key: keyOf(account), exclusive: exclusiveAccounts.has(account) }))
    .filter(({ account, exclusive: needed }) => {
      const mode = tx.accountLocks.get(account)
      return mode === undefined || (needed && mode === 'shared')
    })
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

const rememberLock = (tx: Tx, { account, exclusive }: LockRequest): void =>
  void tx.accountLocks.set(account, exclusive ? 'exclusive' : 'shared')

/** Returns whether locks were taken after the first write of the transaction. */
const lock = async (tx: Tx, locks: AccountLocks): Promise<boolean> => {
  const needed = notYetLocked(tx, locks)
  if (needed.length === 0) return false
  for (const one of needed) rememberLock(tx, one)
  const rows = await tx.query<{ late: boolean }>(lockKeys, fieldsOf(needed, 'key', 'exclusive'))
  return rows.some(({ late }) => late)
}

/**
 * Takes the first lock of every writer, before its first write and until the commit. Locking assigns no transaction id, so
 * transaction ids follow the order of an account's changes. Later statements of the same flush see the previous holder's changes.
 */
export const lockAccounts = async (tx: Tx, locks: AccountLocks): Promise<void> => {
  if (await lock(tx, locks)) throw new Error('an account was locked after the first write of its transaction')
}

/** For accounts known only after a write, such as those of another member's grants. Writers of money must not call it. */
export const lockFurtherAccounts = async (tx: Tx, ...exclusive: Uuid[]): Promise<void> => void (await lock(tx, { exclusive }))

export const lockAccount = (tx: Tx, account: Uuid): Promise<void> => lockAccounts(tx, { exclusive: [account] })

/** With `wait`, waits for all locks. Otherwise locks the free accounts and returns those locked by other transactions. */
export const lockGroup = async (tx: Tx, locks: AccountLocks, wait: boolean): Promise<ReadonlySet<Uuid>> => {
  if (wait) {
    await lockAccounts(tx, locks)
    return new Set()
  }
  const needed = notYetLocked(tx, locks)
  const rows = await tx.query<{ account: Uuid; taken: boolean }>(tryLockKeys, fieldsOf(needed, 'account', 'key', 'exclusive'))
  const lockedElsewhere = new Set(rows.filter(({ taken }) => !taken).map(({ account }) => account))
  for (const request of needed) if (!lockedElsewhere.has(request.account)) rememberLock(tx, request)
  return lockedElsewhere
}

export const holdsLock = (tx: Tx, account: Uuid): boolean => tx.accountLocks.get(account) === 'exclusive'

/** For functions that rely on their caller's lock, such as deferred statements that move money and must not wait for a lock. */
export const requireLocked = (tx: Tx, accounts: readonly Uuid[]): void => {
  if (accounts.some((account) => !holdsLock(tx, account))) throw new Error('an account whose lock this needs is not locked')
}
