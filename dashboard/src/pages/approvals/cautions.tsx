import type { Schemas } from '../../api/types.ts'
import { type Caution, cautionsOf } from '../../lib/approval-cautions.ts'
import { moneyText, multipleOf } from '../../lib/money.ts'
import { Notice } from '../../ui/layout.tsx'
import { DecisionWarnings } from '../payments/decision-warnings.tsx'

type Props = { approval: Schemas['Approval'] }

const OneCaution = ({ caution, payment }: { caution: Caution; payment: Schemas['PaymentSummary'] }) => {
  if (caution.code === 'first_payment')
    return (
      <Notice tone="warn" title="First payment to this destination">
        <p className="quiet">No payment from this workspace has reached it yet. Check that it belongs to the right person.</p>
      </Notice>
    )
  if (caution.code === 'unusual_amount')
    return (
      <Notice tone="warn" title={`${multipleOf(payment.amount_minor, caution.typical_amount_minor)} times the usual amount`}>
        <p className="quiet">
          Payments to this beneficiary are typically {moneyText(caution.typical_amount_minor, payment.currency)}.
        </p>
      </Notice>
    )
  return <DecisionWarnings decision={{ warnings: [caution] }} />
}

/** What comes before everything else. */
export const Cautions = ({ approval }: Props) => {
  const { payment } = approval
  if (!payment) return null
  return cautionsOf(approval).map((caution) => <OneCaution key={caution.code} caution={caution} payment={payment} />)
}
