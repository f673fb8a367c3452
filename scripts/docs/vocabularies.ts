import { permissions } from '../../src/auth/permissions.ts'
import { approvalChoices } from '../../src/db/tables/approvals.ts'
import { roles } from '../../src/db/tables/workspaces.ts'
import {
  approvalStatuses,
  mandateStatuses,
  paymentBatchStatuses,
  paymentStatuses,
  topupStatuses,
} from '../../src/db/transitions.ts'
import { errorCodes } from '../../src/errors/catalogue.ts'
import { type FailureCode, failureActors, failureCodes, failureRow } from '../../src/errors/failures.ts'
import { auditActions } from '../../src/events/audit-actions.ts'
import { errorReasons } from '../../src/lib/conflict-reasons.ts'
import { outcomes } from '../../src/lib/policy-answers.ts'
import { railNames } from '../../src/lib/rail-names.ts'
import { rules } from '../../src/policy/rules.ts'
import { payoutWords } from '../../src/rails/texts.ts'

/** A closed list of many places. It gets one name, and is referred to wherever exactly these values are allowed. */
export type Vocabulary = { name: string; values: readonly string[]; description: string }

const explained = (code: FailureCode): string => {
  const { sentence, actor, fix } = failureRow(code)
  return `\`${code}\`: ${sentence} What ${failureActors[actor]} can do: ${fix}`
}

/** Closed lists that the document refers to by name. */
export const vocabularies: readonly Vocabulary[] = [
  { name: 'ErrorCode', values: errorCodes, description: 'What a program decides by. The list may grow.' },
  { name: 'Permission', values: permissions, description: 'What a credential may do. The scopes of OAuth are these names.' },
  {
    name: 'Role',
    values: roles,
    description:
      'The role of a member in a workspace: owner and admin all; approver reads and decides; member reads, pays and tops up; viewer reads.',
  },
  {
    name: 'Rail',
    values: railNames,
    description: `How money reaches a beneficiary. ${railNames.map((rail) => `${rail}: ${payoutWords[rail].label}`).join('; ')}.`,
  },
  {
    name: 'PaymentStatus',
    values: paymentStatuses,
    description:
      '`scheduled` waits for its time and holds no money; `pending_approval` and `processing` are under way; `unknown` was sent, and the rail has not reported a result. All others are final, except that `succeeded` becomes `returned` when the rail returns the money.',
  },
  {
    name: 'PaymentBatchStatus',
    values: paymentBatchStatuses,
    description:
      '`scheduled` until its time; `processing` until every item has ended; then `completed`, or `failed` if none was paid. `rejected`, `expired` and `cancelled` as its approval.',
  },
  {
    name: 'TopupStatus',
    values: topupStatuses,
    description: '`expired`: no result came in time. A success that is proven later is still credited.',
  },
  { name: 'ApprovalStatus', values: approvalStatuses, description: 'One rejection rejects; `cancelled` with its payment.' },
  { name: 'ApprovalDecision', values: approvalChoices, description: 'What an approver decides.' },
  { name: 'MandateStatus', values: mandateStatuses, description: '`exhausted`: its total is spent.' },
  { name: 'Outcome', values: outcomes, description: 'Of a decision, from mild to strict; the strictest of all rules decides.' },
  {
    name: 'Rule',
    values: Object.keys(rules),
    description: 'The rules that a decision checks. The reference of codes explains each.',
  },
  {
    name: 'FailureCode',
    values: failureCodes,
    description: `Why a payment or a top-up failed, in words of this service, and who must act; the code of the provider is in \`provider_code\`. ${failureCodes.map(explained).join(' ')}`,
  },
  {
    name: 'AuditAction',
    values: auditActions,
    description: 'What was done, as `feature.verb`. The list may grow.',
  },
  {
    name: 'ErrorReason',
    values: errorReasons,
    description: 'Why a request was refused, where a code has several reasons: `details.reason`. The list may grow.',
  },
]
