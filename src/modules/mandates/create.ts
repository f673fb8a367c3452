import type { RequestOrigin } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { grantLife } from '../../db/credential-life.ts'
import { insertRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { grants } from '../../db/tables/grants.ts'
import { intentMandates } from '../../db/tables/mandates.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { CommitThenThrow, conflict, invalidFields, notFound, Refusal, wrongSignature } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { parseWalletName } from '../../lib/wallet-name.ts'
import { requireAllowable } from '../beneficiaries/queries.ts'
import { findAccount } from '../identity/accounts/queries.ts'
import { findIdentity, walletKey } from '../identity/identities/queries.ts'
import { consumeNonce, lockNonce } from '../identity/sign-in/nonces.ts'
import { workspaceStatus } from '../workspaces/present.ts'
import { findPersonalWorkspaceId, shareWorkspace } from '../workspaces/queries.ts'
import { nonceBinding, termContradictions } from './message.ts'
import { presentMandate } from './present.ts'
import type { MandateProof } from './proof.ts'
import { findMandateByNonce, type MandateRecord, type MandateRow } from './queries.ts'
import type { CreateMandate, MandateTerms } from './schema.ts'

const shareGrant = selectRow('grants.share_of_account', grants, ['id', 'accountId', 'workspaceId'], { lock: 'share' })

const signingAccount = async (tx: Tx, signer: string) => {
  const identity = await findIdentity(tx, walletKey(signer))
  return identity && findAccount(tx, identity.accountId)
}

/** An active grant of this account in this workspace; another account's grant is answered with the same 404 as none. */
const requireGrant = async (tx: Tx, id: Uuid, accountId: Uuid, workspaceId: Uuid, at: Date): Promise<void> => {
  const grant = await shareGrant(tx, { id, accountId, workspaceId })
  if (!grant) throw notFound('terms.grant_id')
  if (grantLife(grant, at) !== 'active') throw conflict('This grant has ended.', 'grant_ended')
}

/** Only the owner of the money can agree to spending it: the workspace must belong to the signer's account. */
export const requireScope = async (tx: Tx, terms: MandateTerms, accountId: Uuid, at: Date): Promise<Uuid> => {
  const workspaceId = terms.workspaceId ?? (await findPersonalWorkspaceId(tx, accountId))
  const workspace = await shareWorkspace(tx, workspaceId)
  if (workspace?.owningAccountId !== accountId) throw notFound('terms.workspace_id')
  if (workspaceStatus(workspace) !== 'active') throw new Refusal('workspace_frozen')
  if (terms.grantId) await requireGrant(tx, terms.grantId, accountId, workspaceId, at)
  await requireAllowable(tx, workspaceId, terms.beneficiaryIds, 'terms.beneficiary_ids')
  return workspaceId
}

export type CreatedMandate = { mandate: MandateRecord; replayed: boolean }
type AcceptedTerms = { accountId: Uuid; workspaceId: Uuid; message: string; signer: string }

const noNonce = (message: string) => new Refusal('invalid_signature', { message, details: { field: 'nonce' } })

/** The same nonce, terms and wallet give the same mandate: a caller that lost the answer gets it again. */
const repeat = (mandate: MandateRecord, input: CreateMandate, proof: MandateProof): CreatedMandate => {
  const same = mandate.termsDigest === proof.digest && parseWalletName(mandate.signer)?.address === input.address.toLowerCase()
  if (!same) throw conflict('This nonce was used for other terms.', 'nonce')
  if (proof.signer !== mandate.signer) throw wrongSignature(proof.recovered, 'The signature is not by this wallet.')
  return { mandate, replayed: true }
}

/** The nonce's row is locked first: of two requests at once, the second waits, and then finds the first one's mandate. */
const decide = async (
  tx: Tx,
  input: CreateMandate,
  { digest, message, signer, recovered }: MandateProof,
): Promise<CreatedMandate | AcceptedTerms> => {
  const { address, terms, nonce } = input
  const issued = await lockNonce(tx, { nonce, purpose: 'mandate' })
  const { at } = tx
  const existing = await findMandateByNonce(tx, nonce)
  if (existing) return repeat(existing, input, { digest, message, signer, recovered })
  const problems = termContradictions(terms, at)
  if (problems.length > 0) throw invalidFields(...problems)
  if (!issued) throw noNonce('The nonce is not one from POST /v1/intent-mandates/prepare.')
  if (issued.boundTo !== nonceBinding(address, digest))
    throw conflict('This nonce is for other terms or another wallet.', 'nonce')
  if (issued.expiresAt <= at) throw noNonce('The nonce has expired: prepare the mandate again.')
  if (message === null || signer === null)
    throw wrongSignature(recovered, 'The signature is not by this wallet over these terms.')
  const account = await signingAccount(tx, signer)
  if (!account) throw wrongSignature(address, 'This wallet belongs to no account.')
  if (account.status !== 'active') throw new Refusal('account_frozen')
  const workspaceId = await requireScope(tx, terms, account.id, at)
  return { accountId: account.id, workspaceId, message, signer }
}

const insert = async (
  tx: Tx,
  input: CreateMandate,
  termsDigest: string,
  accepted: AcceptedTerms,
  at: Date,
): Promise<MandateRecord> => {
  const { terms, nonce, signature } = input
  await consumeNonce(tx, nonce, at)
  const signed = { nonce, termsDigest, signature }
  const row: MandateRow = {
    ...terms,
    ...accepted,
    ...signed,
    id: newId(),
    status: 'active',
    validFrom: terms.validFrom ?? at,
    createdAt: at,
    updatedAt: at,
    revokedAt: null,
  }
  insertRow(tx, intentMandates, row)
  return { ...row, spentMinor: 0n, paymentsMade: 0 }
}

/**
 * Creates a mandate by a signature alone: its wallet identifies the account. Refusals commit, so that their audit rows stay. A failed
 * attempt does not use the nonce up: it is worth nothing without the wallet's signature over exactly its terms.
 */
export const createMandate = async (
  tx: Tx,
  origin: RequestOrigin,
  input: CreateMandate,
  proof: MandateProof,
): Promise<CreatedMandate> => {
  const decided = await decide(tx, input, proof).catch(async (error: unknown) => {
    if (!(error instanceof Refusal) || error.code === 'invalid_request') throw error
    audit(tx, { accountId: null, origin, way: 'signature' }, 'mandate.refused', {
      after: { reason: error.code, message: error.message, address: input.address, terms_digest: proof.digest },
    })
    throw new CommitThenThrow(error)
  })
  if ('replayed' in decided) return decided
  const { at } = tx
  const mandate = await insert(tx, input, proof.digest, decided, at)
  const { accountId, workspaceId } = mandate
  const data = presentMandate(mandate, at)
  await appendEvents(tx, [{ type: 'mandate.created', accountId, workspaceId, data }])
  audit(tx, { accountId, origin, way: 'signature' }, 'mandate.create', { workspaceId, subject: mandate.id, after: data })
  return { mandate, replayed: false }
}
