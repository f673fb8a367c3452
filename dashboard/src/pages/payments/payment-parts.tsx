import { Link } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { failureFix, failureWords } from '../../lib/failure-words.ts'
import { providerOf, railFacts, typeLabel } from '../../lib/rails.ts'
import { Amount } from '../../ui/amount.tsx'
import { CopyButton, CopyText } from '../../ui/copy.tsx'
import { Facts, Notice } from '../../ui/layout.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { Requester } from './requester.tsx'

type Payment = Schemas['Payment']

/** Shown before the details: whether the money may have moved or is back. */
export const PaymentNotices = ({ payment }: { payment: Payment }) => {
  if (payment.status === 'unknown')
    return (
      <Notice tone="warn" title="The money may have moved. We’re checking">
        <p className="quiet">
          {providerOf(payment.payment_rail)} didn’t answer. The amount stays held, nothing is sent again, and this page updates
          when we know.
        </p>
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

export const PaymentFacts = ({ payment }: { payment: Payment }) => {
  return (
    <Facts
      stacked
      facts={[
        [
          'Beneficiary',
          <Link key="beneficiary" href={`/beneficiaries/${payment.beneficiary_id}`}>
            {payment.beneficiary.display_name}
          </Link>,
        ],
        ['Purpose', payment.narrative],
        [
          'Destination',
          <span key="destination">
            {railFacts[payment.payment_rail].label}, <span className="mono">{payment.beneficiary.destination_mask}</span>
          </span>,
        ],
        ['Type', payment.payment_type === payment.payment_rail ? null : typeLabel(payment.payment_type)],
        ['Account reference', payment.account_reference],
        ['Requested by', <Requester key="by" by={payment.initiated_by} stops />],
        [
          'Mandate',
          payment.mandate_id && (
            <Link key="mandate" href={`/mandates/${payment.mandate_id}`}>
              Uses a mandate
            </Link>
          ),
        ],
        ['Fee', <Amount key="fee" minor={payment.fee_minor} currency={payment.currency} />],
        [
          'Receipt number',
          payment.provider_receipt && <CopyText key="receipt" value={payment.provider_receipt} label="receipt number" />,
        ],
        ['Created', <ExactTime key="created" at={payment.created_at} />],
        ...Object.entries(payment.metadata).map(([name, value]) => [name, value] as const),
        [
          '',
          <CopyButton key="id" value={payment.id}>
            Copy payment ID
          </CopyButton>,
        ],
      ]}
    />
  )
}
