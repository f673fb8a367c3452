import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { differencesQuery, reconciliationsQuery, rowsOf, unknownPaymentsQuery } from '../../api/queries.ts'
import { typeLabel } from '../../lib/rails.ts'
import { shortMoney } from '../../lib/words.ts'
import { Button, CopyButton } from '../../ui/button.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Badge, Empty, ExactTime, Time } from '../../ui/page.tsx'
import { AdministratorsPage } from './administrators-page.tsx'
import { AcceptOutcome, EndPayment, type OfferedOutcome } from './end-payment.tsx'
import { isListed, offerOf, type Said, sayings, type UnknownPayment } from './unknown.ts'
import { UploadStatement } from './upload-statement.tsx'

const Asked = ({ outcome_check: check }: UnknownPayment) => (
  <span className="item-note block">
    <Time at={check?.last_at} before="The rail was last asked " none="The rail was not asked yet" />
    {check?.next_at ? ', and is asked again.' : '. It is not asked again: a person ends this.'}
  </span>
)

const Statements = ({ said }: { said: readonly Said[] }) =>
  said.length === 0 ? (
    <span className="item-note block">No statement of its time was compared.</span>
  ) : (
    said.map(({ run, words }) => (
      <span key={run.id} className="item-note block">
        <span className="strong">
          {run.source}
          {run.account && ` of ${run.account}`}:
        </span>{' '}
        {words}
      </span>
    ))
  )

const Row = ({ payment, said }: { payment: UnknownPayment; said: readonly Said[] }) => {
  const [ending, setEnding] = useState<OfferedOutcome | null>(null)
  const close = () => setEnding(null)
  const name = `${shortMoney(payment.amount_minor, payment.currency)} to ${payment.beneficiary.display_name}`
  const offered = (['succeeded', 'failed'] as const).find((outcome) => offerOf(said, outcome))
  const isPaid = offered === 'succeeded' || said.some(isListed)
  const offer = ending && offerOf(said, ending)
  return (
    <Item
      title={
        <>
          {name}
          {payment.waiting_adjustment_id && <Badge tone="info">Waits for a second administrator</Badge>}
        </>
      }
      note={
        <>
          {typeLabel(payment.payment_rail)} {payment.beneficiary.destination_mask}, requested <Time at={payment.created_at} /> (
          <ExactTime at={payment.created_at} />)
        </>
      }
      more={
        <>
          <Asked {...payment} />
          <Statements said={said} />
          <span className="item-note block">
            <CopyButton value={payment.id}>Copy payment ID</CopyButton>
          </span>
        </>
      }
    >
      <span className="item-acts">
        <Button variant={isPaid ? 'primary' : 'secondary'} label={`Paid: ${name}`} onClick={() => setEnding('succeeded')}>
          Paid
        </Button>
        <Button
          variant={offered === 'failed' ? 'primary' : 'secondary'}
          label={`Not paid: ${name}`}
          onClick={() => setEnding('failed')}
        >
          Not paid
        </Button>
      </span>
      {ending && offer && <AcceptOutcome difference={offer} outcome={ending} onClose={close} />}
      {ending && !offer && <EndPayment payment={payment} said={said} outcome={ending} onClose={close} />}
    </Item>
  )
}

/** For administrators: payments that the rail has not reported the end of, what is known of each, and their end by evidence. */
export const UnknownPaymentsPage = () => {
  const query = unknownPaymentsQuery
  const differences = rowsOf(useInfiniteQuery(differencesQuery))
  const runs = rowsOf(useInfiniteQuery(reconciliationsQuery))
  return (
    <AdministratorsPage
      title="Unknown payments"
      lead="Sent, or perhaps sent, and not reported back. The money stays held, and nothing is sent twice. Only evidence ends one."
      back={{ href: '/reconciliation', label: 'Reconciliation' }}
      actions={<UploadStatement />}
    >
      <List title="Waiting for an end" query={query} empty={<Empty icon="check" title="Every payment has a known outcome" />}>
        {(payment) => <Row payment={payment} said={sayings(payment, runs, differences)} />}
      </List>
    </AdministratorsPage>
  )
}
