import { z } from 'zod'
import { PageQuery } from '../../http/pagination.ts'
import { BodyIn, bounded, IdIn, IdOut, Metadata, Name, RecordOut, SeveralOf, TimeOut, VisibleText } from '../../http/wire.ts'
import { railNames } from '../../lib/rail-names.ts'
import { nameSources, verificationStatuses } from '../../lib/verification.ts'
import { payouts } from '../../rails/definitions.ts'
import { CreatorOut } from '../creators.ts'

const Type = VisibleText(64)

export const CreateBeneficiary = BodyIn('CreateBeneficiary', {
  type: Type,
  display_name: Name,
  payment_rail: z.enum(railNames),
  destination: bounded(64)
    .min(1)
    .describe(railNames.map((rail) => `${rail}: ${payouts[rail].destination}.`).join(' ')),
  legal_name: Name.nullish(),
  account_reference_required: z
    .boolean()
    .optional()
    .describe('Whether each payment must have an account reference. For a paybill whose bills have different account numbers.'),
  account_reference: VisibleText(20)
    .nullish()
    .describe(
      'A fixed account at the paybill. It is part of the destination: every payment uses it, and payments with another reference are refused.',
    ),
  bank_code: VisibleText(16).nullish().describe('The bank code of a bank account, from `GET /v1/banks`.'),
  metadata: Metadata.optional(),
})
export type CreateBeneficiary = z.output<typeof CreateBeneficiary>

export const Bank = RecordOut('Bank', { code: z.string(), name: z.string() })

/** The destination cannot be changed. Archive the beneficiary and create another one instead. */
export const UpdateBeneficiary = z
  .strictObject({
    type: Type,
    display_name: Name,
    legal_name: Name.nullable(),
    account_reference_required: z.boolean(),
    metadata: Metadata.describe('Replaces all metadata.'),
    status: z.enum(['active', 'frozen']),
  })
  .partial()
  .meta({ id: 'UpdateBeneficiary' })
export type UpdateBeneficiary = z.output<typeof UpdateBeneficiary>

export const confirmations = ['confirmed', 'proposed'] as const

export const Verification = RecordOut('Verification', {
  status: z
    .enum(verificationStatuses)
    .describe(
      '`match`, `close_match` and `no_match` compare the name that the rail reports with `legal_name`, or with `display_name` if there is none. `unavailable`: the rail returned no name, which proves nothing. `unverified`: the rail was not asked.',
    ),
  name: z
    .string()
    .nullable()
    .describe(
      'The name that the rail reports; M-PESA masks parts of it. Accounts without a successful payment see only the first name and initials, until a payment to this beneficiary succeeds.',
    ),
  source: z
    .enum(nameSources)
    .nullable()
    .describe(
      '`lookup`: the rail was asked. `payment`: the result of a payment reported the name. `daily_limit`: not checked yet, because the account has used its lookups for the day; the check follows the next day.',
    ),
  checked_at: TimeOut.nullable(),
})

export const NameCheck = Verification.extend({
  checked_at: TimeOut,
  payment_id: IdOut('payment').nullable().describe('The payment whose result reported the name; null for a lookup.'),
}).meta({ id: 'NameCheck' })
export type NameCheck = z.output<typeof NameCheck>

export const Beneficiary = RecordOut('Beneficiary', {
  id: IdOut('beneficiary'),
  workspace_id: IdOut('workspace'),
  type: z.string(),
  display_name: z.string(),
  legal_name: z.string().nullable(),
  payment_rail: z.enum(railNames),
  destination_mask: z.string().describe('The last characters of the destination, which is never returned in full.'),
  account_reference_required: z.boolean(),
  account_reference: z.string().nullable().describe('The fixed account at the paybill that every payment uses.'),
  bank_code: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  status: z.enum(['active', 'frozen', 'archived']),
  confirmation: z
    .enum(confirmations)
    .describe(
      '`proposed`: a key or an agent created or renamed the beneficiary, and no person has confirmed it since. Payments to it by a key or an agent need approval, unless `new_payees` in the limits says otherwise.',
    ),
  verification: Verification,
  created_by: CreatorOut,
  changed_by: CreatorOut.nullable().describe('The person, key or agent that last changed the name.'),
  created_at: TimeOut,
  updated_at: TimeOut,
})
export type Beneficiary = z.output<typeof Beneficiary>

export const CreatedBeneficiary = Beneficiary.extend({
  warnings: z
    .array(
      z.object({
        code: z.enum(['same_number']),
        beneficiary_id: IdOut('beneficiary'),
        display_name: z.string(),
        message: z.string(),
      }),
    )
    .describe(
      'The newest five active or frozen beneficiaries with the same number or account. Limits, freezes and lists of beneficiaries apply to all of them. Empty if the caller cannot read beneficiaries.',
    ),
}).meta({ id: 'CreatedBeneficiary' })
export type CreatedBeneficiary = z.output<typeof CreatedBeneficiary>

const Ids = SeveralOf(IdIn('beneficiary'), 100)

export const ListBeneficiaries = PageQuery.extend({
  payment_rail: Beneficiary.shape.payment_rail.optional(),
  confirmation: z.enum(confirmations).optional(),
  verification: z
    .enum(verificationStatuses)
    .optional()
    .describe('Only beneficiaries with this result of the name check, such as `no_match` if the rail reports another name.'),
  made_by_grant_id: IdIn('grant').optional().describe('Only beneficiaries created or renamed by this key or agent.'),
  same_number_as: IdIn('beneficiary')
    .optional()
    .describe('Only beneficiaries that are paid at the same number or account as this one, itself included.'),
  q: bounded(100).trim().min(1).optional().describe('Part of the display name or the legal name.'),
  metadata: Metadata.optional().describe('`?metadata[vendor]=17`: only beneficiaries whose metadata has all of these values.'),
  id: Ids.optional().describe('One or more beneficiary IDs, such as those in a list of payments.'),
  status: z
    .enum(['active', 'all'])
    .optional()
    .describe(
      '`active`, the default, includes frozen beneficiaries. `all` includes archived ones too. Otherwise only `id` does.',
    ),
})
export type ListBeneficiaries = z.output<typeof ListBeneficiaries>
