import { currentDecisions as currentDecisionsSql, isNotSent, lostAuthority } from '../../../auth/authority-sql.ts'
import { lockFurtherAccounts } from '../../../db/account-lock.ts'
import { type Db, statement, type Tx } from '../../../db/client.ts'
import { insertRow } from '../../../db/prepare-write.ts'
import { approvalVoids, type voidReasons } from '../../../db/tables/approvals.ts'
import { balanceAccountsSql } from '../../../db/tables/workspaces.ts'
import { appendEvents } from '../../../events/append.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { formatId, type Uuid } from '../../../lib/ids.ts'
import { assertPresent } from '../../../lib/lists.ts'
import type { ChainAnswers } from '../evaluation/authority.ts'
import { type ApprovalRecord, approvalEvent, currentDecisions, findApproval } from './queries.ts'

/** Approvals that account `$1` gave for payments whose right to send was not claimed. */
const unsentApprovals = `
  from approval_decisions given
  join approvals a on a.id = given.approval_id
  join payments p on p.id = a.payment_id
  where given.account_id = $1 and given.decision = 'approve'
    and ${isNotSent('p', ['not_sent', 'recorded'])}`

const readOwners = statement('approvals.owners_relying')`
  select p.account_id as owner ${unsentApprovals}
   union select holder.id from grants g join workspaces w on w.id = g.workspace_id
     cross join lateral ${balanceAccountsSql('w')} as holder(id) where g.account_id = $1 and g.revoked_at is null`
const readLost = statement('approvals.lost')`
  select lost.* from (
     select given.id as "decisionId", a.id as "approvalId", given.account_id as "accountId", p.account_id as owner, ${lostAuthority('given', 'p')} as reason ${unsentApprovals}
       and given.id in (select id from ${currentDecisionsSql('a.id')} as d)) as lost
   where lost.reason is not null order by lost."decisionId"`

type LostDecision = { decisionId: Uuid; approvalId: Uuid; accountId: Uuid; owner: Uuid; reason: (typeof voidReasons)[number] }

/** Accounts with unsent payments that this account approved, or with money that its grants can request. */
export const ownersRelyingOn = async (db: Db, accountId: Uuid): Promise<Uuid[]> =>
  (await db.query<{ owner: Uuid }>(readOwners, [accountId])).map(({ owner }) => owner)

const voidDecisions = async (tx: Tx, actor: Actor, lost: readonly LostDecision[]): Promise<void> => {
  for (const { decisionId, owner, reason } of lost)
    insertRow(tx, approvalVoids, { decisionId, owningAccountId: owner, reason, voidedAt: tx.at })
  for (const { approvalId, accountId, reason } of lost) {
    const record = assertPresent(await findApproval(tx, approvalId), 'a decision is about an approval that is not there')
    const { workspaceId } = record.payment
    await appendEvents(tx, [approvalEvent('approval.decision_voided', record)])
    const after = { account: formatId('account', accountId), reason }
    audit(tx, actor, 'approval.decision_voided', { workspaceId, subject: approvalId, after })
  }
}

/**
 * Voids an account's approvals that are no longer valid, after the transaction has changed the authority behind them. A pending
 * approval then needs another decision; a payment about to be sent fails at its recheck.
 */
export const voidLostDecisions = async (tx: Tx, actor: Actor, accountId: Uuid): Promise<void> => {
  const seen = await tx.query<LostDecision>(readLost, [accountId])
  if (seen.length === 0) return
  await lockFurtherAccounts(tx, ...new Set(seen.map(({ owner }) => owner)))
  await voidDecisions(tx, actor, await tx.query<LostDecision>(readLost, [accountId]))
}

const readRefused = statement('approvals.refused_by_chain')`
  select d.id as "decisionId", a.id as "approvalId", d.account_id as "accountId", p.account_id as owner, 'wallet' as reason
   from approval_decisions given join approvals a on a.id = given.approval_id join payments p on p.id = a.payment_id
     cross join lateral ${currentDecisionsSql('a.id')} as d
   where given.id = any($1::uuid[]) and d.id = given.id and d.decision = 'approve' order by d.id`
const chainActor: Actor = { accountId: null, origin: null, way: 'chain' }

/**
 * Voids decisions by contract wallets whose chains now reject the signature, because the owners changed. Returns whether any was
 * voided. The caller has locked the owning accounts.
 */
export const voidRefusedDecisions = async (tx: Tx, answers: ChainAnswers): Promise<boolean> => {
  const refused = [...answers].flatMap(([decisionId, answer]) => (answer === 'invalid' ? [decisionId] : []))
  if (refused.length === 0) return false
  const lost = await tx.query<LostDecision>(readRefused, [refused])
  await voidDecisions(tx, chainActor, lost)
  return lost.length > 0
}

/** Voids decisions on an outdated text. An approval by mandate stays valid: it was signed before any text existed. */
export const voidAfterNewText = (tx: Tx, actor: Actor, record: Pick<ApprovalRecord, 'approval' | 'decisions'>): Promise<void> => {
  const { id: approvalId, accountId: owner } = record.approval
  const lost = currentDecisions(record)
    .filter(({ via }) => via !== 'mandate')
    .map(({ id, accountId }): LostDecision => ({ decisionId: id, approvalId, accountId, owner, reason: 'text' }))
  return voidDecisions(tx, actor, lost)
}
