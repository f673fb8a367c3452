import { grantIsFrozen } from '../../auth/authority-sql.ts'
import type { RequestOrigin } from '../../auth/principal.ts'
import { recoverSigner, withHint } from '../../auth/recover-signer.ts'
import { sha256 } from '../../auth/secrets.ts'
import type { Config } from '../../config.ts'
import { lockAccounts } from '../../db/account-lock.ts'
import { first, statement, type Tx } from '../../db/client.ts'
import { grantLife } from '../../db/credential-life.ts'
import { insertRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { grants } from '../../db/tables/grants.ts'
import { intentMandates } from '../../db/tables/mandates.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { canonicalJson } from '../../lib/canonical.ts'
import { isoTime } from '../../lib/clock.ts'
import { CommitThenThrow, conflict, type FieldError, invalidFields, notFound, Refusal, wrongSignature } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { limitLines } from '../../lib/mandate-limits-text.ts'
import { displayAmount, formatMinor, formatMinorOrNull } from '../../lib/money.ts'
import { isolated } from '../../lib/text.ts'
import type { Address } from '../../lib/wallet-name.ts'
import { parseWalletName } from '../../lib/wallet-name.ts'
import { requireAllowable } from '../beneficiaries/queries.ts'
import { findAccount } from '../identity/accounts/queries.ts'
import { findIdentity, proveSigner, walletKey } from '../identity/identities/queries.ts'
import { consumeNonce, findNonce, type IssuedNonce, issueNonce, lockNonce } from '../identity/sign-in/nonces.ts'
import type { Parts } from '../parts.ts'
import { workspaceStatus } from '../workspaces/present.ts'
import { findPersonalWorkspaceId, findWorkspace, lockWorkspaceShared, type WorkspaceRecord } from '../workspaces/queries.ts'
import { findMandateByNonce, type MandateRecord, type MandateRow, presentMandate } from './queries.ts'
import type { CreateMandate, MandateTerms, PrepareMandate } from './schema.ts'

const termContradictions = (terms: MandateTerms, at: Date): FieldError[] => {
  const { maxTotalMinor, maxPerPaymentMinor, validFrom, expiresAt } = terms
  const problems: FieldError[] = []
  if (maxPerPaymentMinor !== null && maxPerPaymentMinor > maxTotalMinor)
    problems.push({ path: 'terms.max_per_payment_minor', message: 'must not be more than max_total_minor' })
  if (validFrom && validFrom >= expiresAt) problems.push({ path: 'terms.valid_from', message: 'must be before expires_at' })
  if (expiresAt <= at) problems.push({ path: 'terms.expires_at', message: 'must be in the future' })
  return problems
}

/** SHA-256 of the canonical JSON without absent terms, so that equal terms have one digest in any notation. */
const termsDigest = (terms: MandateTerms): string => {
  const { workspaceId, grantId, maxPerPaymentMinor, maxPayments, beneficiaryIds, paymentTypes, validFrom } = terms
  const canonical = {
    workspace_id: workspaceId ? formatId('workspace', workspaceId) : undefined,
    grant_id: grantId ? formatId('grant', grantId) : undefined,
    description: terms.description,
    max_total_minor: formatMinor(terms.maxTotalMinor),
    max_per_payment_minor: formatMinorOrNull(maxPerPaymentMinor) ?? undefined,
    max_payments: maxPayments ?? undefined,
    beneficiary_ids: beneficiaryIds.length > 0 ? beneficiaryIds.map((id) => formatId('beneficiary', id)) : undefined,
    payment_types: paymentTypes.length > 0 ? paymentTypes : undefined,
    valid_from: validFrom ? isoTime(validFrom) : undefined,
    expires_at: isoTime(terms.expiresAt),
  }
  return sha256(canonicalJson(canonical)).toString('hex')
}

const nonceBinding = (address: Address, digest: string): string => `${address.toLowerCase()}:${digest}`

const domainOf = (config: Config): string => new URL(config.publicUrl).host

type Signable = { address: Address; terms: MandateTerms; digest: string; nonce: string; signBy: Date }

/** EIP-191 text. Equal terms produce the same text: a signature check rebuilds it, and never takes it from a request. */
const mandateMessage = (config: Config, { address, terms, digest, nonce, signBy }: Signable): string => {
  const { workspaceId, grantId, validFrom } = terms
  const { what, who, until } = limitLines(
    {
      ...terms,
      beneficiaries: terms.beneficiaryIds.map((id) => formatId('beneficiary', id)),
      grant: grantId ? formatId('grant', grantId) : null,
    },
    config.CURRENCY,
  )
  return [
    `${domainOf(config)} asks you to agree to payments in advance.`,
    '',
    'By signing you approve every payment within these limits, without being asked again, until the mandate ends or you revoke it.',
    '',
    `Description: ${isolated(terms.description)}`,
    ...what,
    `Workspace: ${workspaceId ? formatId('workspace', workspaceId) : 'your personal workspace'}`,
    who,
    `Valid from: ${validFrom ? isoTime(validFrom) : 'the moment it is created'}`,
    until,
    '',
    'Purpose: intent mandate',
    `Wallet: ${address}`,
    `Terms digest: ${digest}`,
    `Nonce: ${nonce}`,
    `Sign before: ${isoTime(signBy)}`,
  ].join('\n')
}

/** Needs no nonce, because a second revocation changes nothing. */
export const revocationMessage = (config: Config, mandate: MandateRow): string =>
  [
    `${domainOf(config)} asks you to revoke an intent mandate.`,
    '',
    'By signing you end it: no further payment is approved by it.',
    '',
    `Description: ${isolated(mandate.description)}`,
    `At most in total: ${displayAmount(mandate.maxTotalMinor, config.CURRENCY)} (${mandate.maxTotalMinor} minor units)`,
    `Valid until: ${isoTime(mandate.expiresAt)}`,
    '',
    'Purpose: intent mandate revocation',
    `Mandate: ${formatId('mandate', mandate.id)}`,
    `Signed by: ${mandate.signer}`,
    `Terms digest: ${mandate.termsDigest}`,
  ].join('\n')

/** Looks up no account, workspace, grant or beneficiary, and so reveals nothing about them. */
export const prepareMandate = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db'>,
  { address, terms }: PrepareMandate,
): Promise<IssuedNonce & { message: string }> => {
  const at = deps.clock.now()
  const problems = termContradictions(terms, at)
  if (problems.length > 0) throw invalidFields(...problems)
  const digest = termsDigest(terms)
  const issued = await issueNonce(deps.db, at, { purpose: 'mandate', boundTo: nonceBinding(address, digest) })
  const { nonce, expiresAt: signBy } = issued
  return { ...issued, message: mandateMessage(deps.config, { address, terms, digest, nonce, signBy }) }
}

type ProofParts = Pick<Parts, 'config' | 'contractWallets' | 'db'>

/** `message`: the signed text; null if there is none, and the creation then fails. `signer`: null if not the named wallet. */
type MandateProof = { digest: string; message: string | null; signer: string | null; recovered: string | undefined }

/** Called before the transaction, because a chain may have to be queried. Safe, because the nonce's binding never changes. */
export const proveMandate = async ({ config, contractWallets, db }: ProofParts, input: CreateMandate): Promise<MandateProof> => {
  const { address, terms, nonce, signature } = input
  const digest = termsDigest(terms)
  const existing = await findMandateByNonce(db, nonce)
  const issued = existing ? undefined : await findNonce(db, { nonce, purpose: 'mandate' })
  const isBound = issued?.boundTo === nonceBinding(address, digest)
  const message = isBound
    ? mandateMessage(config, { address, terms, digest, nonce, signBy: issued.expiresAt })
    : existing?.message
  if (message === undefined) return { digest, message: null, signer: null, recovered: undefined }
  const signer = await proveSigner(db, contractWallets, { message, signature, named: address })
  const isNamed = signer !== undefined && parseWalletName(signer)?.address === address.toLowerCase()
  return { digest, message, signer: isNamed ? signer : null, recovered: signer ?? recoverSigner(message, signature) }
}

export const proveRevocation = (
  deps: ProofParts,
  mandate: MandateRow,
  { signature, address }: { signature: string; address?: Address | undefined },
): Promise<string | undefined> =>
  proveSigner(deps.db, deps.contractWallets, { message: revocationMessage(deps.config, mandate), signature, named: address })

const shareGrant = selectRow('grants.share_of_account', grants, ['id', 'accountId', 'workspaceId'], { lock: 'share' })

/** Only the owning account can create a mandate. Workspaces and grants of others return the same 404 as missing ones. */
const requireOwnWorkspaceAndGrant = async (tx: Tx, terms: MandateTerms, accountId: Uuid, at: Date): Promise<WorkspaceRecord> => {
  const workspaceId = terms.workspaceId ?? (await findPersonalWorkspaceId(tx, accountId))
  const workspace = await first(tx, lockWorkspaceShared, { id: workspaceId })
  if (workspace?.owningAccountId !== accountId) throw notFound('terms.workspace_id')
  if (workspaceStatus(workspace) !== 'active') throw new Refusal('workspace_frozen')
  if (terms.grantId) {
    const grant = await shareGrant(tx, { id: terms.grantId, accountId, workspaceId })
    if (!grant) throw notFound('terms.grant_id')
    if (grantLife(grant, at) !== 'active') throw conflict('This grant has ended.', 'grant_ended')
  }
  await requireAllowable(tx, workspaceId, terms.beneficiaryIds, 'terms.beneficiary_ids')
  return workspace
}

const readFrozen = statement('mandates.frozen_linker')`select ${grantIsFrozen('g')} as frozen from grants g where g.id = $1`

const wrongNonce = (message: string) => new Refusal('invalid_signature', { message, details: { field: 'nonce' } })

/** The same nonce, terms and wallet return the same mandate, for a caller that lost the answer. */
const requireSameRequest = (mandate: MandateRecord, input: CreateMandate, proof: MandateProof): MandateRecord => {
  const same = mandate.termsDigest === proof.digest && parseWalletName(mandate.signer)?.address === input.address.toLowerCase()
  if (!same) throw conflict('This nonce was used for other terms.', 'nonce')
  if (proof.signer !== mandate.signer)
    throw wrongSignature(proof.recovered, withHint('The signature is not by this wallet.', input.signature))
  return mandate
}

/**
 * Locks the signer's account, so that the wallet cannot be unlinked meanwhile, and the account that pays. The caller reads both
 * again. A workspace of another account is not locked: the request is refused.
 */
const lockSigner = async (tx: Tx, signer: string, terms: MandateTerms): Promise<void> => {
  const identity = await findIdentity(tx, walletKey(signer))
  if (!identity) return
  const { accountId } = identity
  const workspace = await findWorkspace(tx, terms.workspaceId ?? (await findPersonalWorkspaceId(tx, accountId)))
  const exclusive = workspace?.owningAccountId === accountId ? [workspace.balanceAccountId] : []
  await lockAccounts(tx, { exclusive, shared: [accountId] })
}

/** Locks the nonce's row, so that the second of two concurrent requests waits, and then finds the first one's mandate. */
const createOrReplay = async (tx: Tx, origin: RequestOrigin, input: CreateMandate, proof: MandateProof) => {
  const { address, terms, nonce, signature } = input
  const { digest, message, signer, recovered } = proof
  if (signer !== null) await lockSigner(tx, signer, terms)
  const issued = await lockNonce(tx, { nonce, purpose: 'mandate' })
  const { at } = tx
  const existing = await findMandateByNonce(tx, nonce)
  if (existing) return { mandate: requireSameRequest(existing, input, proof), replayed: true }
  const problems = termContradictions(terms, at)
  if (problems.length > 0) throw invalidFields(...problems)
  if (!issued) throw wrongNonce('The nonce is not one from POST /v1/intent-mandates/prepare.')
  if (issued.boundTo !== nonceBinding(address, digest))
    throw conflict('This nonce is for other terms or another wallet.', 'nonce')
  if (issued.expiresAt <= at) throw wrongNonce('The nonce has expired: prepare the mandate again.')
  if (message === null || signer === null)
    throw wrongSignature(recovered, withHint('The signature is not by this wallet over these terms.', input.signature))
  const identity = await findIdentity(tx, walletKey(signer))
  const account = identity && (await findAccount(tx, identity.accountId))
  if (!account) throw wrongSignature(address, 'This wallet belongs to no account.')
  if (account.status !== 'active') throw new Refusal('account_frozen')
  // A mandate approves in advance.
  const [linker] = await tx.query<{ frozen: boolean }>(readFrozen, [identity.linkedByGrantId])
  if (linker?.frozen) throw new Refusal('grant_frozen')
  const accountId = account.id
  const { id: workspaceId, balanceAccountId } = await requireOwnWorkspaceAndGrant(tx, terms, accountId, at)
  // Must succeed from here on.
  await consumeNonce(tx, nonce, at)
  const row: MandateRow = {
    ...terms,
    ...{ id: newId(), accountId, workspaceId, nonce, message, signer, signature },
    termsDigest: digest,
    status: 'active',
    validFrom: terms.validFrom ?? at,
    createdAt: at,
    updatedAt: at,
    revokedAt: null,
  }
  insertRow(tx, intentMandates, row)
  const mandate = { ...row, balanceAccountId, spentMinor: 0n, paymentsMade: 0 }
  const data = presentMandate(mandate, at)
  await appendEvents(tx, [{ type: 'mandate.created', accountId: balanceAccountId, workspaceId, data }])
  audit(tx, { accountId, origin, way: 'signature' }, 'mandate.create', { workspaceId, subject: row.id, after: data })
  return { mandate, replayed: false }
}

/** Requires only a signature, whose wallet identifies the account. Refusals commit their audit rows and do not use the nonce. */
export const createMandate: typeof createOrReplay = (tx, origin, input, proof) =>
  createOrReplay(tx, origin, input, proof).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.code === 'invalid_request') throw error
    audit(tx, { accountId: null, origin, way: 'signature' }, 'mandate.refused', {
      after: { reason: error.code, message: error.message, address: input.address, terms_digest: proof.digest },
    })
    throw new CommitThenThrow(error)
  })
