import { isNotNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { asksForTwo, countsUnder } from '../../auth/authority-sql.ts'
import { Assertion, challengeFor } from '../../auth/passkey.ts'
import { decidingRoles, policyRoles } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import { lockAccounts } from '../../db/account-lock.ts'
import { inTx, statement, type Tx } from '../../db/client.ts'
import { namesSql } from '../../db/tables/columns.ts'
import { spendingPolicies } from '../../db/tables/policies.ts'
import { bounded } from '../../http/wire.ts'
import { daysAfter } from '../../lib/clock.ts'
import {
  conflict,
  found,
  invalidFields,
  orRefusal,
  permissionMissing,
  Refusal,
  wrongPasskey,
  wrongSignature,
} from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { existing } from '../../lib/lists.ts'
import { sweepOf } from '../for-each-row.ts'
import { findIdentity, proveSigner, walletKey } from '../identity/identities/queries.ts'
import { provePasskey, recordPasskeyUse, type UsedPasskey } from '../identity/passkeys/service.ts'
import { readMaker } from '../makers.ts'
import type { Parts } from '../parts.ts'
import { findWorkspace } from '../workspaces/queries.ts'
import { findPolicy, lockOwnPolicy, lockPolicy, type PolicyRecord, pendingMessage } from './queries.ts'
import { policyTerms } from './rules.ts'
import { StoredChange } from './schema.ts'
import { archived, type Changer, changePolicy, newVersion, nothingPending } from './write.ts'

// A rule that asks for two people is not made weaker by one: the change waits a day, unless another approver confirms it, and is applied to the
// policy as it is then.

export const ConfirmChange = z
  .strictObject({
    passkey: Assertion.optional().meta({
      description:
        'An assertion of one of your passkeys, with its user verified. Its challenge is the SHA-256 of `pending_change.message`.',
    }),
    signature: bounded(20_000)
      .min(1)
      .optional()
      .meta({ description: 'The signature of a linked wallet over `pending_change.message`.' }),
    address: bounded(100).optional().meta({ description: 'The signing wallet; needed for contract wallets only.' }),
  })
  .meta({ id: 'ConfirmPolicyChange' })
export type ConfirmChange = z.output<typeof ConfirmChange>

/**
 * Of a change of policy $1: $2 asks for it, or asked for it; $5 (or nobody) confirms it.
 * - `isGuarded`: the policy asks for two, and someone else may decide, or could within the last day: to remove the other approver first gains nothing;
 * - `mayManage`: the requester may, with the grant through which it asked;
 * - `counted`: which of the two count as approvers.
 */
const readStanding = statement(
  'policies.change_standing',
  `select ${asksForTwo('p', 'required_approval_count')} and (
       exists (select from members o join accounts a on a.id = o.account_id
         where o.workspace_id = w.id and o.account_id <> $2 and o.status = 'active' and o.role in ${namesSql(decidingRoles)} and a.status <> 'closed')
       or exists (select from audit_log l where l.workspace_id = w.id and l.action in ('member.update', 'member.remove', 'member.leave')
         and l.at > $4::timestamptz - interval '24 hours'
         and l.before->>'account' <> $3 and l.before->>'status' = 'active' and l.before->>'role' in ${namesSql(decidingRoles)})) as "isGuarded",
     coalesce(m.status = 'active' and m.role in ${namesSql(policyRoles)} and a.status = 'active', false)
       and (p.pending_change_grant_id is null or coalesce((select g.revoked_at is null and g.frozen_at is null
         and coalesce(g.expires_at > $4, true) and 'policy.manage' = any(g.permissions) from grants g where g.id = p.pending_change_grant_id), false)) as "mayManage",
     array(select c.account_id from members c where c.workspace_id = w.id and c.account_id in ($2, $5) and c.status = 'active'
       and c.role in ${namesSql(decidingRoles)} and ${countsUnder('c', 'w', '(select p.*)', '$4::timestamptz')}) as counted
   from spending_policies p join workspaces w on w.id = p.workspace_id join accounts a on a.id = $2
     left join members m on m.workspace_id = w.id and m.account_id = a.id
   where p.id = $1`,
)
type Standing = { isGuarded: boolean; mayManage: boolean; counted: Uuid[] }

const standingOf = async (tx: Tx, policy: PolicyRecord, requester: Uuid, confirmer: Uuid | null): Promise<Standing> => {
  const values = [policy.id, requester, formatId('account', requester), tx.at, confirmer]
  const [standing] = await tx.query<Standing>(readStanding, values)
  return existing(standing, 'a policy that is locked is missing')
}

/** @throws 409 `change_pending` where another one waits already */
export const mustWait = async (tx: Tx, { accountId }: Principal, before: PolicyRecord): Promise<boolean> => {
  if (before.pendingChange !== null)
    throw conflict('A change of this policy waits already: confirm or withdraw it first.', 'change_pending')
  return (await standingOf(tx, before, accountId, null)).isGuarded
}

export const requestChange = (
  tx: Tx,
  principal: Principal,
  before: PolicyRecord,
  pendingChange: object,
): Promise<PolicyRecord> => {
  const { accountId, grant } = principal
  return changePolicy(tx, principal, 'policy.change_requested', before, {
    pendingChange,
    pendingChangeBy: accountId,
    pendingChangeGrantId: grant?.id ?? null,
    pendingChangeAt: tx.at,
    pendingChangeEffectiveAt: daysAfter(tx.at, 1),
  })
}

/** Undefined where it can no longer be applied. The caller has locked the policy and looked at the requester. */
const apply = async (tx: Tx, changer: Changer, before: PolicyRecord): Promise<PolicyRecord | undefined> => {
  const change = StoredChange.parse(before.pendingChange)
  if ('status' in change) return changePolicy(tx, changer, 'policy.archived', before, { ...nothingPending, ...archived(tx) })
  const { pendingChangeBy: accountId, pendingChangeGrantId: grantId } = before
  // Refused where it contradicts what the policy says by now.
  const terms = orRefusal(() => policyTerms(change, before))
  if (terms instanceof Refusal || accountId === null) return undefined
  const maker = await readMaker(tx, { accountId, grant: grantId === null ? null : { id: grantId, lineage: [], frozen: false } })
  const changes = { ...nothingPending, ...newVersion(tx, before, maker, terms, change.name) }
  return changePolicy(tx, changer, 'policy.updated', before, changes)
}

const requirePending = (policy: PolicyRecord | undefined): PolicyRecord => found(policy?.pendingChange ? policy : undefined)

type Confirmation = { message: string; proof: UsedPasskey | { problem: string } | { signer: string | undefined } | null }

/** Called before the transaction: none waits for a chain. */
export const proveConfirmation = async (
  { config, contractWallets, db }: Pick<Parts, 'config' | 'contractWallets' | 'db'>,
  { accountId, workspace }: Principal,
  id: Uuid,
  { passkey: assertion, signature, address: named }: ConfirmChange,
): Promise<Confirmation> => {
  const message = pendingMessage(requirePending(await findPolicy(db, { workspaceId: workspace.id, id })))
  if (assertion)
    return { message, proof: await provePasskey(db, config, accountId, { assertion, challenge: challengeFor(message) }) }
  if (signature === undefined) return { message, proof: null }
  return { message, proof: { signer: await proveSigner(db, contractWallets, { message, signature, named }) } }
}

const checkProof = async (tx: Tx, { accountId }: Principal, policy: PolicyRecord, { proof }: Confirmation): Promise<void> => {
  if (proof === null) {
    if (policy.approvalProof !== 'signature') return
    const message = 'or a wallet must sign `pending_change.message`: the policy asks for signatures'
    throw invalidFields({ path: 'passkey', message })
  }
  if ('signer' in proof) {
    const identity = proof.signer === undefined ? undefined : await findIdentity(tx, walletKey(proof.signer))
    if (identity?.accountId !== accountId) throw wrongSignature(proof.signer)
    return
  }
  if ('problem' in proof) throw wrongPasskey(proof.problem)
  if (!(await recordPasskeyUse(tx, proof))) throw wrongPasskey('it was used before, or its passkey was removed')
}

/** Both must count as approvers: whoever could invite a second account of their own and let it ask, or confirm, would be one person. */
export const confirmChange = async (
  tx: Tx,
  principal: Principal,
  id: Uuid,
  confirmation: Confirmation,
): Promise<PolicyRecord> => {
  const { accountId } = principal
  const before = requirePending(await lockOwnPolicy(tx, principal, id))
  if (pendingMessage(before) !== confirmation.message)
    throw conflict('Another change waits by now: read the policy again.', 'version', { version: before.version })
  if (before.pendingChangeBy === accountId)
    throw new Refusal('separation_of_duties', {
      message: 'Whoever asked for a change of a policy may not confirm it: another approver must.',
    })
  const { mayManage, counted } = await standingOf(tx, before, before.pendingChangeBy ?? accountId, accountId)
  if (!mayManage)
    throw new Refusal('forbidden', { message: 'The account that asked for this change may no longer manage policies.' })
  if (counted.length < 2)
    throw new Refusal('forbidden', {
      message:
        'One of the two accounts became an approver less than a day ago, after the policy was made: it does not count yet.',
    })
  await checkProof(tx, principal, before, confirmation)
  const after = await apply(tx, principal, before)
  if (!after) throw conflict('The policy has changed since, and this change contradicts it: withdraw it.', 'version')
  return after
}

export const withdrawChange = async (tx: Tx, principal: Principal, id: Uuid): Promise<PolicyRecord> => {
  const { accountId, permissions } = principal
  const before = requirePending(await lockOwnPolicy(tx, principal, id))
  if (before.pendingChangeBy !== accountId && !permissions.has('approval.decide')) throw permissionMissing('approval.decide')
  return changePolicy(tx, principal, 'policy.change_withdrawn', before, nothingPending)
}

/** Withdraws it where its requester may no longer make it. */
const applyDue = async (
  tx: Tx,
  { id, workspaceId, owner, requester }: { id: Uuid; workspaceId: Uuid; owner: Uuid; requester: Uuid },
): Promise<void> => {
  // Whoever takes a role or a grant away locks the account that has it.
  await lockAccounts(tx, { exclusive: [owner], shared: [requester] })
  const [before, workspace] = await Promise.all([lockPolicy(tx, { workspaceId, id }), findWorkspace(tx, workspaceId)])
  const effectiveAt = before?.pendingChangeEffectiveAt
  if (!effectiveAt || effectiveAt > tx.at || before.pendingChangeBy !== requester) return
  const changer = { accountId: null, origin: null, way: 'timer', workspace: found(workspace) }
  const { mayManage } = await standingOf(tx, before, requester, null)
  if (mayManage && (await apply(tx, changer, before))) return
  await changePolicy(tx, changer, 'policy.change_withdrawn', before, nothingPending)
}

/** What waits in a frozen workspace goes on waiting. */
export const applyDueChanges = sweepOf(
  'policies.change',
  {
    id: spendingPolicies.id,
    due: spendingPolicies.pendingChangeEffectiveAt,
    where: [
      isNotNull(spendingPolicies.pendingChangeEffectiveAt),
      sql`(select o.status = 'active' and w.frozen_at is null and w.suspended_at is null and w.closed_at is null
        from workspaces w join accounts o on o.id = w.owning_account_id where w.id = ${spendingPolicies.workspaceId})`,
    ],
    fields: {
      workspaceId: spendingPolicies.workspaceId,
      owner: sql<Uuid>`(select w.owning_account_id from workspaces w where w.id = ${spendingPolicies.workspaceId})`,
      requester: sql<Uuid>`${spendingPolicies.pendingChangeBy}`,
    },
  },
  (deps, row) => inTx(deps.db, (tx) => applyDue(tx, row)),
)
