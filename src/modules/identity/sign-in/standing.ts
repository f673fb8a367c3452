import { and, eq, sql } from 'drizzle-orm'
import { lockAccounts } from '../../../db/account-lock.ts'
import { first, statement, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { accounts, identities } from '../../../db/tables/accounts.ts'
import { emailKeyOf } from '../../../db/tables/columns.ts'
import { emailKeySql } from '../../../lib/email-key.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { findHomeWorkspaceId, homeWorkspace } from '../../workspaces/queries.ts'
import { lockAccount, lockIdentity, verifiedEmail } from '../identities/lock.ts'
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

const readAttached = statement(
  'sign_in.read_attached',
  `select i.id, i.email, i.email_verified as "emailVerified", i.account_id as "accountId",
     a.status, ${homeWorkspace('a.id')} as "workspaceId",
     case when a.email is null then not exists (select from identities v where v.account_id = a.id and v.email_verified and v.email is not null)
       else exists (select from identities v where v.account_id = a.id and v.email_verified and ${emailKeySql('v.email')} = ${emailKeySql('a.email')})
     end as "isSettled"
   from identities i join accounts a on a.id = i.account_id where i.provider = $1 and i.issuer = $2 and i.subject_key = $3`,
)
type Attached = Pick<IdentityRecord, 'id' | 'email' | 'emailVerified'> &
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

const readStanding = async (tx: Tx, { provider, issuer, subjectKey }: IdentityProof): Promise<Standing | undefined> =>
  (await tx.query<Attached>(readAttached, [provider, issuer, subjectKey])).map(standingOf)[0]

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

/** The account that a proof stands for, by its identity or e-mail: to be locked before anything is written. */
export const findAccount = async (tx: Tx, proof: IdentityProof): Promise<Uuid | undefined> =>
  ((await findIdentity(tx, proof)) ?? (await matchByEmail(tx, proof)))?.accountId

/**
 * `accountId`: the account that the proof stood for before. Where another transaction has changed that meanwhile, the account of the standing is
 * not locked. The account's lock guards its status and the order of its events, and is taken before the transaction's first write; the name's keeps
 * the identity from being made, linked, detached or moved.
 */
export const lockStanding = async (tx: Tx, proof: IdentityProof, accountId: Uuid | undefined): Promise<Standing | undefined> => {
  const [, , standing] = await Promise.all([
    lockAccounts(tx, { exclusive: accountId === undefined ? [] : [accountId] }),
    lockIdentity(tx, proof),
    readStanding(tx, proof),
  ])
  return standing ?? readMatched(tx, proof)
}
