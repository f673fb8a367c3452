import { z } from 'zod'
import { permissions } from '../auth/permissions.ts'
import { errorCodes } from '../errors/catalogue.ts'
import { errorReasons } from '../lib/conflict-reasons.ts'
import type { DetailName } from '../lib/errors.ts'
import { minorPattern } from '../lib/money.ts'

const FieldProblem = z.object({
  path: z
    .string()
    .meta({ description: 'Where: `amount_minor`, `spending_controls.daily_limit_minor`.', example: 'amount_minor' }),
  message: z.string().meta({ example: 'has no decimal point: 50.00 is "5000" in minor units' }),
})

const text = (description: string, more: object = {}) =>
  z
    .string()
    .optional()
    .meta({ ...more, description })

const count = (description: string) => z.number().int().optional().describe(description)
const listOf = (item: z.ZodType, description: string) => z.array(item).optional().describe(description)
const minor = (description: string) => text(description, { pattern: minorPattern.source })
const time = (description: string) => z.string().nullable().optional().meta({ format: 'date-time', description })

const Existing = z
  .object({
    payment_id: text('Of a payment.'),
    payment_batch_id: text('Of a payment batch.'),
    topup_id: text('Of a top-up.'),
    beneficiary_id: text('Of a beneficiary.'),
    status: z.string().describe('Its status now.'),
    receipt: z.string().nullable().optional().describe("The rail's receipt of a payment or a top-up."),
    amount_minor: minor('In minor units. A deposit of any amount has none.'),
    created_at: z.string().meta({ format: 'date-time', description: 'When it was created.' }),
    completed_at: time('When it ended; null while it has not.'),
  })
  .meta({ id: 'ExistingRecord', description: 'The record that a refusal names, as it is now.' })
export type Existing = z.output<typeof Existing>

const existing = Existing.optional().describe(
  'What became of the record that is named, for callers that may read it: a payment with status `succeeded` was paid.',
)

const duplicates = {
  existing_payment_id: text(
    'Of `possible_duplicate`: the payment that it looks like. Of `idempotency`: the one that was created with this key.',
  ),
  same_as_index: count('Of an item: the index of the earlier item that it looks like.'),
  same_as_row: count('Of a row in CSV: the earlier row that it looks like.'),
  existing,
}

const ItemProblem = z.looseObject({
  index: z.number().int().describe('Which item of the request, from 0.'),
  row: count('Of a list in CSV: its row, as a spreadsheet numbers it.'),
  error: z.string().meta({ enum: errorCodes }),
  message: z.string(),
  param: text('The field that is wrong.'),
  ...duplicates,
  fix: text('What to do, in a sentence.'),
})

const details = {
  fields: listOf(FieldProblem, 'Of a 400: what is wrong with each field, the first 100 of them.'),
  items: listOf(ItemProblem, 'Of a list of payments: which items cannot be paid, the first 100 faults.'),
  more: count('How many faults are not listed.'),
  field: text('Of a 404: the field or header whose id does not exist. Of a signature: what is wrong.'),
  reason: text(
    'Why there is a conflict. Of a 503: the database has lost the request that used this key. `upgrade_running`: an operator has not finished an upgrade yet. Of a 403, `not_an_approver`: a policy names who alone decides; `sign_up`: this person may not begin an account here.',
    { enum: errorReasons },
  ),
  ...duplicates,
  existing_payment_batch_id: text('Of `idempotency`: the list that was created with this key.'),
  existing_topup_id: text('Of `idempotency`: the top-up that was created with this key.'),
  existing_beneficiary_id: text('Of `idempotency`: the beneficiary that was created with this key.'),
  status: text('Of a conflict: the status that it has.'),
  version: count('Of a conflict: the version that it has.'),
  resolution: text('Of a conflict: how it was resolved before.'),
  id: text('Of a conflict: the id of what was decided before.'),
  batch_id: text('Of a conflict: the list that the payment is an item of.'),
  payment_id: text('Of a conflict: the payment by which this is decided.'),
  from: time('Of `rail_may_answer`: when it can be decided; null while that is not known.'),
  your_decision: text('Of `decided`: what you decided before.'),
  decided_by: text('Of `decided`: the account that decided last.'),
  decided_at: time('Of `decided`: when it decided.'),
  required_permission: text('What the credential lacks.', { enum: permissions }),
  capability: text('What the account may not do.'),
  decision: z.unknown().optional().meta({ documentedAs: 'Decision', description: 'Of `policy_denied`: the whole decision.' }),
  amount_minor: minor('Of a payment that the balance does not cover: its amount, without its fee.'),
  fee_minor: minor('Of a payment that the balance does not cover: its fee.'),
  fees_minor: minor('Of a list that the balance does not cover: the fees of its payments.'),
  required_minor: minor('What the balance must cover: amounts and fees.'),
  available_minor: minor('Of `insufficient_funds`, for callers that may read the account.'),
  requested_minor: minor('What was asked for, in minor units.'),
  total_minor: minor('Of a list that the balance does not cover: its sum, without fees.'),
  max_age_seconds: count('Of `step_up_required`: how old the proof may be.'),
  proven_at: time(
    'Of `step_up_required`: when it was last given; null for a dashboard token of a session, which cannot have one.',
  ),
  recovered_address: z.string().nullable().optional().describe('Of `invalid_signature`: the wallet that made the signature.'),
  expected: z.record(z.string(), z.unknown()).optional().describe('Of `invalid_signature`: what the signed message must say.'),
  actual: z.unknown().optional().describe('Of `invalid_signature`: what the signed message says in its place.'),
} satisfies Record<DetailName, z.ZodType>

export const ErrorDetails = z
  .looseObject({
    request_id: z
      .string()
      .meta({ description: 'The id of the request in the logs.', example: '5f1a2b9e-3f0c-4c57-9a6e-0d7c1f8e2b11' }),
    doc_url: z.string().describe('A page that explains the code and what to do.'),
    param: text('The one field, parameter or header that is wrong.'),
    ...details,
  })
  .meta({ id: 'ErrorDetails', description: 'What helps to correct the request. More fields may be added.' })

const known: ReadonlySet<string> = new Set(Object.keys(ErrorDetails.shape))

/** Details that a client generated from the document does not expect. */
export const undeclaredDetails = (given: object = {}): string[] => Object.keys(given).filter((name) => !known.has(name))
