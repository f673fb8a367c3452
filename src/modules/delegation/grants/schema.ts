import { z } from 'zod'
import { permissions } from '../../../auth/permissions.ts'
import { grantKinds } from '../../../db/tables/grants.ts'
import { IdIn, IdOut, MinorIn, MinorOut, TimeOut } from '../../../http/wire.ts'
import { controlContradictions } from '../../../policy/contradictions.ts'
import { PaymentType } from '../../payment-type.ts'
import type { Controls } from './controls.ts'

const limit = (what: string) =>
  MinorIn.nullish().meta({ description: `${what} Absent: no such limit from this grant.`, example: '150000' })

/** Replaced whole, never merged: what is absent is not limited. Limits that can't all be meant are refused here, whoever parses them. */
export const SpendingControlsIn = z
  .strictObject({
    per_payment_limit_minor: limit('The most that one payment may be.'),
    daily_limit_minor: limit("The most that the workspace's day may add up to."),
    monthly_limit_minor: limit("The most that the workspace's month may add up to."),
    approval_threshold_minor: limit('A payment of this much or more needs an approval.'),
    payment_types: z.array(PaymentType).max(100).nullish().meta({ description: 'Only these payment types or rails.' }),
    beneficiary_ids: z.array(IdIn('beneficiary')).max(500).nullish().meta({ description: 'Only these beneficiaries.' }),
  })
  .transform((wire, context): Controls => {
    const controls: Controls = {
      perPaymentLimitMinor: wire.per_payment_limit_minor ?? null,
      dailyLimitMinor: wire.daily_limit_minor ?? null,
      monthlyLimitMinor: wire.monthly_limit_minor ?? null,
      approvalThresholdMinor: wire.approval_threshold_minor ?? null,
      paymentTypes: wire.payment_types ? [...new Set(wire.payment_types)] : null,
      beneficiaryIds: wire.beneficiary_ids ? [...new Set(wire.beneficiary_ids)] : null,
    }
    for (const { path, message } of controlContradictions(controls)) context.addIssue({ code: 'custom', path: [path], message })
    return controls
  })

export const SpendingControls = z
  .object({
    per_payment_limit_minor: MinorOut.optional(),
    daily_limit_minor: MinorOut.optional(),
    monthly_limit_minor: MinorOut.optional(),
    approval_threshold_minor: MinorOut.optional(),
    payment_types: z.array(z.string()).optional(),
    beneficiary_ids: z.array(IdOut('beneficiary')).optional(),
  })
  .meta({ id: 'SpendingControls', description: 'What is absent is not limited by this grant.' })
export type SpendingControls = z.output<typeof SpendingControls>

export const Grant = z
  .object({
    id: IdOut('grant'),
    workspace_id: IdOut('workspace'),
    kind: z.enum(grantKinds),
    label: z.string(),
    permissions: z.array(z.enum(permissions)),
    parent_grant_id: IdOut('grant').nullable(),
    spending_controls: SpendingControls,
    usage: z
      .object({ today_minor: MinorOut, month_minor: MinorOut })
      .meta({ description: 'What this grant and the ones below it have used in the current day and month of the workspace.' }),
    headroom: z
      .object({ per_payment_minor: MinorOut.nullable(), today_minor: MinorOut.nullable(), month_minor: MinorOut.nullable() })
      .meta({
        description: 'What this grant and every grant above it leave, each limit for itself; null where none of them limits.',
      }),
    frozen: z.boolean(),
    created_at: TimeOut,
    last_used_at: TimeOut.nullable(),
    expires_at: TimeOut.nullable(),
    revoked_at: TimeOut.nullable(),
  })
  .meta({ id: 'Grant' })
export type Grant = z.output<typeof Grant>

export const RevokeAll = z.strictObject({ kind: z.enum(grantKinds) })

export const UpdateGrant = z.strictObject({ spending_controls: SpendingControlsIn, frozen: z.boolean() }).partial()
export type UpdateGrant = z.output<typeof UpdateGrant>
