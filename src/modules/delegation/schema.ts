import { z } from 'zod'
import { permissions } from '../../auth/permissions.ts'
import { grantKinds } from '../../db/tables/grants.ts'
import { filtersOf } from '../../http/pagination.ts'
import { BodyIn, IdIn, IdOut, MinorIn, MinorOut, Name, RecordOut, TimeIn, TimeOut } from '../../http/wire.ts'
import { duplicateAnswers, newPayeeAnswers } from '../../lib/policy-answers.ts'
import { controlContradictions } from '../../policy/limits.ts'
import { PaymentType } from '../payment-type.ts'
import { type Controls, type ControlsChange, changeControls, noControls } from './control-rules.ts'

const once = <Item>(items: readonly Item[]) => [...new Set(items)]

const limit = (what: string) =>
  MinorIn.nullish().meta({ description: `${what} Absent: no such limit from this grant.`, example: '150000' })

const wire = z.strictObject({
  per_payment_limit_minor: limit('The most that one payment may be.'),
  daily_limit_minor: limit("The most that its payments of one day of the workspace's time zone may add up to."),
  monthly_limit_minor: limit("The most that its payments of one month of the workspace's time zone may add up to."),
  total_limit_minor: limit(
    'For one job: the most that all its payments may add up to, since it was made. It never starts again; a person raises it.',
  ),
  approval_threshold_minor: limit('A payment of this much or more needs an approval.'),
  payment_types: z.array(PaymentType).max(100).transform(once).nullish().describe('Only these payment types or rails.'),
  beneficiary_ids: z.array(IdIn('beneficiary')).max(500).transform(once).nullish().describe('Only these beneficiaries.'),
  new_payees: z
    .enum(newPayeeAnswers)
    .nullish()
    .describe(
      'What a payment gets whose beneficiary a key or an agent created or renamed, and no person has confirmed. Absent: `require_approval`.',
    ),
  on_duplicate: z
    .enum(duplicateAnswers)
    .nullish()
    .describe(
      'What a payment gets that looks like an earlier one: same payee, amount and reference. `confirm`: a 409, until `duplicate_of` names the earlier payment. Absent: no rule of this grant; an agent that a person approves by OAuth gets `confirm`.',
    ),
})

export const SpendingControlsIn = wire.transform((input, context): Controls => {
  const controls = changeControls(noControls, filtersOf(input))
  for (const { path, message } of controlContradictions(controls)) context.addIssue({ code: 'custom', path: [path], message })
  return controls
})

/** An absent limit stays, null removes it. Contradictions are found when the change is merged. */
const SpendingControlsChange = wire
  .transform((input): ControlsChange => filtersOf(input))
  .describe('A field that is left out keeps its value; null removes a limit.')

export const SpendingControls = z
  .object({
    per_payment_limit_minor: MinorOut.optional(),
    daily_limit_minor: MinorOut.optional(),
    monthly_limit_minor: MinorOut.optional(),
    total_limit_minor: MinorOut.optional(),
    approval_threshold_minor: MinorOut.optional(),
    payment_types: z.array(z.string()).optional(),
    beneficiary_ids: z.array(IdOut('beneficiary')).optional(),
    new_payees: z.enum(newPayeeAnswers).optional(),
    on_duplicate: z.enum(duplicateAnswers).optional(),
  })
  .meta({ id: 'SpendingControls', description: 'What is absent is not limited by this grant.' })
export type SpendingControls = z.output<typeof SpendingControls>

export const Grant = RecordOut('Grant', {
  id: IdOut('grant'),
  workspace_id: IdOut('workspace'),
  kind: z.enum(grantKinds),
  label: z.string(),
  permissions: z.array(z.enum(permissions)),
  parent_grant_id: IdOut('grant').nullable(),
  spending_controls: SpendingControls,
  usage: z
    .object({ today_minor: MinorOut, month_minor: MinorOut, total_minor: MinorOut })
    .describe(
      'What this grant and the ones below it have used in the current day and month of the workspace, and in all since it was made.',
    ),
  headroom: z
    .object({
      per_payment_minor: MinorOut.nullable(),
      today_minor: MinorOut.nullable(),
      month_minor: MinorOut.nullable(),
      total_minor: MinorOut.nullable(),
    })
    .describe(
      'How much the strictest limit of this grant and of every grant above it leaves, for each kind of limit; null if there is none.',
    ),
  frozen: z.boolean(),
  created_at: TimeOut,
  last_used_at: TimeOut.nullable(),
  expires_at: TimeOut.nullable(),
  revoked_at: TimeOut.nullable(),
})
export type Grant = z.output<typeof Grant>

export const RevokeAll = BodyIn('RevokeAllGrants', { kind: z.enum(grantKinds) })

export const UpdateGrant = z
  .strictObject({ spending_controls: SpendingControlsChange, frozen: z.boolean() })
  .partial()
  .meta({ id: 'UpdateGrant' })

export const ApiKey = RecordOut('ApiKey', {
  id: IdOut('api_key'),
  workspace_id: IdOut('workspace'),
  name: z.string(),
  key_prefix: z.string().describe('The first characters of the key, to recognize it. They are not a secret.'),
  last_four: z.string(),
  status: z.enum(['active', 'revoked', 'expired']),
  permissions: z.array(z.enum(permissions)),
  grant: Grant,
  created_at: TimeOut,
  last_used_at: TimeOut.nullable(),
  expires_at: TimeOut.nullable(),
  revoked_at: TimeOut.nullable().describe(
    'When it stops working. In the future while a rotated key overlaps with its successor.',
  ),
})
export type ApiKey = z.output<typeof ApiKey>

export const NewApiKey = ApiKey.extend({
  key: z.string().optional().describe('The key itself, in this answer only. A replay of the answer does not contain it.'),
}).meta({ id: 'NewApiKey' })

export const CreateApiKey = BodyIn('CreateApiKey', {
  name: Name,
  permissions: z
    .array(z.enum(permissions))
    .min(1)
    .max(100)
    .optional()
    .describe('Left out: the permissions of the caller, without those that only a person should have.'),
  spending_controls: SpendingControlsIn.optional(),
  expires_at: TimeIn.optional(),
})
export type CreateApiKey = z.output<typeof CreateApiKey>

export const UpdateApiKey = z
  .strictObject({ name: Name, spending_controls: SpendingControlsChange })
  .partial()
  .meta({ id: 'UpdateApiKey' })
export type UpdateApiKey = z.output<typeof UpdateApiKey>

/** Without a body the old key ends at once. */
export const RotateApiKey = BodyIn('RotateApiKey', {
  overlap_seconds: z
    .int()
    .min(0)
    .max(86_400)
    .optional()
    .describe('How long the old key still works beside the new one; 0 when left out.'),
}).nullish()
