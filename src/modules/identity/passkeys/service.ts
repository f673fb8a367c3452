import { and, eq, lt, or, sql } from 'drizzle-orm'
import {
  type Assertion,
  algorithms,
  challengeOf,
  type ReadAssertion,
  readAssertion,
  type readNewPasskey,
} from '../../../auth/passkey.ts'
import { type Principal, proofMaxAgeSeconds } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import { type Database, first, type Tx } from '../../../db/client.ts'
import { insertOnce, prepareWrite } from '../../../db/prepare-write.ts'
import { selectPage, selectRow, selectRows } from '../../../db/select-rows.ts'
import { passkeys } from '../../../db/tables/passkeys.ts'
import { appendEvents } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import { presenter } from '../../../http/presenter.ts'
import { CommitThenThrow, conflict, notFound, Refusal } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import type { Parts } from '../../parts.ts'
import type { OnAuthorityLost } from '../../ports.ts'
import { getAccount, lockAccountRow } from '../accounts/queries.ts'
import { type CreatePasskey, Passkey, type PasskeyOptions, type ProofOptions } from '../schema.ts'
import { mailNewPasskey } from '../security-mail.ts'
import { findSession, provesSession, renewProof } from '../sessions/service.ts'
import { issueNonce, nonceTtlSeconds, redeemNonce } from '../sign-in/nonces.ts'

export const presentPasskey = presenter(Passkey)

type PasskeyRecord = typeof passkeys.$inferSelect

export const listPasskeys = selectRows('passkeys.of_account', passkeys, ['accountId'])

export const pagePasskeys = selectPage('passkeys.page', passkeys, passkeys.accountId)

const findByCredential = selectRow('passkeys.by_credential', passkeys, ['credentialId'])

const maxPasskeys = 20

const passkeyRefusal = (message: string): Refusal =>
  new Refusal('invalid_signature', { message, details: { field: 'credential' } })

/** `boundTo`: the only account or session that can answer the challenge. */
const issueChallenge = async ({ clock, db }: Pick<Parts, 'clock' | 'db'>, purpose: 'passkey' | 'proof', boundTo: Uuid) => {
  const { nonce } = await issueNonce(db, clock.now(), { purpose, boundTo })
  return { challenge: Buffer.from(nonce, 'hex').toString('base64url'), timeout: nonceTtlSeconds * 1000 }
}

export const startPasskey = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db'>,
  { accountId }: Principal,
): Promise<PasskeyOptions> => {
  const [account, known, { challenge, timeout }] = await Promise.all([
    getAccount(deps.db, accountId),
    listPasskeys(deps.db, { accountId }),
    issueChallenge(deps, 'passkey', accountId),
  ])
  const userId = Buffer.from(accountId.replaceAll('-', ''), 'hex').toString('base64url')
  const userName = account.email ?? account.displayName ?? 'Payments'
  const host = new URL(deps.config.publicUrl).hostname
  return {
    rp: { id: host, name: host },
    user: { id: userId, name: userName, displayName: account.displayName ?? userName },
    challenge,
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout,
    excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId, type: 'public-key' })),
    // The authenticator stores the passkey, so that an approval page can request it without its id.
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  }
}

/** `read`: the result of `readNewPasskey`. Every attempt uses up the challenge, even a failed one. */
export const addPasskey = async (
  tx: Tx,
  principal: Principal,
  { name, credential, read }: CreatePasskey & { read: Awaited<ReturnType<typeof readNewPasskey>> },
): Promise<PasskeyRecord> => {
  const { accountId, originSessionId } = principal
  const nonce = challengeOf(credential.response.clientDataJSON).toString('hex')
  if (!(await redeemNonce(tx, { nonce, purpose: 'passkey', boundTo: accountId })))
    throw passkeyRefusal('The passkey answers a challenge that is unknown, used or expired. Start again.')
  if ('problem' in read) throw new CommitThenThrow(passkeyRefusal(`The passkey was not accepted: ${read.problem}.`))
  await lockAccountRow(tx, accountId)
  const own = await listPasskeys(tx, { accountId })
  if (own.length >= maxPasskeys)
    throw new CommitThenThrow(conflict(`An account has at most ${maxPasskeys} passkeys: remove one first.`, 'limit_reached'))
  const record = { id: newId(), accountId, name, ...read, originSessionId, createdAt: tx.at, lastUsedAt: null }
  if (!(await insertOnce(tx, passkeys, record, passkeys.credentialId)))
    throw new CommitThenThrow(conflict('This passkey is registered already.', 'passkey'))
  const data = presentPasskey(record)
  await appendEvents(tx, [{ type: 'passkey.added', accountId, workspaceId: null, data }])
  const after = { name, credential_id: record.credentialId, public_key: record.publicKey }
  audit(tx, principal, 'passkey.add', { subject: record.id, after })
  mailNewPasskey(tx, record)
  return record
}

const removeRow = prepareWrite('passkeys.remove', { id: 'uuid', accountId: 'uuid' }, (orm, param) =>
  orm
    .delete(passkeys)
    .where(and(eq(passkeys.id, param.id), eq(passkeys.accountId, param.accountId)))
    .returning(),
)

/** Voids the passkey's approvals of payments that are not sent yet. */
export const removePasskey = async (tx: Tx, onAuthorityLost: OnAuthorityLost, principal: Principal, id: Uuid) => {
  const { accountId } = principal
  const removed = await first(tx, removeRow, { id, accountId })
  if (!removed) throw notFound()
  const data = presentPasskey(removed)
  await appendEvents(tx, [{ type: 'passkey.removed', accountId, workspaceId: null, data }])
  audit(tx, principal, 'passkey.remove', { subject: id, before: { name: removed.name } })
  await onAuthorityLost(tx, principal, accountId)
  return removed
}

export type UsedPasskey = ReadAssertion & { passkey: PasskeyRecord }

/** Called before the transaction; `recordPasskeyUse` is called inside it. */
export const provePasskey = async (
  db: Database,
  config: Config,
  accountId: Uuid,
  { assertion, challenge }: { assertion: Assertion; challenge: string },
): Promise<UsedPasskey | { problem: string }> => {
  const passkey = await findByCredential(db, { credentialId: assertion.id })
  if (passkey?.accountId !== accountId) return { problem: 'it is not a passkey of this account' }
  const read = await readAssertion(config, passkey, { assertion, challenge })
  return 'problem' in read ? read : { ...read, passkey }
}

const recordUse = prepareWrite(
  'passkeys.note_use',
  { id: 'uuid', signCount: 'bigint', backupEligible: 'boolean', backedUp: 'boolean', at: 'timestamptz' },
  (orm, param) =>
    orm
      .update(passkeys)
      .set({ signCount: param.signCount, backupEligible: param.backupEligible, backedUp: param.backedUp, lastUsedAt: param.at })
      .where(
        and(
          eq(passkeys.id, param.id),
          or(lt(passkeys.signCount, param.signCount), and(eq(passkeys.signCount, sql`0`), sql`${param.signCount} = 0`)),
        ),
      )
      .returning({ id: passkeys.id }),
)

/** Locks the passkey. False if it is gone or its count did not grow: the assertion was reused, or the passkey was copied. */
export const recordPasskeyUse = async (tx: Tx, { passkey, signCount, backupEligible, backedUp }: UsedPasskey): Promise<boolean> =>
  (await tx.run(recordUse, { id: passkey.id, backupEligible, backedUp, signCount: BigInt(signCount), at: tx.at })).length === 1

export const startProof = async (
  deps: Pick<Parts, 'clock' | 'config' | 'db'>,
  { accountId, originSessionId: id }: Principal,
): Promise<ProofOptions> => {
  if (id === null) throw new Error('a credential without a grant has no session')
  const [session, known, { challenge, timeout }] = await Promise.all([
    findSession(deps.db, { accountId, id }),
    listPasskeys(deps.db, { accountId }),
    issueChallenge(deps, 'proof', id),
  ])
  const proving = session ? known.filter((passkey) => provesSession(session, { ...passkey, isOwn: true })) : []
  return {
    challenge,
    timeout,
    rpId: new URL(deps.config.publicUrl).hostname,
    allowCredentials: proving.map(({ credentialId }) => ({ id: credentialId, type: 'public-key' })),
    userVerification: 'required',
  }
}

/** Called before the transaction, which always uses up the challenge. */
export const examineProof = async (deps: Pick<Parts, 'config' | 'db'>, { accountId }: Principal, assertion: Assertion) => {
  const challenge = challengeOf(assertion.response.clientDataJSON)
  const used = await provePasskey(deps.db, deps.config, accountId, { assertion, challenge: challenge.toString('base64url') })
  return { nonce: challenge.toString('hex'), used }
}

/** A failed attempt uses up its challenge too, and is recorded in the audit log. */
export const proveByPasskey = async (tx: Tx, principal: Principal, { nonce, used }: Awaited<ReturnType<typeof examineProof>>) => {
  const refuse = (refusal: Refusal): never => {
    audit(tx, principal, 'session.prove_refused', { workspaceId: null, after: { reason: refusal.message } })
    throw new CommitThenThrow(refusal)
  }
  const refuseProof = (problem: string): never =>
    refuse(
      new Refusal('invalid_signature', { message: `The passkey proves nothing: ${problem}.`, details: { field: 'passkey' } }),
    )
  const { originSessionId: boundTo } = principal
  if (boundTo === null || !(await redeemNonce(tx, { nonce, purpose: 'proof', boundTo })))
    return refuseProof('its challenge is unknown, used, expired or of another session')
  if ('problem' in used) return refuseProof(used.problem)
  if (!(await recordPasskeyUse(tx, used))) return refuseProof('it was removed, or a copy of it has signed before')
  if (await renewProof(tx, principal, principal, { ...used.passkey, isOwn: true })) return
  const message =
    'This passkey was added after this session began, so it does not prove whose session it is. Use an older method.'
  const details = { max_age_seconds: proofMaxAgeSeconds, proven_at: principal.provenAt?.toISOString() ?? null }
  refuse(new Refusal('step_up_required', { message, details }))
}
