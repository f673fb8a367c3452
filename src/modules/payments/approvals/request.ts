import { randomBytes } from 'node:crypto'
import type { Principal } from '../../../auth/principal.ts'
import type { Config } from '../../../config.ts'
import { type Db, statement, type Tx } from '../../../db/client.ts'
import { personNameSql } from '../../../db/person-names-sql.ts'
import { insertRow } from '../../../db/prepare-write.ts'
import { approvalDecisions, approvals } from '../../../db/tables/approvals.ts'
import type { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { appendEvents } from '../../../events/append.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { assertPresent, only } from '../../../lib/lists.ts'
import { hasAccounts } from '../../../lib/rail-names.ts'
import { warningText } from '../../../policy/explain.ts'
import { factsOf } from '../../../policy/facts.ts'
import { namedApproversSql } from '../../../policy/scope-sql.ts'
import type { Decision } from '../../../policy/types.ts'
import { checkNamesAgain } from '../../beneficiaries/names-service.ts'
import { isBeingChecked } from '../../beneficiaries/payee-queries.ts'
import { destinationContext, findBeneficiary } from '../../beneficiaries/queries.ts'
import type { PaymentMandate } from '../../mandates/for-payments.ts'
import { presentWarning } from '../../policies/present.ts'
import type { BatchRow } from '../batch/queries.ts'
import type { PaymentRecord } from '../queries.ts'
import type { DecisionParts } from '../request.ts'
import { approvalMessage, type BatchLine, batchApprovalMessage, type CommonFacts, textVersion } from './message.ts'
import { type ApprovalRow, approvalEvent, findApproval, firstPaymentSql } from './queries.ts'
import { awaitedSeconds } from './renew.ts'

/** Anyone with the link can read the text, so it names people without their email addresses. */
const readRequest = statement('approvals.request')`
  select w.name as workspace, w.kind = 'team' and w.balance_account_id is null as "sharedBalance", g.label, ${personNameSql('payments.initiator_account_id')} as person, ${firstPaymentSql} as "isFirst"
   from payments join workspaces w on w.id = payments.workspace_id left join grants g on g.id = payments.grant_id where payments.id = $1`

const readApprovers = statement('approvals.named_approvers')`
  select ${personNameSql('named.id')} as name from unnest(${namedApproversSql('s.id = any($1::uuid[])')}) as named(id)`

type RequestedBy = Pick<CommonFacts, 'requester' | 'workspace' | 'sharedBalance'> & { isFirst: boolean }

export const readRequestedBy = async (db: Db, { id }: Pick<PaymentRecord, 'id'>): Promise<RequestedBy> => {
  type Row = { workspace: string; sharedBalance: boolean; person: string | null; label: string | null; isFirst: boolean }
  const { person, label, ...row } = only(await db.query<Row>(readRequest, [id]))
  const account = person ?? 'a member of the workspace'
  return { ...row, requester: label === null ? account : `${label}, an agent of ${account}` }
}

/** A keyed digest, which binds the destination without revealing it. `account`: the account at a paybill, if any. */
export const destinationDigestOf = (
  { vault, derivations }: Pick<DecisionParts, 'derivations' | 'vault'>,
  nonce: string,
  payee: typeof beneficiaries.$inferSelect,
  account: string | null = null,
): string => {
  const sealed = { ciphertext: payee.destinationCiphertext, keyId: payee.destinationKeyId }
  const destination = vault.open(sealed, destinationContext(payee.id, payee.workspaceId))
  return derivations.mac('destination-digest', [nonce, destination, ...(account ? [account] : [])].join(':')).toString('hex')
}

type NewApproval = Pick<ApprovalRow, 'batchId' | 'initiatingGrantId' | 'beneficiaryName' | 'facts'> & {
  /** The stored payment or, for a batch, its first payment. */
  payment: PaymentRecord
  needs: Pick<ApprovalRow, 'requiredApprovals' | 'separationOfDuties' | 'approvalProof' | 'policyVersions'>
  nonce: string
  /** Whether the text waits for a first name check. */
  awaitsName: boolean
  requestedBy: RequestedBy
  /** The signature of the mandate's signer, who has approved in advance. */
  mandateSignature: PaymentMandate['signature'] | null
  textFor: (choice: 'approve' | 'reject', textFacts: CommonFacts) => string
}

const insertRequest = async (tx: Tx, config: Config, requested: NewApproval): Promise<void> => {
  const { payment, needs, nonce, awaitsName, requestedBy, mandateSignature, textFor, ...row } = requested
  const { at } = tx
  const { accountId, workspaceId, currency } = payment
  const id = assertPresent(payment.approvalId, 'a held payment has an approval')
  const executeAt = payment.status === 'scheduled' ? payment.executeAt : null
  // A scheduled payment can be approved until it is due.
  const expiresAt = executeAt ?? secondsAfter(at, config.APPROVAL_TTL_HOURS * 3600)
  const ids = needs.policyVersions.map((version) => version.id)
  const names = await tx.query<{ name: string | null }>(readApprovers, [ids])
  const textFacts = {
    ...{ domain: new URL(config.publicUrl).host, approvalId: id, currency, nonce, executeAt, expiresAt },
    approverNames: names.map(({ name }) => name ?? 'an approver'),
    policyVersions: needs.policyVersions,
    ...requestedBy,
  }
  insertRow(tx, approvals, {
    ...row,
    ...needs,
    ...{ id, accountId, workspaceId, paymentId: payment.id, expiresAt },
    status: 'pending',
    textVersion,
    nameAwaitedUntil: awaitsName ? secondsAfter(at, awaitedSeconds) : null,
    approveMessage: textFor('approve', textFacts),
    rejectMessage: textFor('reject', textFacts),
    createdAt: at,
    updatedAt: at,
    noticeDueAt: at,
  })
  if (mandateSignature)
    insertRow(tx, approvalDecisions, {
      id: newId(),
      approvalId: id,
      owningAccountId: accountId,
      decision: 'approve',
      via: 'mandate',
      decidedAt: at,
      ...mandateSignature,
    })
  const record = assertPresent(await findApproval(tx, id), 'an inserted approval cannot be read')
  await appendEvents(tx, [approvalEvent('approval.requested', record)])
}

export const requestApproval = async (
  tx: Tx,
  deps: DecisionParts,
  { payment, decision, mandate }: { payment: PaymentRecord; decision: Decision; mandate: PaymentMandate | null },
  initiatingGrantId: Uuid | null,
): Promise<void> => {
  const { workspaceId, beneficiaryId, currency, rail, accountReference } = payment
  const [payee, requestedBy] = await Promise.all([findBeneficiary(tx, workspaceId, beneficiaryId), readRequestedBy(tx, payment)])
  if (!payee) throw new Error('a held payment has a beneficiary')
  await checkNamesAgain(tx, deps.rails, [payee.id])
  const nonce = randomBytes(16).toString('hex')
  const { requiredApprovals, separationOfDuties, approvalProof, policyVersions } = decision
  const awaitsName = isBeingChecked(deps.rails, payee)
  const textFacts = {
    ...payee,
    ...payment,
    paymentId: payment.id,
    beneficiaryName: payee.displayName,
    isBeingChecked: awaitsName,
    warnings: [
      ...decision.warnings.map((warning) => warningText(warning, currency)),
      ...(requestedBy.isFirst ? ['First payment to this destination.'] : []),
    ],
    destinationDigest: destinationDigestOf(deps, nonce, payee, hasAccounts(rail) ? accountReference : null),
  }
  const factLine = {
    ...payment,
    ...payee,
    payeeName: payee.displayName,
    lastAmountMinor: null,
    isFirst: requestedBy.isFirst,
    warnings: decision.warnings.map(presentWarning),
  }
  await insertRequest(tx, deps.config, {
    payment,
    initiatingGrantId,
    nonce,
    requestedBy,
    awaitsName,
    beneficiaryName: payee.displayName,
    batchId: null,
    facts: factsOf([factLine]),
    needs: { requiredApprovals, separationOfDuties, approvalProof, policyVersions },
    mandateSignature: decision.approvalsByMandate > 0 && mandate ? mandate.signature : null,
    textFor: (choice, common) => approvalMessage(choice, { ...textFacts, ...common }),
  })
}

/** Creates the one approval of a batch, whose row and payments are already written. */
export const requestBatchApproval = async (
  tx: Tx,
  { config, rails }: Pick<DecisionParts, 'config' | 'rails'>,
  {
    principal,
    batch,
    lines,
    ...requested
  }: { principal: Principal; batch: BatchRow; lines: readonly BatchLine[] } & Pick<NewApproval, 'payment' | 'needs' | 'nonce'>,
): Promise<void> => {
  const { payment } = requested
  const requestedBy = await readRequestedBy(tx, payment)
  const warningFacts = factsOf(lines)
  await checkNamesAgain(tx, rails, [...new Set(lines.map(({ beneficiaryId }) => beneficiaryId))])
  await insertRequest(tx, config, {
    ...requested,
    facts: warningFacts,
    batchId: batch.id,
    initiatingGrantId: principal.originGrantId,
    requestedBy,
    beneficiaryName: lines[0]?.payeeName ?? '',
    awaitsName: lines.some((line) => line.isBeingChecked),
    mandateSignature: null,
    textFor: (choice, common) =>
      batchApprovalMessage(choice, { ...batch, batchId: batch.id, lines, facts: warningFacts, ...common }),
  })
}
