import { maySeeBalance, type Principal } from '../../../auth/principal.ts'
import { referenceKey } from '../../../lib/account-reference.ts'
import { daysAfter, isoTime } from '../../../lib/clock.ts'
import { conflict, type FieldError, invalidFields, Refusal } from '../../../lib/errors.ts'
import { formatId } from '../../../lib/ids.ts'
import { displayAmount, formatMinor, type Minor } from '../../../lib/money.ts'
import { type RailName, railNames } from '../../../lib/rail-names.ts'
import { explain } from '../../../policy/explain.ts'
import { onlyUnconfirmedDuplicate } from '../../../policy/findings.ts'
import type { Decision, EarlierPayment, Evaluation, PaymentFacts } from '../../../policy/types.ts'
import { payouts } from '../../../rails/definitions.ts'
import type { Rails } from '../../../rails/rail.ts'
import { presentDecision } from '../../policies/present.ts'
import type { PaymentContext } from '../evaluation/context.ts'

type Terms = Pick<PaymentFacts, 'amountMinor' | 'paymentType'>

/** At a paybill, the reference names the paid account. If the beneficiary fixes the account, a payment cannot choose another. */
const referenceProblem = ({ beneficiary, namedReference: given }: PaymentContext): string | undefined => {
  const { accountReference: railRule } = payouts[beneficiary.rail]
  const { accountReference: fixed, accountReferenceRequired, takesAnyReference } = beneficiary
  if (fixed !== null)
    return given === null || referenceKey(given) === referenceKey(fixed)
      ? undefined
      : `is fixed to ${fixed} for this beneficiary: leave it out, or create another beneficiary`
  if (given === null) return accountReferenceRequired ? 'is required by this beneficiary' : undefined
  if (railRule === null) return undefined
  if (!takesAnyReference)
    return 'is not taken by this beneficiary: create one with a fixed account_reference, or with account_reference_required for changing ones'
  return railRule.form.test(given) ? undefined : railRule.problem
}

/** Refuses a payment that the rail cannot process, before any limit is checked. */
export const checkRailRules = (terms: Terms, context: PaymentContext, rails: Rails, currency: string): void => {
  const { beneficiary } = context
  if (!rails.payout[beneficiary.rail])
    throw new Refusal('provider_not_configured', { message: `Payments by ${beneficiary.rail} are not configured.` })
  const problems: FieldError[] = []
  const { limits } = payouts[beneficiary.rail]
  const { amountMinor } = terms
  if (limits.wholeUnits && amountMinor % 100n !== 0n)
    problems.push({ path: 'amount_minor', message: `must be whole units of ${currency} for ${beneficiary.rail}` })
  if (amountMinor < limits.minMinor || amountMinor > limits.maxMinor) {
    const range = `${displayAmount(limits.minMinor, currency)} to ${displayAmount(limits.maxMinor, currency)}`
    problems.push({ path: 'amount_minor', message: `${beneficiary.rail} moves ${range} at a time` })
  }
  const reference = referenceProblem(context)
  if (reference !== undefined) problems.push({ path: 'account_reference', message: reference })
  // A list of payment types may name types or rails. A type that names a different rail would bypass a list of rails.
  const otherRail = railNames.find((rail: RailName) => rail === terms.paymentType && rail !== beneficiary.rail)
  if (otherRail)
    problems.push({ path: 'payment_type', message: `names a rail that is not the beneficiary's (${beneficiary.rail})` })
  if (problems.length > 0) throw invalidFields(...problems)
}

const maxDaysAhead = 90

export const checkDueTime = (executeAt: Date | null, at: Date): void => {
  if (executeAt === null) return
  const problem = (message: string) => invalidFields({ path: 'execute_at', message })
  if (executeAt <= at) throw problem('must be in the future: leave it out to pay at once')
  if (executeAt > daysAfter(at, maxDaysAhead)) throw problem(`must be at most ${maxDaysAhead} days from now`)
}

/** Checks every stop that is independent of the amount, freezes and suspensions first. */
export const checkPreconditions = (context: PaymentContext, caller: Pick<Principal, 'capabilities' | 'grantFrozen'>): void => {
  const { workspace, holder, grants, beneficiary } = context
  if (workspace.frozen || workspace.closed) throw new Refusal('workspace_frozen')
  if (holder.status !== 'active') throw new Refusal('account_frozen')
  if (grants.some(({ ended }) => ended))
    throw new Refusal('invalid_token', { message: 'The grant of this credential has ended.' })
  if (caller.grantFrozen) throw new Refusal('grant_frozen')
  if (beneficiary.archived) throw conflict('This beneficiary is archived.', 'archived')
  if (beneficiary.frozen) throw new Refusal('beneficiary_frozen')
  if (!holder.paymentsEnabled || !caller.capabilities.payments)
    throw new Refusal('capability_disabled', { details: { capability: 'payments' } })
}

/** The last check, because only a payment that no rule denies needs a balance for its amount and fee. */
export const checkBalance = (
  principal: Parameters<typeof maySeeBalance>[0],
  { available, amountMinor, feeMinor }: { available: Minor; amountMinor: Minor; feeMinor: Minor },
  currency: string,
): void => {
  const required = amountMinor + feeMinor
  if (available >= required) return
  const fee =
    feeMinor === 0n ? '' : ` of ${displayAmount(amountMinor, currency)} and its fee of ${displayAmount(feeMinor, currency)}`
  const maySee = maySeeBalance(principal)
  throw new Refusal('insufficient_funds', {
    message: `The available balance${maySee ? `, ${displayAmount(available, currency)},` : ''} does not cover this payment${fee}.`,
    details: {
      amount_minor: formatMinor(amountMinor),
      fee_minor: formatMinor(feeMinor),
      required_minor: formatMinor(required),
      ...(maySee && { available_minor: formatMinor(available) }),
      requested_minor: formatMinor(amountMinor),
    },
  })
}

export type ItemContext = Pick<Evaluation, 'listTotals'> &
  Pick<PaymentFacts, 'otherName'> & {
    duplicatesIntended: boolean
    index: number
    /** Spreadsheet row of each item of a CSV batch. */
    rows: readonly number[] | null
  }

/** How a batch confirms its duplicates. A CSV batch does it in its address, because its body has only rows. */
export const confirmDuplicates = (rows: readonly number[] | null): string =>
  rows ? 'add ?duplicates_intended=true to the address' : 'send "duplicates_intended": true'

const duplicateConflict = ({ paymentId, createdAt, listIndex }: EarlierPayment, batchItem: ItemContext | undefined): Refusal => {
  if (batchItem && listIndex !== undefined) {
    const row = batchItem.rows?.[listIndex]
    return conflict(
      `This looks like ${row === undefined ? `item ${listIndex}` : `row ${row}`} of the same list: the same beneficiary, amount and reference. If both are meant, ${confirmDuplicates(batchItem.rows)}.`,
      'possible_duplicate',
      { same_as_index: listIndex, ...(row !== undefined && { same_as_row: row }) },
    )
  }
  const id = formatId('payment', paymentId)
  const meant = batchItem ? confirmDuplicates(batchItem.rows) : `send "duplicate_of": "${id}"`
  return conflict(
    `This looks like payment ${id} of ${isoTime(createdAt)}: the same beneficiary, amount and reference. No second payment was made. If a second payment is meant, ${meant}.`,
    'possible_duplicate',
    { existing_payment_id: id },
  )
}

export const denialOf = (
  decision: Decision,
  { earlier, batchItem, currency }: { earlier: EarlierPayment | null; batchItem: ItemContext | undefined; currency: string },
): Refusal =>
  earlier && onlyUnconfirmedDuplicate(decision)
    ? duplicateConflict(earlier, batchItem)
    : new Refusal('policy_denied', {
        message: explain(decision, currency),
        details: { decision: presentDecision(decision, currency) },
      })
