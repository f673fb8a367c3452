import { and, eq } from 'drizzle-orm'
import type { RequestOrigin } from '../../auth/principal.ts'
import { recoverSigner } from '../../auth/wallet.ts'
import type { Tx } from '../../db/client.ts'
import { accounts } from '../../db/tables/accounts.ts'
import { grants } from '../../db/tables/grants.ts'
import { intentMandates } from '../../db/tables/mandates.ts'
import { audit } from '../../events/audit.ts'
import { conflict, invalidFields, notFound, Refusal } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import { requireBeneficiaries } from '../grants/controls.ts'
import { findIdentity, walletIssuer } from '../identities/queries.ts'
import { consumeNonce, lockNonce } from '../sign-in/nonces.ts'
import { workspaceStatus } from '../workspaces/present.ts'
import { findPersonalWorkspaceId, shareWorkspace } from '../workspaces/queries.ts'
import { mandateMessage } from './message.ts'
import { presentMandate } from './present.ts'
import { findMandateByNonce, type MandateRecord } from './queries.ts'
import type { CreateMandate, MandateTerms } from './schema.ts'
import { nonceBinding, termContradictions, termsDigest } from './terms.ts'

export type CreatedMandate = { mandate: MandateRecord; replayed: boolean }

const noSignature = (message: string) => new Refusal('invalid_signature', { message })

/** The same nonce, terms and wallet again is the same mandate: a caller that lost the answer gets it once more. */
const repeat = (mandate: MandateRecord, input: CreateMandate, digest: string): CreatedMandate | Refusal => {
  const same = mandate.termsDigest === digest && mandate.signer === input.address
  if (!same) return conflict('This nonce was used for other terms.', 'nonce')
  if (recoverSigner(mandate.message, input.signature) !== mandate.signer)
    return noSignature('The signature is not by this wallet.')
  return { mandate, replayed: true }
}

/** The text that must have been signed, or why there is none. The nonce's row is locked: of two at once the second finds the mandate. */
const expectedMessage = async (tx: Tx, deps: Deps, input: CreateMandate, digest: string): Promise<string | Refusal> => {
  const { address, terms, nonce } = input
  const issued = await lockNonce(tx, nonce, 'mandate')
  if (!issued) return noSignature('The nonce is not one from POST /v1/intent-mandates/prepare.')
  if (issued.boundTo !== nonceBinding(address, digest))
    return conflict('This nonce was given out for other terms or another wallet.', 'nonce')
  if (issued.expiresAt <= deps.clock.now()) return noSignature('The nonce has expired: prepare the mandate again.')
  return mandateMessage(deps.config, { address, terms, digest, nonce, signBy: issued.expiresAt })
}

const signingAccount = async (tx: Tx, signer: string) => {
  const identity = await findIdentity(tx, 'wallet', walletIssuer, signer.toLowerCase())
  if (!identity) return undefined
  const [account] = await tx.orm
    .select({ id: accounts.id, status: accounts.status })
    .from(accounts)
    .where(eq(accounts.id, identity.accountId))
  return account
}

/** A live grant of this account in this workspace; another's is the same 404 as none. */
const requireGrant = async (
  tx: Tx,
  id: Uuid | null,
  accountId: Uuid,
  workspaceId: Uuid,
  at: Date,
): Promise<Refusal | undefined> => {
  if (id === null) return undefined
  const [grant] = await tx.orm
    .select()
    .from(grants)
    .where(and(eq(grants.id, id), eq(grants.accountId, accountId), eq(grants.workspaceId, workspaceId)))
    .for('share')
  if (!grant) return new Refusal('not_found', { message: 'There is no such grant.' })
  return grant.revokedAt || (grant.expiresAt && grant.expiresAt <= at)
    ? conflict('This grant has ended.', 'grant_ended')
    : undefined
}

/** Only who owns the money can agree to its being spent: the workspace must be one that the signer's account owns. */
const requireScope = async (tx: Tx, terms: MandateTerms, accountId: Uuid, at: Date): Promise<Uuid | Refusal> => {
  const workspaceId = terms.workspaceId ?? (await findPersonalWorkspaceId(tx, accountId))
  const workspace = await shareWorkspace(tx, workspaceId)
  if (workspace?.owningAccountId !== accountId) return notFound()
  if (workspaceStatus(workspace) !== 'active') return new Refusal('workspace_frozen')
  const grant = await requireGrant(tx, terms.grantId, accountId, workspaceId, at)
  if (grant) return grant
  await requireBeneficiaries(tx, workspaceId, terms.beneficiaryIds, 'terms.beneficiary_ids')
  return workspaceId
}

const decide = async (tx: Tx, deps: Deps, input: CreateMandate, digest: string) => {
  const existing = await findMandateByNonce(tx, input.nonce)
  if (existing) return repeat(existing, input, digest)
  const problems = termContradictions(input.terms, deps.clock.now())
  if (problems.length > 0) throw invalidFields(...problems)
  const message = await expectedMessage(tx, deps, input, digest)
  if (message instanceof Refusal) return message
  // Another request with this nonce may have been first while this one waited for its row.
  const meanwhile = await findMandateByNonce(tx, input.nonce)
  if (meanwhile) return repeat(meanwhile, input, digest)
  const signer = recoverSigner(message, input.signature)
  if (signer !== input.address) return noSignature('The signature is not by this wallet over these terms.')
  const account = await signingAccount(tx, signer)
  if (!account) return noSignature('This wallet belongs to no account.')
  if (account.status !== 'active') return new Refusal('account_frozen')
  const workspaceId = await requireScope(tx, input.terms, account.id, deps.clock.now())
  return workspaceId instanceof Refusal ? workspaceId : { accountId: account.id, workspaceId, message }
}

type Agreed = { accountId: Uuid; workspaceId: Uuid; message: string }

const insert = async (tx: Tx, deps: Deps, input: CreateMandate, digest: string, agreed: Agreed): Promise<MandateRecord> => {
  const at = deps.clock.now()
  const { terms, nonce, signature, address: signer } = input
  await consumeNonce(tx, nonce, at)
  const [row] = await tx.orm
    .insert(intentMandates)
    .values({
      ...terms,
      ...agreed,
      id: newId(),
      status: 'active',
      validFrom: terms.validFrom ?? at,
      nonce,
      termsDigest: digest,
      signature,
      signer,
      createdAt: at,
      updatedAt: at,
    })
    .returning()
  if (!row) throw new Error('an inserted mandate was not returned')
  return { ...row, spentMinor: 0n, paymentsMade: 0 }
}

/**
 * Creates a mandate on the strength of a signature alone: its wallet names the account. Refusals are returned, so that their audit
 * rows stay. The nonce is not burnt by a failed attempt: it is worth nothing without the wallet's signature over exactly its terms.
 */
export const createMandate = async (
  tx: Tx,
  deps: Deps,
  origin: RequestOrigin,
  input: CreateMandate,
): Promise<CreatedMandate | Refusal> => {
  const at = deps.clock.now()
  const digest = termsDigest(input.terms)
  const decided = await decide(tx, deps, input, digest)
  if (decided instanceof Refusal) {
    await audit(tx, { accountId: null, origin, way: 'signature' }, at, {
      action: 'mandate.refused',
      after: { reason: decided.code, message: decided.message, address: input.address, terms_digest: digest },
    })
    return decided
  }
  if ('replayed' in decided) return decided
  const mandate = await insert(tx, deps, input, digest, decided)
  const { accountId, workspaceId } = mandate
  const data = presentMandate(mandate, at)
  await deps.appendEvents(tx, at, [{ type: 'mandate.created', accountId, workspaceId, data }])
  await audit(tx, { accountId, origin, way: 'signature' }, at, {
    action: 'mandate.create',
    workspaceId,
    subject: { type: 'mandate', id: mandate.id },
    after: data,
  })
  return { mandate, replayed: false }
}
