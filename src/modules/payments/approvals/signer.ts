import { and, desc, eq, sql } from 'drizzle-orm'
import { grantIsFrozen, hasDecidingRole, sharesOrigin as sharesOriginSql } from '../../../auth/authority-sql.ts'
import type { ContractWallets } from '../../../auth/contract-wallet.ts'
import { challengeFor } from '../../../auth/passkey.ts'
import type { Principal } from '../../../auth/principal.ts'
import { type Database, type Db, statement, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { auditLog } from '../../../db/tables/events.ts'
import { balanceAccountSql } from '../../../db/tables/workspaces.ts'
import type { ErrorCode } from '../../../errors/catalogue.ts'
import { found } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { ZoneSchedule } from '../../../policy/calendar.ts'
import { findIdentity, proveSigner as proveWallet, walletKey } from '../../identity/identities/queries.ts'
import { provePasskey, type UsedPasskey } from '../../identity/passkeys/service.ts'
import type { Parts } from '../../parts.ts'
import { type ApprovalRecord, findApproval } from './queries.ts'
import type { Decide, DecideBySignature } from './schema.ts'

/** A linked wallet and its signed text. Whether the wallet may decide is checked later, under locks. */
export type ProvenSigner = { signer: string; accountId: Uuid; signature: string; message: string }

export const messageFor = (
  { approveMessage, rejectMessage }: ApprovalRecord['approval'],
  decision: Decide['decision'],
): string => (decision === 'approve' ? approveMessage : rejectMessage)

const readOldTexts = prepare('approvals.old_texts', { id: 'uuid', decision: 'text' }, (orm, param) =>
  orm
    .select({ message: sql<string>`${auditLog.before} ->> ${param.decision}` })
    .from(auditLog)
    .where(and(eq(auditLog.subjectId, param.id), eq(auditLog.action, sql.raw("'approval.text_changed'"))))
    .orderBy(desc(auditLog.id))
    .limit(20),
)

/** The current text, then older ones, so that a signature of an old text is refused as outdated and not as wrong. */
const textsOf = async function* (db: Db, approval: ApprovalRecord['approval'], decision: Decide['decision']) {
  yield messageFor(approval, decision)
  if (approval.renewedAt === null) return
  for (const { message } of await db.run(readOldTexts, { id: approval.id, decision })) yield message
}

/** Runs before the transaction, because no transaction waits for the network. The text is compared again under the lock. */
export const proveSigner = async (
  db: Database,
  contractWallets: ContractWallets,
  { approval }: Pick<ApprovalRecord, 'approval'>,
  { decision, signature, address: named }: Pick<DecideBySignature, 'decision' | 'signature' | 'address'>,
): Promise<ProvenSigner | undefined> => {
  for await (const message of textsOf(db, approval, decision)) {
    const signer = await proveWallet(db, contractWallets, { message, signature, named })
    const identity = signer === undefined ? undefined : await findIdentity(db, walletKey(signer))
    if (signer !== undefined && identity) return { signer, accountId: identity.accountId, signature, message }
  }
  return undefined
}

export type PasskeySignature = UsedPasskey & { message: string }

/** Checks the caller's passkey assertion; null if none was sent. Runs before the transaction. */
export const proveCaller = async (
  deps: Pick<Parts, 'config' | 'db'>,
  { accountId, workspace }: Principal,
  approvalId: Uuid,
  { decision, passkey }: Decide,
): Promise<PasskeySignature | { problem: string } | null> => {
  if (!passkey) return null
  const record = found(await findApproval(deps.db, approvalId, workspace.id))
  let refused: { problem: string } | undefined
  for await (const message of textsOf(deps.db, record.approval, decision)) {
    const used = await provePasskey(deps.db, deps.config, accountId, { assertion: passkey, challenge: challengeFor(message) })
    if (!('problem' in used)) return { ...used, message }
    refused ??= used
  }
  return refused ?? null
}

export const proofColumns = (signed: ProvenSigner | PasskeySignature | null) => {
  const { signature, message } = signed ?? { signature: null, message: null }
  const columns = { via: 'credential' as const, signature, message, signer: null, passkeyId: null, passkeyProof: null }
  if (signed === null) return columns
  if ('signer' in signed) return { ...columns, via: 'signature' as const, signer: signed.signer }
  return { ...columns, via: 'passkey' as const, passkeyId: signed.passkey.id, passkeyProof: signed.proof }
}

type SignerAuthority = { stop: ErrorCode | null; linkedBy: Uuid | null } & ZoneSchedule

const readSignerAuthority = statement('approvals.signing')`
  select i.linked_by_grant_id as "linkedBy",
     case when a.status <> 'active' then 'account_frozen'
       when (select ${grantIsFrozen('x')} from grants x where x.id = i.linked_by_grant_id) then 'grant_frozen'
       when o.status <> 'active' or coalesce(w.frozen_at, w.suspended_at, w.closed_at) is not null then 'workspace_frozen' end as stop,
     w.time_zone as "timeZone", w.next_time_zone as "nextTimeZone", w.next_time_zone_from as "nextTimeZoneFrom"
   from identities i join accounts a on a.id = i.account_id cross join workspaces w join accounts o on o.id = ${balanceAccountSql('w')}
   where i.provider = 'wallet' and i.account_id = $1 and i.subject_key = lower($3) and w.id = $2 and a.status <> 'closed'
     and ${hasDecidingRole('a.id', 'w.id')}`

/** Undefined if the account may not decide, or the wallet is no longer linked to it. */
export const signerAuthorityOf = async (
  tx: Tx,
  record: ApprovalRecord,
  { signer, accountId }: ProvenSigner,
): Promise<SignerAuthority | undefined> =>
  (await tx.query<SignerAuthority>(readSignerAuthority, [accountId, record.payment.workspaceId, signer]))[0]

const readSharesOrigin = statement('approvals.shares_origin')`
  select ${sharesOriginSql('select unnest($1::uuid[])', 'select unnest($2::uuid[])')} as shares`

/**
 * Whether a decision and its request share an origin: the same lineage of grants, a wallet that this lineage linked, or a session
 * that began with that wallet. Otherwise an agent could approve through a sub-agent, or with a wallet that it linked itself.
 */
export const sharesOrigin = async (
  tx: Tx,
  { approval, payment }: ApprovalRecord,
  grantBehindDecision: Uuid | null,
): Promise<boolean> => {
  const requestingGrantIds = [payment.grantId, approval.initiatingGrantId].filter((id) => id !== null)
  if (grantBehindDecision === null || requestingGrantIds.length === 0) return false
  const [row] = await tx.query<{ shares: boolean }>(readSharesOrigin, [[grantBehindDecision], requestingGrantIds])
  return row?.shares ?? true
}
