import { isDeepStrictEqual } from 'node:util'
import { isNotNull, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { countsUnder, requiresSecondPerson } from '../../auth/authority-sql.ts'
import { decidingRoles, policyRoles } from '../../auth/permissions.ts'
import { type Principal, requireFreshProof } from '../../auth/principal.ts'
import { lockAccounts } from '../../db/account-lock.ts'
import { type Db, inTx, statement, type Tx } from '../../db/client.ts'
import { namesSql } from '../../db/tables/columns.ts'
import { spendingPolicies } from '../../db/tables/policies.ts'
import { balanceAccountSql } from '../../db/tables/workspaces.ts'
import { catchRefusal, conflict, found, permissionMissing, Refusal } from '../../lib/errors.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { assertPresent } from '../../lib/lists.ts'
import { loosens } from '../../policy/loosening.ts'
import { type Creator, readCreator } from '../creators.ts'
import { type SweepDeps, sweepOf } from '../for-each-row.ts'
import {
  type Confirmation,
  type ConfirmText,
  confirmationOf,
  ownRequestRefusal,
  proveConfirmation,
  requireConfirmed,
} from '../identity/passkeys/signed-text-service.ts'
import type { Parts } from '../parts.ts'
import { recordSessionAct } from '../session-acts.ts'
import { workspaceStatus } from '../workspaces/present.ts'
import { findWorkspace } from '../workspaces/queries.ts'
import { type NamedTerms, type PendingResult, pendingColumns, pendingOf, type Result, resultOf } from './pending-result.ts'
import { findPolicy, lockOwnPolicy, lockPolicy, type PolicyRecord } from './queries.ts'
import { StoredChange } from './schema.ts'
import { archived, type Changer, changePolicy, newVersion, nothingPending, type PolicyEvent, requesterOf } from './write.ts'

// One person cannot weaken a policy that requires two: the change waits a day, unless another approver confirms it. The resulting
// terms are stored with their text (pending-result.ts), so exactly the terms in the text take effect.

export const ConfirmChange = confirmationOf('ConfirmPolicyChange', 'pending_change.message')

/**
 * Eligibility of a change to policy $1, requested by $2 and confirmed by $5 (null: not confirmed):
 * - `isGuarded`: the policy requires two people, it does not bind a revoked grant alone, and someone else can decide, or could
 *   in the last day (even if removed or closed since);
 * - `mayManage`: the requester may manage policies, and the grant behind the request, if any, is active;
 * - `counted`: the accounts among the two that count as approvers.
 */
const readEligibility = statement('policies.change_standing')`
  select ${requiresSecondPerson('p', 'required_approval_count')}
     and coalesce((select g.revoked_at is null from grants g where g.id = p.binds_grant_id), true) and (
       exists (select from members o join accounts a on a.id = o.account_id
         where o.workspace_id = w.id and o.account_id <> $2 and o.status = 'active' and o.role in ${namesSql(decidingRoles)} and (a.status <> 'closed' or a.updated_at > $4::timestamptz - interval '24 hours'))
       or exists (select from audit_log l where l.workspace_id = w.id and l.action in ('member.update', 'member.remove', 'member.leave')
         and l.at > $4::timestamptz - interval '24 hours'
         and l.before->>'account' <> $3 and l.before->>'status' = 'active' and l.before->>'role' in ${namesSql(decidingRoles)})) as "isGuarded",
     coalesce(m.status = 'active' and m.role in ${namesSql(policyRoles)} and a.status = 'active', false)
       and (p.pending_change_grant_id is null or coalesce((select g.revoked_at is null and g.frozen_at is null
         and coalesce(g.expires_at > $4, true) from grants g where g.id = p.pending_change_grant_id), false)) as "mayManage",
     array(select c.account_id from members c where c.workspace_id = w.id and c.account_id in ($2, $5) and c.status = 'active'
       and c.role in ${namesSql(decidingRoles)} and ${countsUnder('c', 'w', '(select p.*)', '$4::timestamptz')}) as counted
   from spending_policies p join workspaces w on w.id = p.workspace_id join accounts a on a.id = $2
     left join members m on m.workspace_id = w.id and m.account_id = a.id
   where p.id = $1`
type ChangeEligibility = { isGuarded: boolean; mayManage: boolean; counted: Uuid[] }

const eligibilityOf = async (db: Db, at: Date, policy: PolicyRecord, requester: Uuid, confirmer: Uuid | null) => {
  const values = [policy.id, requester, formatId('account', requester), at, confirmer]
  const [eligibility] = await db.query<ChangeEligibility>(readEligibility, values)
  return assertPresent(eligibility, 'a policy that was read is missing')
}

const applyResult = (tx: Tx, changer: Changer, before: PolicyRecord, result: Result, creator: Creator): Promise<PolicyRecord> =>
  result === null
    ? changePolicy(tx, changer, ['policy.archived'], before, { ...nothingPending, ...archived(tx) })
    : changePolicy(tx, changer, ['policy.updated'], before, {
        ...nothingPending,
        ...newVersion(tx, before, creator, result, result.name),
      })

/**
 * The only function that loosens a policy for a caller. Requires fresh proof; the change waits if the policy requires two people.
 * Its requester may repeat it.
 * @throws 409 `change_pending` if another change is already pending
 */
export const loosen = async (
  tx: Tx,
  principal: Principal,
  before: PolicyRecord,
  { change, result }: { change: object; result: Result },
  currency: string,
): Promise<{ policy: PolicyRecord; waits: boolean }> => {
  const { accountId: requester, originGrantId: grantId, workspace } = principal
  requireFreshProof(principal, tx.at)
  if (before.pendingChangeBy === requester && isDeepStrictEqual(before.pendingChange, change))
    return { policy: before, waits: true }
  if (before.pendingChange !== null)
    throw conflict('A change of this policy waits already: confirm or withdraw it first.', 'change_pending')
  recordSessionAct(tx, principal, {
    kind: 'loosened',
    workspaceId: workspace.id,
    recordId: before.id,
    before: String(before.version),
  })
  const [{ isGuarded }, creator] = await Promise.all([
    eligibilityOf(tx, tx.at, before, requester, null),
    readCreator(tx, principal),
  ])
  if (!isGuarded) return { policy: await applyResult(tx, principal, before, result, creator), waits: false }
  const request = { change, result, requester, grantId, renewed: false }
  const columns = await pendingColumns(tx, before, request, { currency, workspace, at: tx.at })
  return { policy: await changePolicy(tx, principal, ['policy.change_requested'], before, columns), waits: true }
}

type Rebased = { columns: Partial<PolicyRecord>; type: PolicyEvent }

/** Bases the pending change on a newer version. Withdraws it if it contradicts that version or no longer loosens it. */
const rebase = async (tx: Tx, { workspace }: Changer, policy: PolicyRecord, currency: string): Promise<Rebased> => {
  const { pendingChange, pendingChangeBy: requester, pendingChangeGrantId: grantId } = policy
  const change = StoredChange.parse(pendingChange)
  const result = catchRefusal(() => resultOf(change, policy))
  if (result instanceof Refusal || requester === null || (result !== null && !loosens(policy, result)))
    return { columns: nothingPending, type: 'policy.change_withdrawn' }
  const request = { change: pendingChange, result, requester, grantId, renewed: true }
  const columns = await pendingColumns(tx, policy, request, { currency, workspace, at: tx.at })
  return { columns, type: 'policy.change_requested' }
}

/** Applies a version that is not looser immediately, and bases a pending change on it. */
export const tighten = async (
  tx: Tx,
  principal: Principal,
  before: PolicyRecord,
  { name, ...terms }: NamedTerms,
  currency: string,
): Promise<PolicyRecord> => {
  const changes = newVersion(tx, before, await readCreator(tx, principal), terms, name)
  if (before.pendingChange === null) return changePolicy(tx, principal, ['policy.updated'], before, changes)
  const { columns, type } = await rebase(tx, principal, { ...before, ...changes }, currency)
  return changePolicy(tx, principal, ['policy.updated', type], before, { ...changes, ...columns })
}

const requirePending = (policy: PolicyRecord | undefined): PolicyRecord => found(policy?.pendingChange ? policy : undefined)

const textChangedError = (policy: PolicyRecord): Refusal =>
  conflict('The change that waits, or its text, is another one by now: read the policy again.', 'message_changed', {
    version: policy.version,
  })

const requireText = (policy: PolicyRecord): PendingResult => {
  const pending = pendingOf(policy)
  if (!pending) throw textChangedError(policy)
  return pending
}

type ChangeConfirmation = Confirmation & { message: string }

/**
 * Called before the transaction, because no transaction may wait for a chain. Returns a refusal instead of throwing it, because
 * the request may repeat one that has confirmed the change.
 */
export const proveChange = async (
  deps: Pick<Parts, 'config' | 'contractWallets' | 'db'>,
  { accountId, workspace }: Principal,
  id: Uuid,
  body: ConfirmText,
): Promise<ChangeConfirmation | Refusal> => {
  const policy = await findPolicy(deps.db, { workspaceId: workspace.id, id })
  const pending = catchRefusal(() => requireText(requirePending(policy)))
  if (pending instanceof Refusal) return pending
  return { message: pending.message, ...(await proveConfirmation(deps, accountId, pending.message, body)) }
}

/** Whether the caller can confirm the pending change now, by the rules of `confirmChange`. */
export const isConfirmable = async (
  db: Db,
  at: Date,
  { accountId, accountStatus, originGrantId, permissions, workspace }: Principal,
  policy: PolicyRecord,
): Promise<boolean> => {
  const { pendingChangeBy: requester } = policy
  if (requester === null || requester === accountId || originGrantId !== null || !permissions.has('approval.decide')) return false
  if (accountStatus !== 'active' || workspace.frozen || workspace.closed || !pendingOf(policy)) return false
  const { mayManage, counted } = await eligibilityOf(db, at, policy, requester, accountId)
  return mayManage && counted.length === 2
}

/** Both must count as approvers. Otherwise a person could invite a second account of their own, and request and confirm alone. */
export const confirmChange = async (
  tx: Tx,
  principal: Principal,
  id: Uuid,
  confirmation: ChangeConfirmation | Refusal,
): Promise<PolicyRecord> => {
  if (confirmation instanceof Refusal) throw confirmation
  const { accountId } = principal
  const before = requirePending(await lockOwnPolicy(tx, principal, id))
  const { result, message, renewed } = requireText(before)
  if (!confirmation.isCurrentText || message !== confirmation.message) throw textChangedError(before)
  if (before.pendingChangeBy === accountId) throw ownRequestRefusal('a change of a policy')
  const { mayManage, counted } = await eligibilityOf(tx, tx.at, before, before.pendingChangeBy ?? accountId, accountId)
  if (!mayManage)
    throw new Refusal('forbidden', { message: 'The account that asked for this change may no longer manage policies.' })
  if (counted.length < 2)
    throw new Refusal('forbidden', {
      message:
        'One of the two accounts became an approver less than a day ago, after the policy was made: it does not count yet.',
    })
  const signed = before.approvalProof === 'signature'
  await requireConfirmed(tx, accountId, confirmation, { text: 'pending_change.message', signed })
  // A session proven before the text was renewed may have confirmed the earlier text.
  if (confirmation.proof === null && renewed) requireFreshProof(principal, tx.at, before.pendingChangeAt)
  return applyResult(tx, principal, before, result, await requesterOf(tx, before))
}

export const withdrawChange = async (tx: Tx, principal: Principal, id: Uuid): Promise<PolicyRecord> => {
  const { accountId, permissions } = principal
  const before = requirePending(await lockOwnPolicy(tx, principal, id))
  if (before.pendingChangeBy !== accountId && !permissions.has('approval.decide')) throw permissionMissing('approval.decide')
  return changePolicy(tx, principal, ['policy.change_withdrawn'], before, nothingPending)
}

type DuePending = { id: Uuid; workspaceId: Uuid; balanceAccountId: Uuid; requester: Uuid }

/** Withdraws the change if its requester may no longer make it, applies it if due, or bases it on the current version. */
const processPending = async (tx: Tx, currency: string, { id, workspaceId, balanceAccountId, requester }: DuePending) => {
  // Locks the requester too: a transaction that removes a role or a grant locks the account that has it.
  await lockAccounts(tx, { exclusive: [balanceAccountId], shared: [requester] })
  const [before, workspace] = await Promise.all([lockPolicy(tx, { workspaceId, id }), findWorkspace(tx, workspaceId)])
  const effectiveAt = before?.pendingChangeEffectiveAt
  if (!effectiveAt || before.pendingChangeBy !== requester || !workspace) return
  // The workspace may have been frozen, or got another balance with another lock, after the sweep has read the change.
  if (workspaceStatus(workspace) !== 'active' || workspace.balanceAccountId !== balanceAccountId) return
  const changer = { accountId: null, origin: null, way: 'timer', workspace }
  const pending = pendingOf(before)
  if (pending && effectiveAt > tx.at) return
  const { mayManage } = await eligibilityOf(tx, tx.at, before, requester, null)
  if (!mayManage) {
    await changePolicy(tx, changer, ['policy.change_withdrawn'], before, nothingPending)
  } else if (pending) {
    await applyResult(tx, changer, before, pending.result, await requesterOf(tx, before))
  } else {
    const { columns, type } = await rebase(tx, changer, before, currency)
    await changePolicy(tx, changer, [type], before, columns)
  }
}

/** Pending changes of a frozen workspace stay pending. */
const sweepOfPending = (name: string, due: PgColumn, ...where: readonly SQL[]) =>
  sweepOf(
    name,
    {
      id: spendingPolicies.id,
      due,
      where: [
        isNotNull(spendingPolicies.pendingChangeEffectiveAt),
        sql`(select h.status = 'active' and w.frozen_at is null and w.suspended_at is null and w.closed_at is null
          from workspaces w join accounts h on h.id = ${sql.raw(balanceAccountSql('w'))} where w.id = ${spendingPolicies.workspaceId})`,
        ...where,
      ],
      fields: {
        workspaceId: spendingPolicies.workspaceId,
        balanceAccountId: sql<Uuid>`(select ${sql.raw(balanceAccountSql('w'))} from workspaces w where w.id = ${spendingPolicies.workspaceId})`,
        requester: sql<Uuid>`${spendingPolicies.pendingChangeBy}`,
      },
    },
    ({ config, ...deps }: SweepDeps & Pick<Parts, 'config'>, row) =>
      inTx(deps.db, (tx) => processPending(tx, config.CURRENCY, row)),
  )

export const applyDueChanges = sweepOfPending('policies.change', spendingPolicies.pendingChangeEffectiveAt)

/** Completes pending changes that an earlier release left without a result, or whose result is for another version. */
export const completePending = sweepOfPending(
  'policies.complete',
  spendingPolicies.pendingChangeAt,
  sql`(${spendingPolicies.pendingChangeVersion} is distinct from ${spendingPolicies.version}
    or (${spendingPolicies.pendingChangeResult} ->> 'asked_at')::timestamptz is distinct from ${spendingPolicies.pendingChangeAt})`,
)
