import { z } from 'zod'
import { errorCodes } from '../errors/catalogue.ts'
import { errorReasons } from './conflict-reasons.ts'
import { minorPattern } from './money.ts'

const FieldProblem = z.object({
  path: z.string().meta({ description: 'The path, such as `spending_controls.daily_limit_minor`.', example: 'amount_minor' }),
  message: z.string().meta({ example: 'has no decimal point: 50.00 is "5000" in minor units' }),
})

export const text = (description: string, more: object = {}) =>
  z
    .string()
    .optional()
    .meta({ ...more, description })

const count = (description: string) => z.number().int().optional().describe(description)
const listOf = (item: z.ZodType, description: string) => z.array(item).optional().describe(description)
const minor = (description: string) => text(description, { pattern: minorPattern.source })
const time = (description: string) => z.string().nullable().optional().meta({ format: 'date-time', description })

export const Existing = z
  .object({
    payment_id: text('The ID of the payment.'),
    payment_batch_id: text('The ID of the payment batch.'),
    topup_id: text('The ID of the top-up.'),
    beneficiary_id: text('The ID of the beneficiary.'),
    status: z.string().describe('The current status of the record.'),
    receipt: z.string().nullable().optional().describe("The rail's receipt for a payment or a top-up."),
    amount_minor: minor('The amount in minor units. A deposit of any amount has none.'),
    created_at: z.string().meta({ format: 'date-time', description: 'When it was created.' }),
    completed_at: time('When the record reached its final status; null until then.'),
  })
  .meta({ id: 'ExistingRecord', description: 'The existing record that an error refers to, in its current state.' })
export type Existing = z.output<typeof Existing>

const existing = Existing.optional().describe(
  'The existing record, if the caller may read it. Status `succeeded` means that a payment was paid.',
)

const duplicates = {
  existing_payment_id: text(
    'The earlier payment that this one looks like (`possible_duplicate`), or the payment that was created with this key (`idempotency`).',
  ),
  same_as_index: count('The index of the earlier item that this item looks like.'),
  same_as_row: count('Only for CSV batches: the earlier row that this row looks like.'),
  existing,
}

const ItemProblem = z.looseObject({
  index: z.number().int().describe('The index of the item in the request, from 0.'),
  row: count('Only for CSV batches: the row number, as a spreadsheet shows it.'),
  error: z.string().meta({ enum: errorCodes }),
  message: z.string(),
  param: text('The invalid field.'),
  ...duplicates,
  fix: text('How to fix the problem, in one sentence.'),
})

/** The details of a refusal, as the API document describes them. */
export const details = {
  fields: listOf(FieldProblem, 'Only for 400 errors: problems by field, up to 100.'),
  items: listOf(ItemProblem, 'Only for payment batches: problems by item, up to 100.'),
  more: count('The number of problems that are not listed.'),
  field: text('For 404 errors, the field or header whose ID does not exist. For invalid signatures, the part that is wrong.'),
  reason: text(
    'The reason for a conflict or another error. `database_lost_writes`: the database lost the request that used this key. `upgrade_running`: an operator has not finished an upgrade yet. `not_an_approver`: a policy names the only accounts that may decide. `sign_up`: this person may not open an account here.',
    { enum: errorReasons },
  ),
  ...duplicates,
  existing_payment_batch_id: text('Only for `idempotency`: the batch that was created with this key.'),
  existing_topup_id: text('Only for `idempotency`: the top-up that was created with this key.'),
  existing_beneficiary_id: text('Only for `idempotency`: the beneficiary that was created with this key.'),
  status: text('Only for conflicts: the current status of the resource.'),
  version: count('Only for conflicts: the current version of the resource.'),
  resolution: text('Only for conflicts: the earlier resolution.'),
  id: text('Only for conflicts: the ID of the existing resource.'),
  batch_id: text('Only for conflicts: the batch that contains the payment.'),
  payment_id: text('Only for conflicts: the payment to resolve instead.'),
  from: time('Only for `rail_may_answer`: when a person may decide; null if this is not known yet.'),
  your_decision: text('Only for `decided`: your earlier decision.'),
  decided_by: text('Only for `decided`: the account that made the last decision.'),
  decided_at: time('Only for `decided`: the time of the last decision.'),
  required_permission: text('The permission that the credential lacks.'),
  capability: text('The capability that is disabled for the account.'),
  decision: z.unknown().optional().meta({ documentedAs: 'Decision', description: 'Only for `policy_denied`: the decision.' }),
  amount_minor: minor('Only for `insufficient_funds`: the amount of the payment, without its fee.'),
  fee_minor: minor('Only for `insufficient_funds`: the fee of the payment.'),
  fees_minor: minor('Only for `insufficient_funds`: the total fees of the batch.'),
  required_minor: minor('The amount that the balance must cover, including fees.'),
  available_minor: minor('Only for `insufficient_funds`: the available balance, if the caller may read the account.'),
  requested_minor: minor('The requested amount in minor units.'),
  total_minor: minor('Only for `insufficient_funds`: the total amount of the batch, without fees.'),
  max_age_seconds: count('Only for `step_up_required`: the maximum age of the confirmation, in seconds.'),
  proven_at: time(
    'Only for `step_up_required`: when the identity was last confirmed; null for a dashboard token of a session, which cannot confirm it.',
  ),
  recovered_address: z.string().nullable().optional().describe('Only for `invalid_signature`: the signing wallet.'),
  expected: z.record(z.string(), z.unknown()).optional().describe('Only for `invalid_signature`: the expected values.'),
  actual: z.unknown().optional().describe('Only for `invalid_signature`: the value in the message.'),
}
