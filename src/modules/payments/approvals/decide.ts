import { createHash } from 'node:crypto'
import { countsUnder, roleSince } from '../../../auth/authority-sql.ts'
import type { Principal, RequestOrigin } from '../../../auth/principal.ts'
import { recoverSigner, withHint } from '../../../auth/recover-signer.ts'
import { lockAccounts } from '../../../db/account-lock.ts'
import { statement, type Tx } from '../../../db/client.ts'
import { insertRow } from '../../../db/prepare-write.ts'
import { approvalDecisions } from '../../../db/tables/approvals.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { isoTime } from '../../../lib/clock.ts'
import {
  CommitThenThrow,
  conflict,
  type ErrorDetails,
  found,
  Refusal,
  wrongPasskey,
  wrongSignature,
} from '../../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../../lib/ids.ts'
import type { ZoneSchedule } from '../../../policy/calendar.ts'
import { policiesForPayment, separatingPoliciesOf } from '../../../policy/scope-sql.ts'
import { findBeneficiaries } from '../../beneficiaries/queries.ts'
import { confirmByApproval } from '../../beneficiaries/service.ts'
import { recordPasskeyUse } from '../../identity/passkeys/service.ts'
import { moveBatch } from '../batch/change.ts'
import { endPayments, startPayments } from '../change.ts'
import { type ChainAnswers, holdsApprovals, readAuthority } from '../evaluation/authority.ts'
import { countOnApproval } from '../recheck.ts'
import { endApproval, endOfAuthority, endWithPayments, expireApproval, refreshed } from './end.ts'
import { type ApprovalRecord, currentDecisions, isCountedDecision, type LockedApproval, lockApproval } from './queries.ts'
import type { Decide, DecideBySignature } from './schema.ts'
import { messageFor, type PasskeySignature, type ProvenSigner, proofColumns, sharesOrigin, signerAuthorityOf } from './signer.ts'
import { voidRefusedDecisions } from './void.ts'

const unconfirmedIn = async (tx: Tx, { approval, beneficiary, payments }: LockedApproval): Promise<{ id: Uuid }[]> => {
  if (approval.batchId === null) return beneficiary.confirmedAt ? [] : [beneficiary]
  const payees = await findBeneficiaries(tx, [...new Set(payments.map(({ beneficiaryId }) => beneficiaryId))])
  return payees.filter(({ confirmedAt }) => confirmedAt === null).sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** The deciding account and its workspace, read after the locks. */
type Decider = {
  accountId: Uuid
  actor: Actor
  /** The grant behind the account's credential or wallet. */
  originGrantId: Uuid | null
  stop: Refusal | undefined
  zone: ZoneSchedule
  /** The decision's signature by wallet or passkey, or the problem of a passkey assertion. Null: decided by credential alone. */
  proof: Proof | { problem: string }
}
type Proof = ProvenSigner | PasskeySignature | null
/** `message_digest`: digest of the text that the approver saw. */
type DecideInput = Pick<Decide, 'decision' | 'reason' | 'message_digest'>

/** Account and time of the last decision, for an approver who decides too late. */
const lastDecision = (record: LockedApproval): ErrorDetails => {
  const current = currentDecisions(record)
  const last = record.decisions.findLast((decision) => current.includes(decision))
  return last ? { decided_by: formatId('account', last.accountId), decided_at: isoTime(last.decidedAt) } : {}
}

const ownDecision = (record: LockedApproval, accountId: Uuid) =>
  currentDecisions(record).find((earlier) => earlier.accountId === accountId)

/** Whether the same decision stands, so that nothing is left to do. With proof it can be repeated until it counts. */
const isRepeated = (record: LockedApproval, choice: DecideInput['decision'], { accountId, proof }: Decider): boolean => {
  const own = ownDecision(record, accountId)
  return own?.decision === choice && (record.approval.status !== 'pending' || !proof || isCountedDecision(record, own))
}

const refuseLate = (record: LockedApproval, accountId: Uuid): void => {
  const { status } = record.approval
  if (status === 'pending') return
  const [own, last] = [ownDecision(record, accountId), lastDecision(record)]
  if (own) throw conflict('You have already decided differently.', 'decided', { your_decision: own.decision, ...last })
  throw conflict(`The approval is ${status}.`, status === 'expired' ? 'expired' : 'decided', { status, ...last })
}

/** A passkey assertion can be used only once, so it cannot be replayed after its decision was voided. */
const requireUnused = async (tx: Tx, record: LockedApproval, actor: Actor, proof: Proof): Promise<void> => {
  if (!proof || !('passkey' in proof)) return
  const { passkey, signature } = proof
  const isReplayed = record.decisions.some((earlier) => earlier.passkeyId === passkey.id && earlier.signature === signature)
  if (!isReplayed && (await recordPasskeyUse(tx, proof))) return
  await refuseProof(tx, record, actor, wrongPasskey('it was used before, or its passkey was removed'))
}

const refuseProof = async (tx: Tx, { approval, payment }: LockedApproval, actor: Actor, refusal: Refusal): Promise<never> => {
  audit(tx, actor, 'approval.refused', { workspaceId: payment.workspaceId, subject: approval.id })
  throw new CommitThenThrow(refusal)
}

/** Ends the approval, and confirms its unconfirmed beneficiaries. */
const approve = async (tx: Tx, actor: Actor, record: LockedApproval, unconfirmed: readonly { id: Uuid }[]) => {
  const approved = await endApproval(tx, actor, record, 'approved')
  const { workspaceId, createdAt: requestedAt } = record.approval
  for (const { id } of unconfirmed) await confirmByApproval(tx, actor, { workspaceId, id, requestedAt })
  return approved
}

const cancelUnrequested = async (tx: Tx, record: LockedApproval): Promise<never> => {
  await endWithPayments(tx, endOfAuthority, record, 'cancelled')
  const message = 'The approval is cancelled: its requester may no longer request this payment.'
  throw new CommitThenThrow(conflict(message, 'decided', { status: 'cancelled' }))
}

/**
 * Starts the approved payments. A batch item that no longer passes fails alone. If a stop that can be lifted remains and no
 * payment can start, the approval stays pending and the decision is refused.
 */
const startIfApproved = async (tx: Tx, record: LockedApproval, { actor, zone }: Decider): Promise<ApprovalRecord> => {
  const { approval, lineage, payment, payments } = record
  // A scheduled payment still waits until it is due: its limits, balance and approvals are checked only then.
  if (payment.status === 'scheduled') {
    const [authorityOf, unconfirmed] = await Promise.all([readAuthority(tx, [payment], tx.at), unconfirmedIn(tx, record)])
    const authority = authorityOf(payment.id)
    if (!authority.mayRequest) return cancelUnrequested(tx, record)
    return holdsApprovals(authority) ? approve(tx, actor, record, unconfirmed) : record
  }
  const [obstacles, unconfirmed] = await Promise.all([
    countOnApproval(tx, payments, { lineage, zone }),
    unconfirmedIn(tx, record),
  ])
  // One requester asked for all payments of an approval.
  if (obstacles[0]?.kind === 'unrequested') return cancelUnrequested(tx, record)
  if (obstacles[0]?.kind === 'unapproved') return record
  // The error discards the decision, which can be made again when the stop is lifted. Other items may then fail for good.
  const stop = obstacles.every((obstacle) => obstacle) && obstacles.find((obstacle) => obstacle?.kind === 'stopped')
  if (stop) throw stop.refusal
  const approved = await approve(tx, actor, record, unconfirmed)
  const passing = payments.filter((_, index) => !obstacles[index])
  const ends = payments.flatMap((payment, index) => {
    const failure = obstacles[index]?.failure
    return failure ? [{ payment, to: 'failed' as const, actor, failure }] : []
  })
  const started = await startPayments(tx, passing)
  // Must run before any item ends, because only a batch in `processing` ends with its last item.
  if (approval.batchId) await moveBatch(tx, actor, approval.batchId, 'processing')
  return refreshed(tx, { ...record, ...approved }, [...started, ...(await endPayments(tx, ends))])
}

/** Refuses a decision on an outdated text, because the approver must read the new one. */
const requireSameText = ({ approval }: LockedApproval, { decision, message_digest: digest }: DecideInput, proof: Proof): void => {
  const message = messageFor(approval, decision)
  const isSigned = proof === null || proof.message === message
  const isShown = digest === undefined || digest === createHash('sha256').update(message).digest('hex')
  if (!isSigned || !isShown)
    throw conflict('The text has changed since it was read: read it again, then decide.', 'message_changed')
}

/** Checks every policy that applies to the payment, or to any payment of the batch. */
const readUncounted = statement('approvals.uncounted')`
  select ${roleSince('m')} + interval '24 hours' as "countsFrom", 'deciding' as act
   from members m join workspaces w on w.id = m.workspace_id
   where m.workspace_id = $1 and m.account_id = $2
     and exists (select from payments p where p.id = any($4::uuid[]) and not ${countsUnder('m', 'w', policiesForPayment('p'), '$5::timestamptz')})
   union all
   select ${roleSince('m', 'requesting')} + interval '24 hours', 'requesting'
   from members m join workspaces w on w.id = m.workspace_id
   where m.workspace_id = $1 and m.account_id = $3
     and exists (select from payments p where p.id = any($4::uuid[])
       and not ${countsUnder('m', 'w', separatingPoliciesOf('p'), '$5::timestamptz', roleSince('m', 'requesting'))})`

/** If two people are required, the approver's role must not be too recent; under separation of duties, nor the requester's. */
const requireTwoPeople = async (tx: Tx, record: LockedApproval, accountId: Uuid): Promise<void> => {
  if (!record.requiresSecondPerson) return
  const { initiatorAccountId, workspaceId } = record.payment
  const values = [workspaceId, accountId, initiatorAccountId, record.payments.map(({ id }) => id), tx.at]
  const [first] = await tx.query<{ countsFrom: Date; act: 'deciding' | 'requesting' }>(readUncounted, values)
  if (!first) return
  const whose = first.act === 'deciding' ? 'Your role to approve' : 'The role in which this was asked for'
  throw new Refusal('forbidden', {
    message: `${whose} is younger than a rule that asks for more than one person, and counts for it from ${isoTime(first.countsFrom)} on. Until then you can reject.`,
  })
}

/** The `case` avoids reading payments in the many workspaces whose policies name no approvers. */
const readUnnamed = statement('approvals.unnamed')`
  select case when exists (select from spending_policies where workspace_id = $3 and archived_at is null and cardinality(approver_ids) > 0)
     then exists (select from payments p cross join lateral ${policiesForPayment('p')} as s
       where p.id = any($1::uuid[]) and cardinality(s.approver_ids) > 0 and $2::uuid <> all(s.approver_ids)) else false end as unnamed`

/** Refuses an account that is not among the approvers named by a policy of the payment, or of any payment of the batch. */
const requireNamed = async (tx: Tx, { payment, payments }: LockedApproval, accountId: Uuid): Promise<void> => {
  const values = [payments.map(({ id }) => id), accountId, payment.workspaceId]
  const [row] = await tx.query<{ unnamed: boolean }>(readUnnamed, values)
  if (row?.unnamed !== false)
    throw new Refusal('forbidden', {
      message: 'A policy names who alone decides about this payment, and this account is not one of them.',
      details: { reason: 'not_an_approver' },
    })
}

/** A freeze stops approvals, but not rejections. */
export const stopOf = ({
  accountStatus,
  grantFrozen,
  workspace,
}: Pick<Principal, 'accountStatus' | 'grantFrozen' | 'workspace'>): Refusal | undefined => {
  if (accountStatus !== 'active') return new Refusal('account_frozen')
  if (grantFrozen) return new Refusal('grant_frozen')
  return workspace.frozen || workspace.closed ? new Refusal('workspace_frozen') : undefined
}

/**
 * Records one decision. Each approver counts once, one rejection rejects, and the last required approval starts the payment. An
 * approval counts while the authority behind it lasts. An expiry found here is recorded despite the error.
 */
const decide = async (tx: Tx, record: LockedApproval, input: DecideInput, decider: Decider): Promise<ApprovalRecord> => {
  const { accountId, actor, originGrantId, stop, proof } = decider
  const { decision: choice, reason = null } = input
  if (await sharesOrigin(tx, record, originGrantId)) throw new Refusal('separation_of_duties')
  // A client that lost the answer learns that it decided, even if a freeze or a policy would stop the decision now.
  if (isRepeated(record, choice, decider)) return record
  if (choice === 'approve' && stop) throw stop
  await requireNamed(tx, record, accountId)
  if (proof && 'problem' in proof) return refuseProof(tx, record, actor, wrongPasskey(proof.problem))
  refuseLate(record, accountId)
  if (record.approval.expiresAt <= tx.at) {
    await expireApproval(tx, record)
    throw new CommitThenThrow(conflict('The approval has expired.', 'expired', { status: 'expired' }))
  }
  requireSameText(record, input, proof)
  if (record.approval.separationOfDuties && accountId === record.payment.initiatorAccountId)
    throw new Refusal('separation_of_duties')
  if (choice === 'approve') await requireTwoPeople(tx, record, accountId)
  await requireUnused(tx, record, actor, proof)
  const row = {
    id: newId(),
    approvalId: record.approval.id,
    owningAccountId: record.payment.accountId,
    accountId,
    decision: choice,
    reason,
    ...proofColumns(proof),
    decidedAt: tx.at,
  }
  insertRow(tx, approvalDecisions, row)
  audit(tx, actor, `approval.${choice}`, {
    workspaceId: record.payment.workspaceId,
    subject: record.approval.id,
    after: { via: row.via, account: accountId },
  })
  const decided = { ...record, decisions: [...record.decisions, { ...row, voidedAt: null }] }
  return choice === 'reject' ? endWithPayments(tx, actor, decided, 'rejected') : startIfApproved(tx, decided, decider)
}

/** Locks the approval and voids decisions by contract wallets whose chains refused them before the transaction. */
const lockAfterChainAnswers = async (tx: Tx, answers: ChainAnswers, id: Uuid, workspaceId?: Uuid): Promise<LockedApproval> => {
  const record = found(await lockApproval(tx, id, workspaceId))
  const isVoided = record.approval.status === 'pending' && (await voidRefusedDecisions(tx, answers))
  return isVoided ? found(await lockApproval(tx, id)) : record
}

/** `proof`: the signature by the caller's passkey, or why the assertion was rejected. Null: no assertion was sent. */
export const decideByCredential = async (
  tx: Tx,
  principal: Principal,
  id: Uuid,
  { input, proof, answers }: { input: Decide; proof: PasskeySignature | { problem: string } | null; answers: ChainAnswers },
): Promise<ApprovalRecord> => {
  const { accountId, originGrantId, workspace: zone } = principal
  const record = await lockAfterChainAnswers(tx, answers, id, zone.id)
  return decide(tx, record, input, { accountId, actor: principal, originGrantId, stop: stopOf(principal), proof, zone })
}

export const decideBySignature = async (
  tx: Tx,
  unlocked: ApprovalRecord,
  origin: RequestOrigin,
  { input, proven, answers }: { input: DecideBySignature; proven: ProvenSigner | undefined; answers: ChainAnswers },
): Promise<ApprovalRecord> => {
  // Also locks the signer's account, as do transactions that unlink the wallet or remove the right to decide.
  await lockAccounts(tx, {
    exclusive: [unlocked.payment.accountId, unlocked.balanceAccountId],
    shared: proven ? [proven.accountId] : [],
  })
  const record = await lockAfterChainAnswers(tx, answers, unlocked.approval.id)
  const signing = proven && (await signerAuthorityOf(tx, record, proven))
  if (!signing) {
    const recovered = proven?.signer ?? recoverSigner(messageFor(record.approval, input.decision), input.signature)
    const message = "The signature must be of this approval's text, by a linked wallet of a person who may decide it."
    const unknownSigner = { accountId: null, origin, way: 'signature' }
    return refuseProof(tx, record, unknownSigner, wrongSignature(recovered, withHint(message, input.signature)))
  }
  const { accountId } = proven
  const stop = signing.stop ? new Refusal(signing.stop) : undefined
  const actor = { accountId, origin, way: 'signature' }
  return decide(tx, record, input, { accountId, actor, originGrantId: signing.linkedBy, stop, proof: proven, zone: signing })
}
