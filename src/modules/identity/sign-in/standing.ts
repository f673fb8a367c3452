import { and, eq, sql } from 'drizzle-orm'
import { lockAccounts, noteLocked, tryAccountLock } from '../../../db/account-lock.ts'
import { first, statement, type Tx } from '../../../db/client.ts'
import { emailKeyOf, emailKeySql } from '../../../db/email-key.ts'
import { textList } from '../../../db/lists.ts'
import { prepare } from '../../../db/prepare.ts'
import { accounts, identities } from '../../../db/tables/accounts.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { findHomeWorkspaceId, homeWorkspace } from '../../workspaces/queries.ts'
import { identityName, lockAccount, lockIdentities, tryNameLock, verifiedEmail } from '../identities/lock.ts'
import type { IdentityProof } from '../identities/proof.ts'
import { findIdentity, type IdentityRecord } from '../identities/queries.ts'

/** The account that a proof opens, as it stands behind its lock. */
export type Standing = {
  accountId: Uuid
  status: string
  /** In which a session begins: the one that was used last. */
  workspaceId: Uuid
  /** The attached identity. Null: the account has an attached identity with the same verified e-mail. */
  identity: Pick<IdentityRecord, 'id' | 'email' | 'emailVerified'> | null
  /** The grant that links a new identity, when every identity that verifies its e-mail on this account was linked by a grant. */
  linkedByGrantId: Uuid | null
  /** In the same way, the session in which such an identity was linked. */
  originSessionId: Uuid | null
  /** The account's e-mail is what `recomputeAccountEmail` would leave. */
  isSettled: boolean
}

const presented = 'unnest($1::text[], $2::text[], $3::text[]) as p(provider, issuer, subject_key)'
const isPresented = 'i.provider = p.provider and i.issuer = p.issuer and i.subject_key = p.subject_key'
const listsOf = (proofs: readonly IdentityProof[]): string[] => [
  textList(proofs.map(({ provider }) => provider)),
  textList(proofs.map(({ issuer }) => issuer)),
  textList(proofs.map(({ subjectKey }) => subjectKey)),
]

/**
 * Waits for nobody. The account's lock guards its status and the order of its events, and is taken before the transaction's first write; the
 * name's keeps the identity from being made, linked, detached or moved. In the select list: a condition could be evaluated for rows that are
 * not the result's, and lock their accounts.
 */
const lockFree = statement(
  'sign_in.lock_free',
  `select p.provider, p.issuer, p.subject_key as "subjectKey", i.account_id as "accountId",
     case when ${tryNameLock(`'identity:' || p.provider || ':' || p.issuer || ':' || p.subject_key`)}
       then i.account_id is null or ${tryAccountLock('i.account_id')} else false end as taken
   from ${presented} left join identities i on ${isPresented}`,
)

/** Takes the locks of the identities, and of their accounts, that are free. Returns the names of these identities. */
const lockThoseFree = async (tx: Tx, proofs: readonly IdentityProof[]): Promise<ReadonlySet<string>> => {
  type Tried = Pick<IdentityProof, 'provider' | 'issuer' | 'subjectKey'> & { accountId: Uuid | null; taken: boolean }
  const taken = (await tx.query<Tried>(lockFree, listsOf(proofs))).filter((row) => row.taken)
  noteLocked(
    tx,
    taken.flatMap(({ accountId }) => accountId ?? []),
  )
  return new Set(taken.map(identityName))
}

const readAttached = statement(
  'sign_in.read_attached',
  `select i.id, i.provider, i.issuer, i.subject_key as "subjectKey", i.email, i.email_verified as "emailVerified", i.account_id as "accountId",
     a.status, ${homeWorkspace('a.id')} as "workspaceId",
     case when a.email is null then not exists (select from identities v where v.account_id = a.id and v.email_verified and v.email is not null)
       else exists (select from identities v where v.account_id = a.id and v.email_verified and ${emailKeySql('v.email')} = ${emailKeySql('a.email')})
     end as "isSettled"
   from ${presented} join identities i on ${isPresented} join accounts a on a.id = i.account_id`,
)
type Attached = Pick<IdentityRecord, 'id' | 'provider' | 'issuer' | 'subjectKey' | 'email' | 'emailVerified'> &
  Pick<Standing, 'accountId' | 'status' | 'isSettled'> & { workspaceId: Uuid | null }

const standingOf = ({ id, email, emailVerified, workspaceId, ...row }: Attached): Standing => {
  if (workspaceId === null) throw new Error('an account has no personal workspace')
  const { accountId, status, isSettled } = row
  return {
    accountId,
    status,
    workspaceId,
    isSettled,
    linkedByGrantId: null,
    originSessionId: null,
    identity: { id, email, emailVerified },
  }
}

/** By the names of the identities. */
export type Standings = Map<string, Standing>

const readStandings = async (tx: Tx, proofs: readonly IdentityProof[]): Promise<Standings> =>
  new Map((await tx.query<Attached>(readAttached, listsOf(proofs))).map((row) => [identityName(row), standingOf(row)]))

/** The attached identities whose provider has verified this e-mail. */
const verifiedBy = prepare('identities.with_email', { email: 'text' }, (orm, at) =>
  orm
    .select({
      accountId: identities.accountId,
      linkedByGrantId: identities.linkedByGrantId,
      originSessionId: identities.originSessionId,
    })
    .from(identities)
    .where(and(eq(emailKeyOf(identities.email), at.email), sql`${identities.emailVerified}`)),
)

const accountWith = prepare('accounts.with_email', { email: 'text' }, (orm, at) =>
  orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(emailKeyOf(accounts.email), at.email)),
)

/**
 * The account with this e-mail, else the only account with an attached identity that has it. Only e-mails that a provider has verified are
 * compared: an unverified one never leads its real owner into another account.
 */
const matchByEmail = async (
  tx: Tx,
  proof: IdentityProof,
): Promise<Pick<Standing, 'accountId' | 'linkedByGrantId' | 'originSessionId'> | undefined> => {
  const email = verifiedEmail(proof)
  if (email === null) return undefined
  const [owner, matches] = await Promise.all([first(tx, accountWith, { email }), tx.run(verifiedBy, { email })])
  const candidates = new Set(owner ? [owner.id] : matches.map(({ accountId }) => accountId))
  const [accountId, ...others] = candidates
  if (accountId === undefined || others.length > 0) return undefined
  const own = matches.filter((carrier) => carrier.accountId === accountId)
  /** What leads to the account only through what was linked there ends with that. */
  const ofAll = (origin: 'linkedByGrantId' | 'originSessionId') =>
    own.some((carrier) => carrier[origin] === null) ? null : (own[0]?.[origin] ?? null)
  return { accountId, linkedByGrantId: ofAll('linkedByGrantId'), originSessionId: ofAll('originSessionId') }
}

/** The account's row is locked too: it guards the set of its identities, of which there will be one more. */
const readMatched = async (tx: Tx, proof: IdentityProof): Promise<Standing | undefined> => {
  const match = await matchByEmail(tx, proof)
  if (!match) return undefined
  const [{ status }, workspaceId] = await Promise.all([
    lockAccount(tx, match.accountId),
    findHomeWorkspaceId(tx, match.accountId),
  ])
  return { ...match, status, workspaceId, identity: null, isSettled: false }
}

export type LockedStandings = { names: ReadonlySet<string>; standings: Standings }

/** Those that no other transaction holds, in one trip: the locks, and how it stands behind them. Accounts are found by identities alone. */
export const tryStandings = async (tx: Tx, proofs: readonly IdentityProof[]): Promise<LockedStandings> => {
  const [names, standings] = await Promise.all([lockThoseFree(tx, proofs), readStandings(tx, proofs)])
  return { names, standings }
}

/** The accounts that proofs stand for, by their identities or e-mails: to be locked before anything is written. */
export const findAccounts = async (tx: Tx, proofs: readonly IdentityProof[]): Promise<Uuid[]> => {
  const found = await Promise.all(proofs.map(async (proof) => (await findIdentity(tx, proof)) ?? (await matchByEmail(tx, proof))))
  return found.flatMap((account) => account?.accountId ?? [])
}

/**
 * Waits for all locks. `accounts`: those that the proofs stood for before. Where another transaction has changed that meanwhile, the account of
 * a standing is not locked.
 */
export const waitForStandings = async (
  tx: Tx,
  proofs: readonly IdentityProof[],
  accounts: readonly Uuid[],
): Promise<LockedStandings> => {
  const [, , standings] = await Promise.all([
    lockAccounts(tx, { exclusive: accounts }),
    lockIdentities(tx, proofs),
    readStandings(tx, proofs),
  ])
  for (const proof of proofs) {
    const name = identityName(proof)
    const matched = standings.has(name) ? undefined : await readMatched(tx, proof)
    if (matched) standings.set(name, matched)
  }
  return { names: new Set(proofs.map(identityName)), standings }
}
