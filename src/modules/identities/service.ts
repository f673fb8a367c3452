import { and, eq, sql } from 'drizzle-orm'
import type { Principal, RequestOrigin } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { accounts, identities } from '../../db/tables/accounts.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { conflict, Refusal } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { createAccount } from '../accounts/service.ts'
import type { Deps } from '../deps.ts'
import { createSession, type NewSession } from '../sessions/service.ts'
import { findPersonalWorkspaceId } from '../workspaces/queries.ts'
import { presentIdentity } from './present.ts'
import { findIdentity, type IdentityRecord } from './queries.ts'

/** What a sign-in method has proved: this subject is here now, vouched for by this issuer. */
export type IdentityProof = {
  provider: IdentityRecord['provider']
  issuer: string
  subject: string
  subjectKey: string
  email: string | null
  emailVerified: boolean
  displayName: string | null
}

export type SignInOutcome = 'signed_in' | 'account_created' | 'linked' | 'already_linked'
export type SignInResult = { outcome: SignInOutcome; accountId: Uuid; identity: IdentityRecord; session: NewSession | null }

/** Two first sign-ins of one identity, or two claims on one e-mail, at the same moment: the second waits for the first. */
const lockIdentity = async (tx: Tx, proof: IdentityProof): Promise<void> => {
  const names = [`identity:${proof.provider}:${proof.issuer}:${proof.subjectKey}`]
  if (proof.email && proof.emailVerified) names.push(`email:${proof.email.toLowerCase()}`)
  for (const name of names.sort()) await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
}

const attach = async (tx: Tx, deps: Deps, accountId: Uuid, proof: IdentityProof, actor: Actor): Promise<IdentityRecord> => {
  const at = deps.clock.now()
  const [identity] = await tx.orm
    .insert(identities)
    .values({ id: newId(), accountId, ...proof, createdAt: at, lastUsedAt: at })
    .returning()
  if (!identity) throw new Error('an inserted identity was not returned')
  await adoptEmail(tx, deps, accountId, proof)
  const data = presentIdentity(identity)
  await deps.appendEvents(tx, at, [{ type: 'identity.linked', accountId, workspaceId: null, data }])
  await audit(tx, actor, at, {
    action: 'identity.link',
    subject: { type: 'identity', id: identity.id },
    after: { provider: proof.provider },
  })
  return identity
}

/** An account without an e-mail takes a verified one that no other account has. */
const adoptEmail = async (tx: Tx, deps: Deps, accountId: Uuid, proof: IdentityProof): Promise<void> => {
  if (!proof.email || !proof.emailVerified) return
  await tx.orm
    .update(accounts)
    .set({ email: proof.email, updatedAt: deps.clock.now() })
    .where(
      and(
        eq(accounts.id, accountId),
        sql`${accounts.email} is null and not exists (select from accounts other where lower(other.email) = lower(${proof.email}))`,
      ),
    )
}

const touch = async (tx: Tx, deps: Deps, identity: IdentityRecord, proof: IdentityProof): Promise<IdentityRecord> => {
  const fresh = {
    lastUsedAt: deps.clock.now(),
    email: proof.email,
    emailVerified: proof.emailVerified,
    displayName: proof.displayName ?? identity.displayName,
  }
  await tx.orm.update(identities).set(fresh).where(eq(identities.id, identity.id))
  return { ...identity, ...fresh }
}

/** Links a proven identity to the caller's account: attached, already there, or somebody else's (which tells nothing of whose). */
export const linkIdentity = async (
  tx: Tx,
  deps: Deps,
  principal: Pick<Principal, 'accountId'> & Actor,
  proof: IdentityProof,
): Promise<{ outcome: 'linked' | 'already_linked'; identity: IdentityRecord }> => {
  await lockIdentity(tx, proof)
  const existing = await findIdentity(tx, proof.provider, proof.issuer, proof.subjectKey)
  if (existing && existing.accountId !== principal.accountId)
    throw conflict('This identity belongs to another account.', 'identity')
  if (existing) return { outcome: 'already_linked', identity: await touch(tx, deps, existing, proof) }
  return { outcome: 'linked', identity: await attach(tx, deps, principal.accountId, proof, principal) }
}

const matchByEmail = async (tx: Tx, proof: IdentityProof): Promise<Uuid | undefined> => {
  if (!proof.email || !proof.emailVerified) return undefined
  const [match] = await tx.orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(sql`lower(${accounts.email})`, proof.email.toLowerCase()))
  return match?.id
}

/** Linked pair, else an account with that verified e-mail, else a new account: in this order, and then a new session. */
export const signIn = async (tx: Tx, deps: Deps, proof: IdentityProof, origin: RequestOrigin): Promise<SignInResult> => {
  await lockIdentity(tx, proof)
  const existing = await findIdentity(tx, proof.provider, proof.issuer, proof.subjectKey)
  const way = `sign_in:${proof.provider}`
  const resolved = existing
    ? { accountId: existing.accountId, identity: await touch(tx, deps, existing, proof), outcome: 'signed_in' as const }
    : await adopt(tx, deps, proof, origin, way)
  const [account] = await tx.orm.select({ status: accounts.status }).from(accounts).where(eq(accounts.id, resolved.accountId))
  if (account?.status === 'closed') throw new Refusal('account_frozen', { message: 'This account is closed.' })
  const workspaceId = await findPersonalWorkspaceId(tx, resolved.accountId)
  const session = await createSession(tx, deps, {
    accountId: resolved.accountId,
    workspaceId,
    identityId: resolved.identity.id,
    origin,
    way,
  })
  return { ...resolved, session }
}

const adopt = async (tx: Tx, deps: Deps, proof: IdentityProof, origin: RequestOrigin, way: string) => {
  const matched = await matchByEmail(tx, proof)
  const verifiedEmail = proof.emailVerified ? proof.email : null
  const accountId =
    matched ?? (await createAccount(tx, deps, { email: verifiedEmail, displayName: proof.displayName })).account.id
  const identity = await attach(tx, deps, accountId, proof, { accountId, origin, way })
  return { accountId, identity, outcome: matched ? ('signed_in' as const) : ('account_created' as const) }
}
