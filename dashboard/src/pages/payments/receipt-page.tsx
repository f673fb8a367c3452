import { useQuery } from '@tanstack/react-query'
import { api, paymentQuery } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { typeLabel } from '../../lib/rails.ts'
import { saveFile } from '../../lib/text-file.ts'
import { feeWords } from '../../lib/words.ts'
import { LoadState } from '../../shell/load-state.tsx'
import { useSession } from '../../shell/session.tsx'
import { Brand } from '../../shell/single-page.tsx'
import { Button } from '../../ui/button.tsx'
import { useChange } from '../../ui/form.tsx'
import { Amount, ExactTime, Facts, Page, StatusBadge } from '../../ui/page.tsx'
import { tPay } from './texts.ts'

/** Saves the receipt with its decision and signatures, which can be verified without the service. */
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
      title={t('receipt')}
      back={{ href: `/payments/${id}`, label: t('payment') }}
      actions={
        <>
          <Button icon="topup" busy={proof.isPending} onClick={() => proof.mutate()}>
            {tPay('proof')}
          </Button>
          <Button icon="print" onClick={() => print()}>
            {tPay('print')}
          </Button>
        </>
      }
    >
      <LoadState query={payment} apiPath={`/v1/payments/${id}`} />
      {payment.data && (
        <section className="card">
          <div className="card-body stack">
            <div className="row row-between">
              <Brand />
              <StatusBadge status={payment.data.status} />
            </div>
            <div>
              <p className="muted">{payment.data.beneficiary.display_name}</p>
              <Amount minor={payment.data.amount_minor} currency={payment.data.currency} size="big" />
            </div>
            <Facts
              stacked
              facts={{
                [tPay('paid_to')]: payment.data.beneficiary.display_name,
                [t('destination')]: payment.data.beneficiary.destination_mask,
                [tPay('method')]: typeLabel(payment.data.payment_rail),
                [tPay('paid_by')]: workspace.name,
                [t('account_reference')]: payment.data.account_reference,
                [t('purpose_code')]: payment.data.purpose_code,
                [t('purpose')]: payment.data.narrative,
                [tPay('completed')]: payment.data.completed_at && <ExactTime at={payment.data.completed_at} />,
                [t('receipt_number')]: payment.data.provider_receipt && (
                  <span className="mono">{payment.data.provider_receipt}</span>
                ),
                [t('fee')]: feeWords(payment.data.amount_minor, payment.data.fee_minor, payment.data.currency),
                [tPay('payment_id')]: <span className="mono">{payment.data.id}</span>,
              }}
            />
          </div>
        </section>
      )}
    </Page>
  )
}
