import { mayDecide, walletIsLinked } from '../../../auth/authority-sql.ts'
import { type Principal, type RequestOrigin, requireActiveAccount } from '../../../auth/principal.ts'
import { lockAccounts } from '../../../db/account-lock.ts'
import { statement, type Tx } from '../../../db/client.ts'
import { approvalDecisions } from '../../../db/tables/approvals.ts'
import { type Actor, audit } from '../../../events/audit.ts'
import { CommitThenThrow, conflict, notFound, Refusal, wrongSignature } from '../../../lib/errors.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import type { Deps } from '../deps.ts'
import { readGivenAuthority } from '../evaluation/authority.ts'
import { releasePayment } from '../lifecycle/end.ts'
import { countOnApproval } from '../lifecycle/recheck.ts'
import { startPayment } from '../lifecycle/start.ts'
import { lockPaymentWithAccount } from '../queries.ts'
import { endApproval } from './end.ts'
import { type ApprovalRecord, currentDecisions, findApprovalIn, lockApproval } from './queries.ts'
import type { Decide, DecideBySignature } from './schema.ts'
import type { ProvenSigner } from './signer.ts'

type DecideDeps = Pick<Deps, 'appendEvents' | 'config' | 'jobs'>

type Decision = {
  choice: Decide['decision']
  accountId: Uuid
  actor: Actor
  via: 'credential' | 'signature'
  reason: string | null
  proof: ProvenSigner | null
}

/** Lock order: accounts, payment, approval. */
const lockAll = async (tx: Tx, unlocked: ApprovalRecord): Promise<ApprovalRecord> => {
  await lockPaymentWithAccount(tx, unlocked.payment.id)
  return lockApproval(tx, unlocked.approval.id)
}

/** Expires an approval whose time is over, and its payment: the hold and the charges are given back. */
export const expireApproval = async (
  tx: Tx,
  deps: Pick<Deps, 'appendEvents' | 'config'>,
  record: ApprovalRecord,
): Promise<void> => {
  const actor: Actor = { accountId: null, origin: null, way: 'timer' }
  await releasePayment(tx, deps, record.payment, { to: 'expired', actor })
  const payment = { ...record.payment, status: 'expired' as const }
  await endApproval(tx, deps, actor, { ...record, payment }, 'expired')
}

/** An approver may take an approval back until the approval ends, and whose decision was voided may decide again. */
const alreadyDecided = (record: ApprovalRecord, { accountId, choice }: Decision): ApprovalRecord | undefined => {
  const { approval } = record
  const own = currentDecisions(record).find((earlier) => earlier.accountId === accountId)
  if (own && own.decision === choice) return record
  if (own && approval.status !== 'pending')
    throw conflict('You have decided otherwise already.', 'decided', { decision: own.decision })
  if (approval.status === 'pending') return undefined
  throw conflict(`The approval is ${approval.status}.`, approval.status === 'expired' ? 'expired' : 'decided', {
    status: approval.status,
  })
}

/** What follows from the decisions that are recorded now. */
const finish = async (tx: Tx, deps: DecideDeps, record: ApprovalRecord, { actor, choice }: Decision): Promise<ApprovalRecord> => {
  if (choice === 'reject') {
    const payment = await releasePayment(tx, deps, record.payment, { to: 'rejected', actor })
    return endApproval(tx, deps, actor, { ...record, payment }, 'rejected')
  }
  const given = (await readGivenAuthority(tx, [record.approval.id])).get(record.approval.id)
  if (!given || given.approvers.length < given.required) return record
  const failure = await countOnApproval(tx, deps, record.payment)
  const approved = await endApproval(tx, deps, actor, record, 'approved')
  const payment = failure
    ? await releasePayment(tx, deps, record.payment, { to: 'failed', actor, failure })
    : await startPayment(tx, deps, record.payment)
  return { ...approved, payment }
}

/**
 * Takes one decision. One approver counts once, one rejection rejects, and the last approval that is needed sends the payment; an approval
 * counts while what it rests on holds. What must be recorded (an expiry found here) is committed.
 */
const decide = async (tx: Tx, deps: DecideDeps, record: ApprovalRecord, decision: Decision): Promise<ApprovalRecord> => {
  const { at } = tx
  const settled = alreadyDecided(record, decision)
  if (settled) return settled
  if (record.approval.expiresAt <= at) {
    await expireApproval(tx, deps, record)
    throw new CommitThenThrow(conflict('The approval has expired.', 'expired', { status: 'expired' }))
  }
  const { accountId, actor, choice, proof, reason, via } = decision
  if (record.approval.separationOfDuties && accountId === record.payment.initiatorAccountId)
    throw new Refusal('separation_of_duties')
  const row = {
    id: newId(),
    approvalId: record.approval.id,
    accountId,
    decision: choice,
    via,
    reason,
    signer: proof?.signer ?? null,
    signature: proof?.signature ?? null,
    message: proof?.message ?? null,
    decidedAt: at,
  }
  await tx.orm.insert(approvalDecisions).values(row)
  await audit(tx, actor, at, {
    action: `approval.${choice}`,
    workspaceId: record.payment.workspaceId,
    subject: { type: 'approval', id: record.approval.id },
    after: { via, account: accountId },
  })
  return finish(tx, deps, { ...record, decisions: [...record.decisions, { ...row, voidedAt: null }] }, decision)
}

/** Credentials in the lineage of the payment's initiator never decide it: otherwise an agent could let a sub-agent approve. */
const sharesLineage = async (tx: Tx, principal: Principal, initiatingGrant: Uuid | null): Promise<boolean> => {
  if (!principal.grant || !initiatingGrant) return false
  const [row] = await tx.query<{ shares: boolean }>(
    'select ancestor_ids || id && $2::uuid[] as shares from grants where id = $1',
    [initiatingGrant, principal.grant.lineage],
  )
  return row?.shares ?? true
}

export const decideByCredential = async (
  tx: Tx,
  deps: DecideDeps,
  principal: Principal,
  id: Uuid,
  input: Decide,
): Promise<ApprovalRecord> => {
  const unlocked = await findApprovalIn(tx, principal.workspace.id, id)
  if (!unlocked) throw notFound()
  const record = await lockAll(tx, unlocked)
  if (await sharesLineage(tx, principal, record.payment.grantId)) throw new Refusal('separation_of_duties')
  if (input.decision === 'approve') requireActiveAccount(principal)
  if (input.decision === 'approve' && principal.workspace.frozen) throw new Refusal('workspace_frozen')
  return decide(tx, deps, record, {
    choice: input.decision,
    accountId: principal.accountId,
    actor: principal,
    via: 'credential',
    reason: input.reason ?? null,
    proof: null,
  })
}

const readSigning = statement(
  'approvals.signing',
  `select $1::uuid as account_id, w.frozen_at is not null or w.suspended_at is not null or w.closed_at is not null as frozen
   from workspaces w where w.id = $2 and ${walletIsLinked('$1', '$3')} and ${mayDecide('$1', 'w.id')}`,
)

/** The account whose wallet signed, if it may decide. The wallet must be linked to it now. */
const accountOf = async (tx: Tx, record: ApprovalRecord, { signer, accountId }: ProvenSigner) =>
  (await tx.query<{ account_id: Uuid; frozen: boolean }>(readSigning, [accountId, record.payment.workspaceId, signer]))[0]

/** `proven`: the wallet whose signature was verified, if there is one. */
export type SignedDecision = { origin: RequestOrigin; input: DecideBySignature; proven: ProvenSigner | undefined }

/** Decides by the signature alone. A signature of a wallet that may not decide is refused, and the refusal is audited. */
export const decideBySignature = async (
  tx: Tx,
  deps: DecideDeps,
  unlocked: ApprovalRecord,
  { origin, input, proven }: SignedDecision,
): Promise<ApprovalRecord> => {
  // The signer's account as well: who unlinks the wallet, or takes the right to decide away, locks it.
  await lockAccounts(tx, { exclusive: [unlocked.payment.accountId], shared: proven ? [proven.accountId] : [] })
  const record = await lockAll(tx, unlocked)
  const account = proven && (await accountOf(tx, record, proven))
  if (!account) {
    const actor = { accountId: null, origin, way: 'signature' }
    const subject = { type: 'approval', id: unlocked.approval.id }
    await audit(tx, actor, tx.at, { action: 'approval.refused', workspaceId: record.payment.workspaceId, subject })
    throw new CommitThenThrow(wrongSignature(proven?.signer))
  }
  if (input.decision === 'approve' && account.frozen) throw new Refusal('workspace_frozen')
  const accountId = account.account_id
  const actor = { accountId, origin, way: 'signature' }
  return decide(tx, deps, record, {
    choice: input.decision,
    accountId,
    actor,
    via: 'signature',
    reason: input.reason ?? null,
    proof: proven ?? null,
  })
}
