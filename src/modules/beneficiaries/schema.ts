import { z } from 'zod'
import { PageQuery } from '../../http/pagination.ts'
import { BodyIn, bounded, IdIn, IdOut, Metadata, Name, RecordOut, TimeOut, VisibleText } from '../../http/wire.ts'
import { railNames } from '../../lib/rail-names.ts'
import { nameSources, verificationStatuses } from '../../lib/verification.ts'
import { payouts } from '../../rails/definitions.ts'
import { MakerOut } from '../makers.ts'

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
    .describe('Each payment must name an account reference. For a paybill whose bills have different account numbers.'),
  account_reference: VisibleText(20)
    .nullish()
    .describe(
      'The account at the paybill, fixed. It is part of who is paid: every payment uses it, and one that names another is refused.',
    ),
  bank_code: VisibleText(16).nullish().describe('One of `GET /v1/banks`. For a bank account.'),
  metadata: Metadata.optional(),
})
export type CreateBeneficiary = z.output<typeof CreateBeneficiary>

export const Bank = RecordOut('Bank', { code: z.string(), name: z.string() })

/** The destination can't be changed: archive the beneficiary and create another. */
export const UpdateBeneficiary = z
  .strictObject({
    type: Type,
    display_name: Name,
    legal_name: Name.nullable(),
    account_reference_required: z.boolean(),
    metadata: Metadata,
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
      '`match`, `close_match`, `no_match`: the name that the rail reports for the destination, compared with `legal_name`, else `display_name`. `unavailable`: the rail gave no name, which says nothing. `unverified`: the rail was not asked.',
    ),
  name: z
    .string()
    .nullable()
    .describe(
      'The name that the rail reports; M-PESA masks parts of it. A first name and initials for an account none of whose payments has succeeded, until a payment to this beneficiary succeeds.',
    ),
  source: z
    .enum(nameSources)
    .nullable()
    .describe(
      '`lookup`: the rail was asked. `payment`: the result of a payment. `daily_limit`: not checked, because the account has used up the names of the day; the check follows on the next one.',
    ),
  checked_at: TimeOut.nullable(),
})

export const NameCheck = Verification.extend({
  checked_at: TimeOut,
  payment_id: IdOut('payment').nullable().describe('The payment whose result reported the name; null of a query.'),
}).meta({ id: 'NameCheck' })
export type NameCheck = z.output<typeof NameCheck>

export const Beneficiary = RecordOut('Beneficiary', {
  id: IdOut('beneficiary'),
  workspace_id: IdOut('workspace'),
  type: z.string(),
  display_name: z.string(),
  legal_name: z.string().nullable(),
  payment_rail: z.enum(railNames),
  destination_mask: z.string().describe('The destination is never shown: all but its last characters are *.'),
  account_reference_required: z.boolean(),
  account_reference: z.string().nullable().describe('The account at the paybill that every payment uses.'),
  bank_code: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  status: z.enum(['active', 'frozen', 'archived']),
  confirmation: z
    .enum(confirmations)
    .describe(
      '`proposed`: a key or an agent created or renamed it, and no person has confirmed it since. A payment to it by a key or an agent needs approval, unless `new_payees` of its limits says otherwise.',
    ),
  verification: Verification,
  created_by: MakerOut,
  changed_by: MakerOut.nullable().describe('Who changed its name last.'),
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
      'Beneficiaries that are paid at the same number or account: the newest five that are not archived. Limits, freezes and lists hold for all of them. Empty where the caller may not read beneficiaries.',
    ),
}).meta({ id: 'CreatedBeneficiary' })
export type CreatedBeneficiary = z.output<typeof CreatedBeneficiary>

const Ids = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(',') : value),
  z.array(IdIn('beneficiary')).min(1).max(100),
)

export const ListBeneficiaries = PageQuery.extend({
  payment_rail: Beneficiary.shape.payment_rail.optional(),
  confirmation: z.enum(confirmations).optional(),
  verification: z
    .enum(verificationStatuses)
    .optional()
    .describe('What comparing the name with the one that the rail reports says: `no_match` lists those of another name.'),
  made_by_grant_id: IdIn('grant').optional().describe('Created or renamed by this key or agent.'),
  q: bounded(100).trim().min(1).optional().describe('Part of the display name or of the legal name.'),
  metadata: Metadata.optional().describe('`?metadata[vendor]=17`: all of the named keys have these values.'),
  id: Ids.optional().describe('One or several, to read the names of those that something lists.'),
  status: z
    .enum(['active', 'all'])
    .optional()
    .describe('`all`: with the archived ones. Left out: without them, unless `id` names them.'),
})
export type ListBeneficiaries = z.output<typeof ListBeneficiaries>
