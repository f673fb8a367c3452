import { sql } from 'drizzle-orm'
import { walletIsLinked } from '../../auth/authority-sql.ts'
import type { Principal, RequestOrigin } from '../../auth/principal.ts'
import { withHint } from '../../auth/recover-signer.ts'
import { inTx, statement, type Tx } from '../../db/client.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { intentMandates } from '../../db/tables/mandates.ts'
import { openPaymentsSql } from '../../db/transitions.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { CommitThenThrow, conflict, found, notFound, wrongSignature } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import { sweepOf } from '../for-each-row.ts'
import { findIdentity, walletKey } from '../identity/identities/queries.ts'
import type { OnAuthorityLost } from '../ports.ts'
import { findMandate, lockMandate, type MandateRecord, mandateStatus, presentMandate } from './queries.ts'

type MandateEnd = { to: 'exhausted' | 'expired' | 'revoked'; actor: Actor; why?: Record<string, unknown> }

/** The caller has locked the mandate and checked that it is active. */
const endMandate = async (tx: Tx, mandate: MandateRecord, { to, actor, why = {} }: MandateEnd): Promise<MandateRecord> => {
  const { at } = tx
  const after = updateRow(tx, intentMandates, mandate, { status: to, revokedAt: to === 'revoked' ? at : null, updatedAt: at })
  const { balanceAccountId: accountId, workspaceId } = mandate
  await appendEvents(tx, [{ type: `mandate.${to}`, accountId, workspaceId, data: presentMandate(after, at) }])
  audit(tx, actor, `mandate.${to}`, {
    workspaceId,
    subject: mandate.id,
    before: { status: mandate.status },
    after: { status: to, ...why },
  })
  return after
}

const endIfActive = async (tx: Tx, id: Uuid, end: MandateEnd): Promise<void> => {
  const mandate = await lockMandate(tx, id)
  if (mandate?.status === 'active') await endMandate(tx, mandate, end)
}

const mayStillFail = `select 1 from payments where mandate_id = $1 and status in ${openPaymentsSql} limit 1`

/**
 * Runs after a payment has succeeded. `exhausted` is final, so the mandate stays active while an open payment may still return
 * budget; its limits then refuse payments. The caller has locked the paying account.
 */
export const exhaustMandateIfSpent = async (tx: Tx, id: Uuid): Promise<void> => {
  const mandate = await lockMandate(tx, id)
  if (mandate?.status !== 'active') return
  const usedUp =
    mandate.spentMinor >= mandate.maxTotalMinor || (mandate.maxPayments !== null && mandate.paymentsMade >= mandate.maxPayments)
  if (!usedUp || (await tx.query(mayStillFail, [id])).length > 0) return
  await endMandate(tx, mandate, { to: 'exhausted', actor: { accountId: null, origin: null, way: 'budget' } })
}

const unsigned = statement('mandates.unsigned')`
  select id from intent_mandates where account_id = $1 and status = 'active' and not ${walletIsLinked('account_id', 'signer')} order by id`

/** Runs after a wallet was unlinked from its account. */
export const revokeUnsignedMandates = async (tx: Tx, actor: Actor, accountId: Uuid): Promise<void> => {
  for (const { id } of await tx.query<{ id: Uuid }>(unsigned, [accountId]))
    await endIfActive(tx, id, { to: 'revoked', actor, why: { via: 'wallet_unlinked' } })
}

/** Payments after the end are already refused; this sweep records and publishes the expiry. */
export const expireMandates = sweepOf(
  'mandates.expire',
  { id: intentMandates.id, due: intentMandates.expiresAt, where: [sql`${intentMandates.status} = 'active'`] },
  (deps, { id }) =>
    inTx(deps.db, (tx) => endIfActive(tx, id, { to: 'expired', actor: { accountId: null, origin: null, way: 'timer' } })),
)

/** A second revocation returns the same result. A mandate that ended otherwise is not changed. */
const revoke = async (
  tx: Tx,
  onAuthorityLost: OnAuthorityLost,
  actor: Actor,
  mandate: MandateRecord,
  why: Record<string, unknown>,
): Promise<MandateRecord> => {
  if (mandate.status === 'revoked') return mandate
  const status = mandateStatus(mandate, tx.at)
  if (status !== 'active') throw conflict(`The mandate is already ${status}.`, status, { status })
  const revoked = await endMandate(tx, mandate, { to: 'revoked', actor, why })
  await onAuthorityLost(tx, actor, mandate.accountId)
  return revoked
}

export const revokeByCredential = async (
  tx: Tx,
  onAuthorityLost: OnAuthorityLost,
  principal: Principal,
  id: Uuid,
): Promise<MandateRecord> => {
  if (!(await findMandate(tx, id, principal.workspace.id))) throw notFound()
  const mandate = found(await lockMandate(tx, id))
  return revoke(tx, onAuthorityLost, principal, mandate, { via: 'credential' })
}

/** The wallet that signed a mandate can always revoke it, and so can any wallet of its account. `signer`: the verified wallet. */
export const revokeBySignature = async (
  tx: Tx,
  onAuthorityLost: OnAuthorityLost,
  id: Uuid,
  { origin, signer, signature }: { origin: RequestOrigin; signer: string | undefined; signature: string },
): Promise<MandateRecord> => {
  const mandate = found(await lockMandate(tx, id))
  const { accountId, workspaceId } = mandate
  const mayRevoke =
    signer && (signer === mandate.signer || (await findIdentity(tx, walletKey(signer)))?.accountId === mandate.accountId)
  if (!mayRevoke) {
    audit(tx, { accountId: null, origin, way: 'signature' }, 'mandate.refused', { workspaceId, subject: id })
    throw new CommitThenThrow(
      wrongSignature(signer, withHint('The signature must be of the revocation text, by a wallet of this account.', signature)),
    )
  }
  return revoke(tx, onAuthorityLost, { accountId, origin, way: 'signature' }, mandate, { via: 'signature', signer, signature })
}
