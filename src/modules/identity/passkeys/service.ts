import { and, eq, lt, or, sql } from 'drizzle-orm'
import { grantBehind } from '../../../auth/begun-by.ts'
import {
  type Assertion,
  challengeOf,
  creationOptions,
  type ReadAssertion,
  readAssertion,
  type readNewPasskey,
} from '../../../auth/passkey.ts'
import { type Principal, requireActiveAccount } from '../../../auth/principal.ts'
import { sessionBehind } from '../../../auth/session-behind.ts'
import type { Config } from '../../../config.ts'
import type { Database } from '../../../db/client.ts'
import { first, type Tx } from '../../../db/client.ts'
import { prepareInsert, prepareWrite } from '../../../db/prepare-write.ts'
import { passkeys } from '../../../db/tables/passkeys.ts'
import { appendEvents } from '../../../events/append.ts'
import { audit } from '../../../events/audit.ts'
import { CommitThenThrow, conflict, notFound, Refusal } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import type { OnAuthorityLost } from '../../ports.ts'
import { getAccount } from '../accounts/queries.ts'
import type { Deps } from '../deps.ts'
import { lockAccount } from '../identities/lock.ts'
import { consumeNonce, issueNonce, lockNonce } from '../sign-in/wallet/nonces.ts'
import { presentPasskey } from './present.ts'
import { findPasskeyByCredential, listPasskeys, type PasskeyRecord } from './queries.ts'
import type { CreatePasskey, PasskeyOptions } from './schema.ts'

const challengeTtlSeconds = 600
const maxPasskeys = 20

const notAccepted = (message: string): Refusal => new Refusal('invalid_signature', { message, details: { field: 'credential' } })

/**
 * What the browser needs to make a passkey for the caller. The challenge is kept until it is used: bound to this account, so that nobody else's
 * passkey answers it.
 */
export const startPasskey = async (
  deps: Pick<Deps, 'clock' | 'config' | 'db'>,
  { accountId }: Principal,
): Promise<PasskeyOptions> => {
  const [account, known, { nonce }] = await Promise.all([
    getAccount(deps.db, accountId),
    listPasskeys(deps.db, accountId),
    issueNonce(deps.db, deps.clock.now(), { purpose: 'passkey', ttlSeconds: challengeTtlSeconds, boundTo: accountId }),
  ])
  const userName = account.email ?? account.displayName ?? 'Payments'
  const owner = {
    userId: Buffer.from(accountId.replaceAll('-', ''), 'hex'),
    userName,
    displayName: account.displayName ?? userName,
  }
  const challenge = Buffer.from(nonce, 'hex')
  const { rp, user, ...options } = await creationOptions(deps.config, owner, {
    challenge,
    known: known.map(({ credentialId }) => credentialId),
  })
  return {
    rp: { id: rp.id ?? '', name: rp.name },
    user,
    challenge: options.challenge,
    pubKeyCredParams: options.pubKeyCredParams,
    timeout: challengeTtlSeconds * 1000,
    excludeCredentials: (options.excludeCredentials ?? []).map(({ id }) => ({ id, type: 'public-key' })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  }
}

/**
 * Registers a passkey for the caller, of which `read` is what `readNewPasskey` found. The attempt uses the challenge up, whatever was found. The
 * account is locked: of two at once, one is the twentieth.
 */
export const addPasskey = async (
  tx: Tx,
  principal: Principal,
  { name, credential, read }: CreatePasskey & { read: Awaited<ReturnType<typeof readNewPasskey>> },
): Promise<PasskeyRecord> => {
  const { at } = tx
  const { accountId } = principal
  // Else an agent would give itself the signature that a policy asks of people.
  if (await grantBehind(tx, principal.credential, principal.grant?.id ?? null))
    throw new Refusal('forbidden', {
      message: 'A session that began with a sign-in method of an agent or a key cannot add a passkey.',
    })
  requireActiveAccount(principal)
  const nonce = challengeOf(credential.response.clientDataJSON).toString('hex')
  const issued = await lockNonce(tx, 'passkey', nonce)
  if (issued?.boundTo !== accountId || issued.isUsed || issued.expiresAt <= at)
    throw notAccepted('The passkey answers a challenge that is unknown, used or expired. Start again.')
  await consumeNonce(tx, nonce, at)
  if ('problem' in read) throw new CommitThenThrow(notAccepted(`The passkey was not accepted: ${read.problem}.`))
  await lockAccount(tx, accountId)
  const own = await listPasskeys(tx, accountId)
  if (own.length >= maxPasskeys)
    throw new CommitThenThrow(conflict(`An account has at most ${maxPasskeys} passkeys: remove one first.`, 'limit_reached'))
  if (await findPasskeyByCredential(tx, read.credentialId))
    throw new CommitThenThrow(conflict('This passkey is registered already.', 'passkey'))
  const originSessionId = await sessionBehind(tx, principal.credential)
  const record = { id: newId(), accountId, name, ...read, originSessionId, createdAt: at, lastUsedAt: null }
  insertRow(tx, record)
  const data = presentPasskey(record)
  await appendEvents(tx, [{ type: 'passkey.added', accountId, workspaceId: null, data }])
  const after = { name, credential_id: record.credentialId, public_key: record.publicKey }
  await audit(tx, principal, at, { action: 'passkey.add', subject: { type: 'passkey', id: record.id }, after })
  return record
}

const insertRow = prepareInsert('passkeys.insert', passkeys)
const removeRow = prepareWrite('passkeys.remove', { id: 'uuid', accountId: 'uuid' }, (orm, at) =>
  orm
    .delete(passkeys)
    .where(and(eq(passkeys.id, at.id), eq(passkeys.accountId, at.accountId)))
    .returning(),
)

/** Removes a passkey. What it approved and was not sent yet counts no more. */
export const removePasskey = async (
  tx: Tx,
  onAuthorityLost: OnAuthorityLost,
  principal: Principal,
  id: Uuid,
): Promise<PasskeyRecord> => {
  const { at } = tx
  const { accountId } = principal
  const removed = await first(tx, removeRow, { id, accountId })
  if (!removed) throw notFound()
  const data = presentPasskey(removed)
  await appendEvents(tx, [{ type: 'passkey.removed', accountId, workspaceId: null, data }])
  await audit(tx, principal, at, {
    action: 'passkey.remove',
    subject: { type: 'passkey', id },
    before: { name: removed.name },
  })
  await onAuthorityLost(tx, principal, accountId)
  return removed
}

/** Removes all of an account that is closed by its owner. */
export const removePasskeysOf = async (tx: Tx, onAuthorityLost: OnAuthorityLost, principal: Principal): Promise<void> => {
  for (const { id } of await listPasskeys(tx, principal.accountId)) await removePasskey(tx, onAuthorityLost, principal, id)
}

/** What a passkey of the account signed. */
export type UsedPasskey = ReadAssertion & { passkey: PasskeyRecord }

/**
 * The signature of a registered passkey of this account over `challenge`; else why it is not one. Called before the transaction; `recordPasskeyUse`
 * is called inside it.
 */
export const provePasskey = async (
  db: Database,
  config: Config,
  accountId: Uuid,
  { assertion, challenge }: { assertion: Assertion; challenge: string },
): Promise<UsedPasskey | { problem: string }> => {
  const passkey = await findPasskeyByCredential(db, assertion.id)
  if (passkey?.accountId !== accountId) return { problem: 'it is not a passkey of this account' }
  const read = await readAssertion(config, passkey, { assertion, challenge })
  return 'problem' in read ? read : { ...read, passkey }
}

const noteUse = prepareWrite(
  'passkeys.note_use',
  { id: 'uuid', signCount: 'bigint', backedUp: 'boolean', at: 'timestamptz' },
  (orm, at) =>
    orm
      .update(passkeys)
      .set({ signCount: at.signCount, backedUp: at.backedUp, lastUsedAt: at.at })
      .where(
        and(
          eq(passkeys.id, at.id),
          or(lt(passkeys.signCount, at.signCount), and(eq(passkeys.signCount, sql`0`), sql`${at.signCount} = 0`)),
        ),
      )
      .returning({ id: passkeys.id }),
)

/**
 * Records the use of a passkey, under its lock. False where it was removed meanwhile, or where its count has not grown: then the assertion was
 * used before, or a copy of the passkey exists.
 */
export const recordPasskeyUse = async (tx: Tx, { passkey, signCount, backedUp }: UsedPasskey): Promise<boolean> => {
  return (await tx.run(noteUse, { id: passkey.id, signCount: BigInt(signCount), backedUp, at: tx.at })).length === 1
}
