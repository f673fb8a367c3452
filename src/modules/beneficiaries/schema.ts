import { z } from 'zod'
import { PageQuery } from '../../http/pagination.ts'
import { bounded, IdIn, IdOut, Metadata, Name, TimeOut, VisibleText } from '../../http/wire.ts'
import { railNames } from '../../lib/rail-names.ts'
import { nameSources, verificationStatuses } from '../../lib/verification.ts'
import { payouts } from '../../rails/definitions.ts'
import { MakerOut } from '../makers.ts'

const Type = VisibleText(64)

export const CreateBeneficiary = z
  .strictObject({
    type: Type,
    display_name: Name,
    payment_rail: z.enum(railNames),
    destination: bounded(64)
      .min(1)
      .meta({
        description: railNames.map((rail) => `${rail}: ${payouts[rail].destination}.`).join(' '),
      }),
    legal_name: Name.nullish(),
    account_reference_required: z.boolean().optional().meta({
      description: 'Each payment must name an account reference. For a paybill whose bills have different account numbers.',
    }),
    account_reference: VisibleText(20).nullish().meta({
      description:
        'The account at the paybill, fixed. It is part of who is paid: every payment uses it, and one that names another is refused.',
    }),
    bank_code: VisibleText(16).nullish().meta({ description: 'One of `GET /v1/banks`. For a bank account.' }),
    metadata: Metadata.optional(),
  })
  .meta({ id: 'CreateBeneficiary' })
export type CreateBeneficiary = z.output<typeof CreateBeneficiary>

export const Bank = z.object({ code: z.string(), name: z.string() }).meta({ id: 'Bank' })

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

export const Verification = z
  .object({
    status: z.enum(verificationStatuses).meta({
      description:
        '`match`, `close_match`, `no_match`: the name that the rail reports for the destination, compared with `legal_name`, else `display_name`. `unavailable`: the rail gave no name, which says nothing. `unverified`: the rail was not asked.',
    }),
    name: z.string().nullable().meta({
      description:
        'The name that the rail reports; M-PESA masks parts of it. A first name and initials for an account none of whose payments has succeeded, until a payment to this beneficiary succeeds.',
    }),
    source: z.enum(nameSources).nullable().meta({
      description:
        '`lookup`: the rail was asked. `payment`: the result of a payment. `daily_limit`: not checked, because the account has used up the names of the day; the check follows on the next one.',
    }),
    checked_at: TimeOut.nullable(),
  })
  .meta({ id: 'Verification' })

export const NameCheck = Verification.extend({
  checked_at: TimeOut,
  payment_id: IdOut('payment').nullable().meta({ description: 'The payment whose result reported the name; null of a query.' }),
}).meta({ id: 'NameCheck' })
export type NameCheck = z.output<typeof NameCheck>

export const Beneficiary = z
  .object({
    id: IdOut('beneficiary'),
    type: z.string(),
    display_name: z.string(),
    legal_name: z.string().nullable(),
    payment_rail: z.enum(railNames),
    destination_mask: z.string().meta({ description: 'The destination is never shown: all but its last characters are *.' }),
    account_reference_required: z.boolean(),
    account_reference: z.string().nullable().meta({ description: 'The account at the paybill that every payment uses.' }),
    bank_code: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    status: z.enum(['active', 'frozen', 'archived']),
    confirmation: z.enum(confirmations).meta({
      description:
        '`proposed`: a key or an agent created or renamed it, and no person has confirmed it since. A payment to it by a key or an agent needs approval, unless `new_payees` of its limits says otherwise.',
    }),
    verification: Verification,
    created_by: MakerOut,
    changed_by: MakerOut.nullable().meta({ description: 'Who changed its name last.' }),
    created_at: TimeOut,
    updated_at: TimeOut,
  })
  .meta({ id: 'Beneficiary' })
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
    .meta({
      description:
        'Beneficiaries that are paid at the same number or account: the newest five that are not archived. Limits, freezes and lists hold for all of them. Empty where the caller may not read beneficiaries.',
    }),
}).meta({ id: 'CreatedBeneficiary' })
export type CreatedBeneficiary = z.output<typeof CreatedBeneficiary>

const Ids = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(',') : value),
  z.array(IdIn('beneficiary')).min(1).max(100),
)

export const ListBeneficiaries = PageQuery.extend({
  payment_rail: Beneficiary.shape.payment_rail.optional(),
  confirmation: z.enum(confirmations).optional(),
  verification: z.enum(verificationStatuses).optional().meta({
    description: 'What comparing the name with the one that the rail reports says: `no_match` lists those of another name.',
  }),
  made_by_grant_id: IdIn('grant').optional().meta({ description: 'Created or renamed by this key or agent.' }),
  q: bounded(100).trim().min(1).optional().meta({ description: 'Part of the display name or of the legal name.' }),
  metadata: Metadata.optional().meta({ description: '`?metadata[vendor]=17`: all of the named keys have these values.' }),
  id: Ids.optional().meta({ description: 'One or several, to read the names of those that something lists.' }),
  status: z.enum(['active', 'all']).optional().meta({
    description: '`all`: with the archived ones. Left out: without them, unless `id` names them.',
  }),
})
export type ListBeneficiaries = z.output<typeof ListBeneficiaries>
