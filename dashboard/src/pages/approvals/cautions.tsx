import type { Schemas } from '../../api/queries.ts'
import { type Caution, cautionsOf } from '../../lib/approval-subject.ts'
import { moneyText, multipleOf } from '../../lib/words.ts'
import { TextNotice } from '../../ui/page.tsx'
import { DecisionWarnings } from '../payments/decision-warnings.tsx'

const MayHaveBeenSent = ({ count }: { count: number }) => (
  <TextNotice
    tone="warn"
    title={count === 1 ? 'A payment may have been paid already' : `${count} payments may have been paid already`}
  >
    This was asked for before the database lost its last changes. Approved, it is not sent: an administrator first looks for it in
    the provider’s statement. Reject only what you know was not paid.
  </TextNotice>
)

const OneCaution = ({ caution, payment }: { caution: Caution; payment: Schemas['PaymentSummary'] | null }) => {
  if (caution.code === 'may_have_been_sent') return <MayHaveBeenSent count={caution.payments_count} />
  if (payment === null) return null
  if (caution.code === 'first_payment')
    return (
      <TextNotice tone="warn" title="First payment to this destination">
        No payment from this workspace has reached it yet. Check that it belongs to the right person.
      </TextNotice>
    )
  if (caution.code === 'unusual_amount')
    return (
      <TextNotice tone="warn" title={`${multipleOf(payment.amount_minor, caution.typical_amount_minor)} times the usual amount`}>
        Payments to this beneficiary are typically {moneyText(caution.typical_amount_minor, payment.currency)}.
      </TextNotice>
    )
  return <DecisionWarnings decision={{ warnings: [caution] }} />
}

/** What comes before everything else. `without`: what the page says already. */
export const Cautions = ({ approval, without = [] }: { approval: Schemas['Approval']; without?: readonly string[] }) =>
  cautionsOf(approval)
    .filter(({ code }) => !without.includes(code))
    .map((caution) => <OneCaution key={caution.code} caution={caution} payment={approval.payment} />)
