import type { Schemas } from '../../api/types.ts'
import { countWords, listWords } from '../../lib/list-words.ts'
import { compareMinor, moneyText } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { Facts, Notice } from '../../ui/layout.tsx'
import { Time } from '../../ui/time.tsx'
import { DecisionWarnings } from '../payments/decision-warnings.tsx'

type Approval = Schemas['Approval']

/** A payment over this multiple of the typical amount is unusual. */
const unusualFactor = 3n

const isUnusual = (payment: Schemas['PaymentSummary'], typical: string | null | undefined): typical is string =>
  typical != null && compareMinor(payment.amount_minor, (BigInt(typical) * unusualFactor).toString()) > 0

/** Warnings that come before everything else. */
export const Cautions = ({ approval }: { approval: Approval }) => {
  const { payment } = approval
  const typical = approval.context?.payee.typical_amount_minor
  if (!payment) return null
  return (
    <>
      <DecisionWarnings decision={payment.decision} />
      {payment.beneficiary.first_payment && (
        <Notice tone="warn" title="First payment to this destination">
          <p className="quiet">No payment from this workspace has reached it yet. Check that it belongs to the right person.</p>
        </Notice>
      )}
      {isUnusual(payment, typical) && (
        <Notice tone="warn" title="Much more than usual">
          <p className="quiet">Payments to this beneficiary are typically {moneyText(typical, payment.currency)}.</p>
        </Notice>
      )}
    </>
  )
}

/** History with the beneficiary, the balance afterwards, and who else can decide. */
export const ContextFacts = ({ approval, people }: { approval: Approval; people: (accountId: string) => string }) => {
  const { account } = useSession()
  const { payment, status, context } = approval
  if (!context || !payment) return null
  const { payee } = context
  const others = context.eligible_approvers.filter((id) => id !== account.id)
  return (
    <Facts
      stacked
      facts={[
        [
          'Paid before',
          payee.payments_count === 0 ? (
            'Never'
          ) : (
            <span key="count">
              {countWords(payee.payments_count, 'time')}
              {payee.last_paid_at && (
                <>
                  , last <Time at={payee.last_paid_at} />
                </>
              )}
            </span>
          ),
        ],
        ['Typical amount', payee.typical_amount_minor && moneyText(payee.typical_amount_minor, payment.currency)],
        ['Balance after', status === 'pending' ? moneyText(context.available_after_minor, payment.currency) : null],
        [
          'Who else can decide',
          status === 'pending' ? (others.length > 0 ? listWords(others.map(people), 'or') : 'No one else') : null,
        ],
      ]}
    />
  )
}
