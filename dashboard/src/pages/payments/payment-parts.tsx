import { Link } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { failureFix, failureWords } from '../../lib/failure-words.ts'
import { providerOf, railFacts, typeLabel } from '../../lib/rails.ts'
import { Amount } from '../../ui/amount.tsx'
import { CopyButton, CopyText } from '../../ui/copy.tsx'
import { Facts, Notice } from '../../ui/layout.tsx'
import { ExactTime, Time } from '../../ui/time.tsx'
import { Requester } from './requester.tsx'

type Payment = Schemas['Payment']

/** "Asked last 3 hours ago, and next in 3 hours." Nothing where the payment came without it, as in a list. */
const LastAsked = ({ payment }: { payment: Payment }) => {
  const { last_at: last, next_at: next } = payment.outcome_check ?? {}
  if (!last && !next) return null
  return (
    <p className="quiet">
      {last ? (
        <>
          Asked last <Time at={last} />
        </>
      ) : (
        'Not asked yet'
      )}
      {next && (
        <>
          , and next <Time at={next} />
        </>
      )}
      .
    </p>
  )
}

/** Shown before the details: whether the money may have moved or is back. */
export const PaymentNotices = ({ payment }: { payment: Payment }) => {
  if (payment.status === 'unknown')
    return (
      <Notice tone="warn" title="The money may have moved. We’re checking">
        <p className="quiet">
          {providerOf(payment.payment_rail)} didn’t answer. The amount stays held, nothing is sent again, and this page updates
          when we know.
        </p>
        <LastAsked payment={payment} />
      </Notice>
    )
  if (payment.status === 'failed')
    return (
      <Notice tone="bad" title="This payment failed. The money is back in the balance">
        <p className="quiet">
          {failureWords(payment)} {failureFix(payment)}
        </p>
      </Notice>
    )
  return null
}

/** What the requester's program said about it stands apart: it may call a thing as we do. */
export const PaymentFacts = ({ payment }: { payment: Payment }) => (
  <>
    <Facts
      stacked
      facts={{
        Beneficiary: <Link href={`/beneficiaries/${payment.beneficiary_id}`}>{payment.beneficiary.display_name}</Link>,
        Purpose: payment.narrative,
        Destination: (
          <>
            {railFacts[payment.payment_rail].label}, <span className="mono">{payment.beneficiary.destination_mask}</span>
          </>
        ),
        Type: payment.payment_type === payment.payment_rail ? null : typeLabel(payment.payment_type),
        'Purpose code': payment.purpose_code,
        'Account reference': payment.account_reference,
        'Requested by': <Requester by={payment.initiated_by} stops />,
        Mandate: payment.mandate_id && <Link href={`/mandates/${payment.mandate_id}`}>Uses a mandate</Link>,
        Fee: <Amount minor={payment.fee_minor} currency={payment.currency} />,
        'Receipt number': payment.provider_receipt && <CopyText value={payment.provider_receipt} label="receipt number" />,
        Created: <ExactTime at={payment.created_at} />,
      }}
    />
    {Object.keys(payment.metadata).length > 0 && <Facts stacked facts={payment.metadata} />}
    <div className="row">
      <CopyButton value={payment.id}>Copy payment ID</CopyButton>
    </div>
  </>
)
