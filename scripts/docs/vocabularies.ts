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

/** A closed list used by many schemas. It gets a name, to which all schemas with exactly these values refer. */
export type Vocabulary = { name: string; values: readonly string[]; description: string }

const explained = (code: FailureCode): string => {
  const { sentence, actor, fix } = failureRow(code)
  return `\`${code}\`: ${sentence} What ${failureActors[actor]} can do: ${fix}`
}

/** Closed lists that the document refers to by name. */
export const vocabularies: readonly Vocabulary[] = [
  { name: 'ErrorCode', values: errorCodes, description: 'The error code, for programs. New codes may be added.' },
  { name: 'Permission', values: permissions, description: 'A permission of a credential. OAuth scopes use the same names.' },
  {
    name: 'Role',
    values: roles,
    description:
      'The role of a member in a workspace. `owner` and `admin` have all permissions, `approver` reads and decides, `member` reads, pays and tops up, `viewer` only reads.',
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
      '`scheduled` waits for its time and holds no money; `pending_approval` and `processing` are in progress; `unknown` was sent, and the rail has not reported a result. All others are final, except that `succeeded` becomes `returned` when the rail returns the money.',
  },
  {
    name: 'PaymentBatchStatus',
    values: paymentBatchStatuses,
    description:
      '`scheduled` until its time; `processing` until every item has ended; then `completed`, or `failed` if none was paid. `rejected`, `expired` and `cancelled` follow its approval.',
  },
  {
    name: 'TopupStatus',
    values: topupStatuses,
    description: '`expired`: no result came in time. A success that is confirmed later is still credited.',
  },
  { name: 'ApprovalStatus', values: approvalStatuses, description: 'One rejection rejects it; `cancelled` if its payment is.' },
  { name: 'ApprovalDecision', values: approvalChoices, description: 'The decision of an approver.' },
  { name: 'MandateStatus', values: mandateStatuses, description: '`exhausted`: the total of the mandate is spent.' },
  { name: 'Outcome', values: outcomes, description: 'The outcome, from mild to strict. The strictest rule decides.' },
  {
    name: 'Rule',
    values: Object.keys(rules),
    description: 'A rule that a decision checks. The reference of codes explains each rule.',
  },
  {
    name: 'FailureCode',
    values: failureCodes,
    description: `The reason that a payment or a top-up failed, and who must act. The code of the provider is in \`provider_code\`. ${failureCodes.map(explained).join(' ')}`,
  },
  {
    name: 'AuditAction',
    values: auditActions,
    description: 'The action, as `feature.verb`. New actions may be added.',
  },
  {
    name: 'ErrorReason',
    values: errorReasons,
    description: 'The reason for an error code that has several reasons: `details.reason`. New reasons may be added.',
  },
]
