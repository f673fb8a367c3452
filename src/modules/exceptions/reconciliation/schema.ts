import { z } from 'zod'
import { providerMovementKinds } from '../../../db/tables/rails.ts'
import { PageQuery } from '../../../http/pagination.ts'
import { bounded, IdIn, IdOut, MinorOut, PositiveMinorIn, TimeIn, TimeOut, VisibleText } from '../../../http/wire.ts'
import { providers } from '../../../lib/rail-names.ts'
import { differenceKinds } from './rules.ts'

const SignedMinor = MinorOut.meta({ pattern: '^-?(0|[1-9]\\d{0,17})$', description: 'Minor units; what went out is negative.' })

export const Reconciliation = z
  .object({
    id: IdOut('reconciliation'),
    provider: z.enum(providers),
    source: z.string(),
    account: z
      .string()
      .nullable()
      .meta({ description: 'The account that the statement names as its own; null where it names none.' }),
    period_start: TimeOut.meta({ description: 'The first moment that the statement covers.' }),
    period_end: TimeOut.meta({ description: 'The last moment that the statement covers.' }),
    lines: z.int(),
    matched: z.int().meta({ description: 'How many lines agree with what was booked.' }),
    differences: z.int().meta({ description: 'How many entries disagree.' }),
    booked_minor: SignedMinor,
    stated_minor: SignedMinor,
    charges_minor: SignedMinor.meta({
      description:
        "The provider's charges, which are in neither sum. Of a comparison of balances: by how much its charges accounts fell.",
    }),
    fees_minor: MinorOut.nullable().meta({
      description: 'Our own fees for the payments of the period. Null for comparisons of earlier releases.',
    }),
    unproven: z.string().nullable().meta({
      description: 'Why it says nothing about payments of unknown outcome; null where there are none.',
    }),
    requested_by: z.string(),
    created_at: TimeOut,
  })
  .meta({ id: 'Reconciliation', description: "One comparison of the books with a provider's statement." })
export type Reconciliation = z.output<typeof Reconciliation>

export const ReconciliationDifference = z
  .object({
    id: IdOut('reconciliation'),
    reconciliation_id: IdOut('reconciliation'),
    kind: z.enum(differenceKinds),
    provider_receipt: z.string().nullable(),
    payment_id: IdOut('payment').nullable(),
    topup_id: IdOut('topup').nullable(),
    booked_minor: SignedMinor.nullable(),
    stated_minor: SignedMinor.nullable(),
    reason: z.string(),
    action: z.string(),
    offered_outcome: z.enum(['succeeded', 'failed']).nullable().meta({
      description: 'How the payment ended, by the statement; `accept` ends it so. Null where a person has to read.',
    }),
    resolved_at: TimeOut.nullable(),
    resolved_by: z.string().nullable(),
    note: z.string().nullable(),
    created_at: TimeOut,
  })
  .meta({
    id: 'ReconciliationDifference',
    description: 'A difference between the books and a statement, its likely reason, and what to do.',
  })
export type ReconciliationDifference = z.output<typeof ReconciliationDifference>

export const FindDifferences = PageQuery.extend({
  status: z.enum(['open', 'resolved']).optional(),
  reconciliation_id: IdIn('reconciliation').optional(),
})

export const longestStatement = 900_000

export const UploadStatement = z
  .strictObject({
    source: VisibleText(120).meta({ description: 'What it is, such as the name of the file.' }),
    statement: bounded(longestStatement).min(1).meta({
      description: "The provider's statement in CSV, as its portal exports it.",
    }),
  })
  .meta({ id: 'UploadStatement' })

export const ResolveDifferences = z
  .strictObject({
    ids: z.array(IdIn('reconciliation')).min(1).max(100).meta({
      description: 'The open differences; each gets its own row in the audit log. None is accepted: that is decided one by one.',
    }),
    note: VisibleText(500),
  })
  .meta({ id: 'ResolveDifferences' })
export const ReconciliationDifferences = z
  .object({ data: z.array(ReconciliationDifference) })
  .meta({ id: 'ReconciliationDifferences' })

export const ResolveDifference = z
  .strictObject({
    note: VisibleText(500),
    accept: z.boolean().default(false).meta({
      description:
        'Also ends the payment with `offered_outcome`. `failed` costs the organisation: it may wait for a second administrator (202), who does the same.',
    }),
  })
  .meta({ id: 'ResolveDifference' })

const movement = {
  provider: z.enum(providers),
  kind: z.enum(providerMovementKinds).meta({
    description:
      "settlement: the provider took its charges out of the organisation's money, so its charges account rose. bank_transfer: to or from the organisation's bank. charges: taken from the money itself, such as for a transfer.",
  }),
  direction: z.enum(['in', 'out']),
}

export const NameMovement = z
  .strictObject({
    ...movement,
    account: VisibleText(120).optional().meta({ description: "The organisation's number or account at the provider." }),
    provider_receipt: VisibleText(100).optional().meta({
      description:
        'Statements that list this receipt with this amount then agree. Without one, name the movement before the next comparison.',
    }),
    amount_minor: PositiveMinorIn,
    moved_at: TimeIn.meta({ description: 'When the money moved, by the provider.' }),
    note: VisibleText(500),
  })
  .meta({ id: 'NameMovement' })
export type NameMovement = z.output<typeof NameMovement>

export const ProviderMovement = z
  .object({
    id: IdOut('movement'),
    ...movement,
    account: z.string().nullable().meta({ description: "The organisation's number or account at the provider." }),
    provider_receipt: z.string().nullable(),
    amount_minor: MinorOut,
    moved_at: TimeOut.meta({ description: 'When the money moved, by the provider.' }),
    note: z.string(),
    named_by: z.string().meta({ description: 'The administrator who named it.' }),
    reconciliation_id: IdOut('reconciliation').nullable().meta({
      description: 'The comparison of balances that knows it. Null until the next one.',
    }),
    created_at: TimeOut,
  })
  .meta({
    id: 'ProviderMovement',
    description:
      "A movement of the organisation's own money at a provider that a person has named. Comparisons know it from then on.",
  })
export type ProviderMovement = z.output<typeof ProviderMovement>
