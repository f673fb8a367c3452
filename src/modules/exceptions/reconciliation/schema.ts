import { z } from 'zod'
import { providerMovementKinds } from '../../../db/tables/rails.ts'
import { PageQuery } from '../../../http/pagination.ts'
import {
  BodyIn,
  bounded,
  IdIn,
  IdOut,
  MinorOut,
  PositiveMinorIn,
  RecordOut,
  TimeIn,
  TimeOut,
  VisibleText,
} from '../../../http/wire.ts'
import { providers } from '../../../lib/rail-names.ts'
import { differenceKinds } from './explanations.ts'

const SignedMinor = MinorOut.meta({
  pattern: '^-?(0|[1-9]\\d{0,17})$',
  description: 'Minor units (cents); negative for outgoing money.',
})

export const Reconciliation = z
  .object({
    id: IdOut('reconciliation'),
    provider: z.enum(providers),
    source: z.string(),
    account: z.string().nullable().describe('The account that the statement is for; null if it names none.'),
    period_start: TimeOut.describe('The first moment that the statement covers.'),
    period_end: TimeOut.describe('The last moment that the statement covers.'),
    lines: z.int(),
    matched: z.int().describe('The number of lines that match the books.'),
    differences: z.int().describe('The number of entries that differ.'),
    booked_minor: SignedMinor,
    stated_minor: SignedMinor,
    charges_minor: SignedMinor.describe(
      "The provider's charges, which are in neither total. For a comparison of balances, the decrease of its charges accounts.",
    ),
    fees_minor: MinorOut.nullable().describe('The fees of this service in the period. Null for comparisons by earlier releases.'),
    unproven: z.string().nullable().describe('Why the statement proves nothing about unknown payments; null if there are none.'),
    requested_by: z.string(),
    created_at: TimeOut,
  })
  .meta({ id: 'Reconciliation', description: "A comparison of the books with a provider's statement." })
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
    offered_outcome: z
      .enum(['succeeded', 'failed'])
      .nullable()
      .describe('How the payment ended according to the statement; `accept` applies this outcome. Null if a person must check.'),
    resolved_at: TimeOut.nullable(),
    resolved_by: z.string().nullable(),
    note: z.string().nullable(),
    created_at: TimeOut,
  })
  .meta({
    id: 'ReconciliationDifference',
    description: 'A difference between the books and a statement, with its likely reason and the next step.',
  })
export type ReconciliationDifference = z.output<typeof ReconciliationDifference>

export const FindDifferences = PageQuery.extend({
  status: z.enum(['open', 'resolved']).optional(),
  reconciliation_id: IdIn('reconciliation').optional(),
})

/** In characters. */
const maxStatementLength = 900_000

export const UploadStatement = BodyIn('UploadStatement', {
  source: VisibleText(120).describe('The source of the statement, such as the file name.'),
  statement: bounded(maxStatementLength).min(1).describe("The provider's statement in CSV, as its portal exports it."),
})

export const ResolveDifferences = BodyIn('ResolveDifferences', {
  ids: z
    .array(IdIn('reconciliation'))
    .min(1)
    .max(100)
    .describe('The open differences; each gets its own audit log entry. Outcomes can be accepted only one by one.'),
  note: VisibleText(500),
})
export const ReconciliationDifferences = RecordOut('ReconciliationDifferences', { data: z.array(ReconciliationDifference) })

export const ResolveDifference = BodyIn('ResolveDifference', {
  note: VisibleText(500),
  accept: z
    .boolean()
    .default(false)
    .describe(
      'Whether to end the payment with `offered_outcome`. `failed` costs the organisation and may wait for a second administrator, who sends the same request (202).',
    ),
})

const movement = {
  provider: z.enum(providers),
  kind: z
    .enum(providerMovementKinds)
    .describe(
      "`settlement`: the provider took its charges from the organisation's money, so its charges account rose. `bank_transfer`: a transfer to or from the organisation's bank. `charges`: charges taken from the money itself, such as for a transfer.",
    ),
  direction: z.enum(['in', 'out']),
}

export const NameMovement = BodyIn('NameMovement', {
  ...movement,
  account: VisibleText(120).optional().describe("The organisation's number or account at the provider."),
  provider_receipt: VisibleText(100)
    .optional()
    .describe(
      "The provider's receipt. Statements that list it with this amount then match. Without a receipt, record the movement before the next comparison.",
    ),
  amount_minor: PositiveMinorIn,
  moved_at: TimeIn.describe('When the money moved, according to the provider.'),
  note: VisibleText(500),
})
export type NameMovement = z.output<typeof NameMovement>

export const ProviderMovement = z
  .object({
    id: IdOut('movement'),
    ...movement,
    account: z.string().nullable().describe("The organisation's number or account at the provider."),
    provider_receipt: z.string().nullable(),
    amount_minor: MinorOut,
    moved_at: TimeOut.describe('When the money moved, according to the provider.'),
    note: z.string(),
    named_by: z.string().describe('The administrator who recorded it.'),
    reconciliation_id: IdOut('reconciliation')
      .nullable()
      .describe('The comparison of balances that includes the movement. Null until the next comparison.'),
    created_at: TimeOut,
  })
  .meta({
    id: 'ProviderMovement',
    description: "A movement of the organisation's own money at a provider that a person recorded. Later comparisons include it.",
  })
export type ProviderMovement = z.output<typeof ProviderMovement>
