import { useQuery } from '@tanstack/react-query'
import { api, paymentQuery } from '../../api/queries.ts'
import { typeLabel } from '../../lib/rails.ts'
import { saveFile } from '../../lib/text-file.ts'
import { feeWords } from '../../lib/words.ts'
import { LoadState, useSession } from '../../shell/session.tsx'
import { Brand } from '../../shell/single-page.tsx'
import { Button } from '../../ui/button.tsx'
import { useChange } from '../../ui/form.tsx'
import { Amount, ExactTime, Facts, Page, StatusBadge } from '../../ui/page.tsx'

/** The receipt with its decision and signatures, which can be verified without the service. */
const saveJson = (name: string, content: unknown): void =>
  saveFile(name, new Blob([JSON.stringify(content, null, 2)], { type: 'application/json' }))

export const ReceiptPage = ({ id }: { id: string }) => {
  const { workspace } = useSession()
  const payment = useQuery(paymentQuery(id))
  const proof = useChange(() => api.GET('/v1/payments/{id}/receipt', { path: { id } }), {
    onDone: (receipt) => saveJson(`receipt-${id}.json`, receipt),
    announcesFailure: true,
  })
  return (
    <Page
      title="Receipt"
      back={{ href: `/payments/${id}`, label: 'Payment' }}
      actions={
        <>
          <Button icon="topup" busy={proof.isPending} onClick={() => proof.mutate()}>
            Signed proof
          </Button>
          <Button icon="print" onClick={() => print()}>
            Print
          </Button>
        </>
      }
    >
      <LoadState query={payment} path={`/v1/payments/${id}`} />
      {payment.data && (
        <section className="card">
          <div className="card-body stack">
            <div className="row row-between">
              <Brand />
              <StatusBadge status={payment.data.status} />
            </div>
            <div>
              <p className="quiet">{payment.data.beneficiary.display_name}</p>
              <Amount minor={payment.data.amount_minor} currency={payment.data.currency} size="big" />
            </div>
            <Facts
              stacked
              facts={{
                'Paid to': payment.data.beneficiary.display_name,
                Destination: payment.data.beneficiary.destination_mask,
                'Payment method': typeLabel(payment.data.payment_rail),
                'Paid by': workspace.name,
                'Account reference': payment.data.account_reference,
                'Purpose code': payment.data.purpose_code,
                Purpose: payment.data.narrative,
                Completed: payment.data.completed_at && <ExactTime at={payment.data.completed_at} />,
                'Receipt number': payment.data.provider_receipt && <span className="mono">{payment.data.provider_receipt}</span>,
                Fee: feeWords(payment.data.amount_minor, payment.data.fee_minor, payment.data.currency),
                'Payment ID': <span className="mono">{payment.data.id}</span>,
              }}
            />
          </div>
        </section>
      )}
    </Page>
  )
}
