import { z } from 'zod'
import { permissions } from '../../auth/permissions.ts'
import { grantKinds } from '../../db/tables/grants.ts'
import { camelFields, PageQuery } from '../../http/pagination.ts'
import { BodyIn, IdIn, IdOut, MinorIn, MinorOut, Name, RecordOut, TimeIn, TimeOut } from '../../http/wire.ts'
import { duplicateAnswers, newPayeeAnswers } from '../../lib/policy-answers.ts'
import { controlContradictions } from '../../policy/limits.ts'
import { PaymentType } from '../payment-type.ts'
import { type Controls, type ControlsChange, changeControls, noControls } from './control-rules.ts'

const unique = <Item>(items: readonly Item[]) => [...new Set(items)]

const limit = (what: string) =>
  MinorIn.nullish().meta({ description: `${what} If absent, this grant has no such limit.`, example: '150000' })

const controlFields = z.strictObject({
  per_payment_limit_minor: limit('The maximum amount of one payment.'),
  daily_limit_minor: limit("The maximum total of its payments in one day, in the workspace's time zone."),
  monthly_limit_minor: limit("The maximum total of its payments in one month, in the workspace's time zone."),
  total_limit_minor: limit(
    'The maximum total of all its payments since the grant was created, for a single job. It never resets; only a person can raise it.',
  ),
  approval_threshold_minor: limit('Payments of this amount or more need an approval.'),
  payment_types: z.array(PaymentType).max(100).transform(unique).nullish().describe('The allowed payment types or rails.'),
  beneficiary_ids: z.array(IdIn('beneficiary')).max(500).transform(unique).nullish().describe('The allowed beneficiaries.'),
  new_payees: z
    .enum(newPayeeAnswers)
    .nullish()
    .describe(
      'The outcome for payments to a beneficiary that a key or an agent created or renamed and no person has confirmed. Defaults to `require_approval`.',
    ),
  on_duplicate: z
    .enum(duplicateAnswers)
    .nullish()
    .describe(
      'The outcome for payments with the same payee, amount and reference as an earlier one. `confirm` returns a 409 error until `duplicate_of` names the earlier payment. If absent, this grant has no such rule. Agents that a person approves by OAuth get `confirm`.',
    ),
})

export const SpendingControlsIn = controlFields.transform((input, context): Controls => {
  const controls = changeControls(noControls, camelFields(input))
  for (const { path, message } of controlContradictions(controls)) context.addIssue({ code: 'custom', path: [path], message })
  return controls
})

/** An absent limit stays unchanged, null removes it. Contradictions are detected when the change is merged. */
const SpendingControlsChange = controlFields
  .transform((input): ControlsChange => camelFields(input))
  .describe('Omitted fields keep their value; null removes a limit.')

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
  .meta({ id: 'SpendingControls', description: 'The limits of the grant. Absent fields are not limited.' })
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
      'The amounts that this grant and its descendants have used today and this month, in the time zone of the workspace, and in total.',
    ),
  headroom: z
    .object({
      per_payment_minor: MinorOut.nullable(),
      today_minor: MinorOut.nullable(),
      month_minor: MinorOut.nullable(),
      total_minor: MinorOut.nullable(),
    })
    .describe('The remaining amount under the strictest limit of this grant and its parent grants, for each kind of limit.'),
  frozen: z.boolean(),
  created_at: TimeOut,
  last_used_at: TimeOut.nullable(),
  expires_at: TimeOut.nullable(),
  revoked_at: TimeOut.nullable(),
})
export type Grant = z.output<typeof Grant>

export const ListGrants = PageQuery.extend({
  kind: z.enum(grantKinds).optional().describe('The kind of the credential: `api_key` or `oauth`.'),
})

export const RevokeAll = BodyIn('RevokeAllGrants', { kind: z.enum(grantKinds) })

export const UpdateGrant = z
  .strictObject({ spending_controls: SpendingControlsChange, frozen: z.boolean() })
  .partial()
  .meta({ id: 'UpdateGrant' })

export const ApiKey = RecordOut('ApiKey', {
  id: IdOut('api_key'),
  workspace_id: IdOut('workspace'),
  name: z.string(),
  key_prefix: z.string().describe('The first characters of the key, to identify it. They are not secret.'),
  last_four: z.string(),
  status: z.enum(['active', 'revoked', 'expired']),
  permissions: z.array(z.enum(permissions)),
  grant: Grant,
  created_at: TimeOut,
  last_used_at: TimeOut.nullable(),
  expires_at: TimeOut.nullable(),
  revoked_at: TimeOut.nullable().describe('When the key stops working; in the future while it overlaps with its successor.'),
})
export type ApiKey = z.output<typeof ApiKey>

export const NewApiKey = ApiKey.extend({
  key: z.string().optional().describe('The key itself, shown only once. A replay of the answer does not contain it.'),
}).meta({ id: 'NewApiKey' })

export const CreateApiKey = BodyIn('CreateApiKey', {
  name: Name,
  permissions: z
    .array(z.enum(permissions))
    .min(1)
    .max(100)
    .optional()
    .describe('Defaults to the permissions of the caller, without those that only a person should have.'),
  spending_controls: SpendingControlsIn.optional(),
  expires_at: TimeIn.optional(),
})
export type CreateApiKey = z.output<typeof CreateApiKey>

export const UpdateApiKey = z
  .strictObject({ name: Name, spending_controls: SpendingControlsChange })
  .partial()
  .meta({ id: 'UpdateApiKey' })
export type UpdateApiKey = z.output<typeof UpdateApiKey>

/** Without a body, the old key ends immediately. */
export const RotateApiKey = BodyIn('RotateApiKey', {
  overlap_seconds: z
    .int()
    .min(0)
    .max(86_400)
    .optional()
    .describe('How many seconds the old key still works beside the new one. Defaults to 0.'),
}).nullish()
