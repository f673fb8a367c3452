import { z } from 'zod'
import { PageQuery } from '../../http/pagination.ts'
import { bounded, IdIn, IdOut, MinorOut, RecordOut, TimeIn, TimeOut } from '../../http/wire.ts'
import { parseAnyId, type Uuid } from '../../lib/ids.ts'

const AnyId = bounded(100).transform((text, context): Uuid => {
  const id = parseAnyId(text)
  if (id) return id
  context.addIssue({ code: 'custom', message: 'must be an id' })
  return z.NEVER
})

const Action = (example: string) =>
  bounded(100).min(1).optional().describe(`One action, or all actions with a prefix that ends in \`.\`, such as \`${example}\`.`)

export const AuditEntry = RecordOut('AuditEntry', {
  id: IdOut('audit'),
  action: z.string().meta({ documentedAs: 'AuditAction' }),
  account_id: IdOut('account').nullable().describe('The account that acted; null for the service and the server shell.'),
  credential: z.object({ kind: z.string(), id: z.string().nullable() }).nullable(),
  grant_id: IdOut('grant').nullable(),
  grant_label: z.string().nullable().describe('The name of the key or agent that acted.'),
  workspace_id: IdOut('workspace').nullable(),
  subject: z.object({ type: z.string(), id: z.string() }).nullable().describe('The resource that the action changed.'),
  before: z.unknown(),
  after: z.unknown(),
  ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  request_id: z.string().nullable(),
  created_at: TimeOut,
})
export type AuditEntry = z.output<typeof AuditEntry>

export const WorkspaceAuditEntry = AuditEntry.extend({
  payment: z
    .object({
      id: IdOut('payment'),
      amount_minor: MinorOut,
      currency: z.string(),
      beneficiary: z.object({ id: IdOut('beneficiary'), display_name: z.string() }),
      batch: z
        .object({ id: IdOut('payment_batch'), name: z.string().nullable() })
        .nullable()
        .describe('The batch of the payment.'),
    })
    .nullable()
    .describe('The payment that was changed or decided. For a whole batch, its first payment.'),
}).meta({ id: 'WorkspaceAuditEntry' })
export type WorkspaceAuditEntry = z.output<typeof WorkspaceAuditEntry>

export const FindWorkspaceAudit = PageQuery.extend({
  action: Action('payment.'),
  actor: IdIn('account').optional().describe('Only actions of this account, with any of its credentials.'),
  subject_id: AnyId.optional().describe('Only actions on this resource, such as the ID of a grant, policy or beneficiary.'),
  created_after: TimeIn.optional(),
  created_before: TimeIn.optional(),
})

export type FindWorkspaceAudit = z.output<typeof FindWorkspaceAudit>

export const FindAudit = PageQuery.extend({
  account_id: IdIn('account').optional(),
  workspace_id: IdIn('workspace').optional(),
  subject_id: AnyId.optional().describe('Only actions on the resource with this ID.'),
  action: Action('grant.'),
  created_after: TimeIn.optional(),
  created_before: TimeIn.optional(),
})
export type FindAudit = z.output<typeof FindAudit>
