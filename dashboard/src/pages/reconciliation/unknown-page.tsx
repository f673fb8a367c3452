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
import { richRecon, tRecon } from './texts.ts'
import { isListed, offerOf, type Said, sayings, sourceOf, type UnknownPayment } from './unknown.ts'
import { UploadStatement } from './upload-statement.tsx'

const Asked = ({ outcome_check: check }: UnknownPayment) => (
  <span className="item-note block">
    {check?.last_at
      ? richRecon(check.next_at ? 'asked.again' : 'asked.last', { at: <Time at={check.last_at} /> })
      : tRecon(check?.next_at ? 'asked.soon' : 'asked.never')}
  </span>
)

const Statements = ({ said }: { said: readonly Said[] }) =>
  said.length === 0 ? (
    <span className="item-note block">{tRecon('none_compared')}</span>
  ) : (
    said.map(({ run, words }) => (
      <span key={run.id} className="item-note block">
        <span className="strong">{sourceOf(run)}:</span> {words}
      </span>
    ))
  )

const Row = ({ payment, said }: { payment: UnknownPayment; said: readonly Said[] }) => {
  const [ending, setEnding] = useState<OfferedOutcome | null>(null)
  const close = () => setEnding(null)
  const name = tRecon('to_payee', {
    amount: shortMoney(payment.amount_minor, payment.currency),
    name: payment.beneficiary.display_name,
  })
  const offered = (['succeeded', 'failed'] as const).find((outcome) => offerOf(said, outcome))
  const isPaid = offered === 'succeeded' || said.some(isListed)
  const offer = ending && offerOf(said, ending)
  return (
    <Item
      title={
        <>
          {name}
          {payment.waiting_adjustment_id && <Badge tone="info">{tRecon('unknown.second')}</Badge>}
        </>
      }
      note={richRecon('unknown.requested', {
        rail: `${typeLabel(payment.payment_rail)} ${payment.beneficiary.destination_mask}`,
        at: <Time at={payment.created_at} />,
        exact: <ExactTime at={payment.created_at} />,
      })}
      more={
        <>
          <Asked {...payment} />
          <Statements said={said} />
          <span className="item-note block">
            <CopyButton value={payment.id}>{tRecon('copy_payment')}</CopyButton>
          </span>
        </>
      }
    >
      <span className="item-acts">
        <Button
          variant={isPaid ? 'primary' : 'secondary'}
          label={tRecon('paid_what', { name })}
          onClick={() => setEnding('succeeded')}
        >
          {tRecon('paid')}
        </Button>
        <Button
          variant={offered === 'failed' ? 'primary' : 'secondary'}
          label={tRecon('not_paid_what', { name })}
          onClick={() => setEnding('failed')}
        >
          {tRecon('not_paid')}
        </Button>
      </span>
      {ending && offer && <AcceptOutcome difference={offer} outcome={ending} onClose={close} />}
      {ending && !offer && <EndPayment payment={payment} said={said} outcome={ending} onClose={close} />}
    </Item>
  )
}

/** For administrators: payments without a reported end, with all evidence, and the means to end them. */
export const UnknownPaymentsPage = () => {
  const query = unknownPaymentsQuery
  const differences = rowsOf(useInfiniteQuery(differencesQuery))
  const runs = rowsOf(useInfiniteQuery(reconciliationsQuery))
  return (
    <AdministratorsPage
      title={tRecon('unknown')}
      lead={tRecon('unknown.lead')}
      back={{ href: '/reconciliation', label: tRecon('title') }}
      actions={<UploadStatement />}
    >
      <List title={tRecon('unknown.title')} query={query} empty={<Empty icon="check" title={tRecon('unknown.none')} />}>
        {(payment) => <Row payment={payment} said={sayings(payment, runs, differences)} />}
      </List>
    </AdministratorsPage>
  )
}
