import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, differencesQuery, everyPage, parametersOf, rowsOf, unknownPaymentsQuery } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { typeLabel } from '../../lib/rails.ts'
import { shortMoney } from '../../lib/words.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Badge, Empty, ExactTime, Failure, SkeletonCard, Time } from '../../ui/page.tsx'
import { AdministratorsPage } from './administrators-page.tsx'
import { AcceptDifferenceDialog, type OfferedOutcome, ResolvePaymentDialog } from './end-payment.tsx'
import { richRecon, tRecon } from './texts.ts'
import { acceptableDifference, evidenceFor, isListed, type StatementEvidence, sourceOf, type UnknownPayment } from './unknown.ts'
import { UploadStatement } from './upload-statement.tsx'

/** All comparisons since then. Earlier ones cannot name a payment that was created later. */
const reconciliationsSinceQuery = (since: string) =>
  queryOptions({
    queryKey: ['reconciliations', 'since', since],
    queryFn: () =>
      everyPage(
        (cursor) => api.GET('/v1/admin/reconciliations', { query: parametersOf({ limit: 100, cursor }) }),
        (runs) => runs.some(({ created_at: at }) => at < since),
      ),
  })

const OutcomeCheck = ({ outcome_check: check }: UnknownPayment) => (
  <span className="item-note block">
    {check?.last_at
      ? richRecon(check.next_at ? 'outcome_check.again' : 'outcome_check.last', { at: <Time at={check.last_at} /> })
      : tRecon(check?.next_at ? 'outcome_check.soon' : 'outcome_check.never')}
  </span>
)

const Statements = ({ statements }: { statements: readonly StatementEvidence[] }) =>
  statements.length === 0 ? (
    <span className="item-note block">{tRecon('none_compared')}</span>
  ) : (
    statements.map(({ run, words }) => (
      <span key={run.id} className="item-note block">
        <span className="strong">{sourceOf(run)}:</span> {words}
      </span>
    ))
  )

const UnknownPaymentRow = ({ payment, statements }: { payment: UnknownPayment; statements: readonly StatementEvidence[] }) => {
  const [chosenOutcome, setChosenOutcome] = useState<OfferedOutcome | null>(null)
  const close = () => setChosenOutcome(null)
  const name = tRecon('to_payee', {
    amount: shortMoney(payment.amount_minor, payment.currency),
    name: payment.beneficiary.display_name,
  })
  const suggestedOutcome = (['succeeded', 'failed'] as const).find((outcome) => acceptableDifference(statements, outcome))
  const isPaid = suggestedOutcome === 'succeeded' || statements.some(isListed)
  const acceptable = chosenOutcome && acceptableDifference(statements, chosenOutcome)
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
          <OutcomeCheck {...payment} />
          <Statements statements={statements} />
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
          onClick={() => setChosenOutcome('succeeded')}
        >
          {tRecon('paid')}
        </Button>
        <Button
          variant={suggestedOutcome === 'failed' ? 'primary' : 'secondary'}
          label={tRecon('not_paid_what', { name })}
          onClick={() => setChosenOutcome('failed')}
        >
          {tRecon('not_paid')}
        </Button>
      </span>
      {chosenOutcome && acceptable && <AcceptDifferenceDialog difference={acceptable} outcome={chosenOutcome} onClose={close} />}
      {chosenOutcome && !acceptable && (
        <ResolvePaymentDialog payment={payment} statements={statements} outcome={chosenOutcome} onClose={close} />
      )}
    </Item>
  )
}

/** For administrators: payments with an unknown outcome, all evidence about them, and buttons that end them. */
export const UnknownPaymentsPage = () => {
  const payments = useEvery(unknownPaymentsQuery)
  const differences = useEvery(differencesQuery)
  const oldest = rowsOf(payments)
    .map(({ created_at: at }) => at)
    .toSorted()[0]
  const runs = useQuery({ ...reconciliationsSinceQuery(oldest ?? ''), enabled: oldest !== undefined && !payments.hasNextPage })
  const failed = [differences, runs, ...(payments.data ? [payments] : [])].find((query) => query.isError)
  // Part of the evidence would mislead: a statement on a later page may list the payment.
  const isRead = oldest === undefined || (runs.data !== undefined && differences.data !== undefined && !differences.hasNextPage)
  return (
    <AdministratorsPage
      title={tRecon('unknown')}
      lead={tRecon('unknown.lead')}
      back={{ href: '/reconciliation', label: tRecon('title') }}
      actions={<UploadStatement />}
    >
      <Failure error={failed?.error} onRetry={() => void failed?.refetch()} />
      {isRead && (
        <List
          title={tRecon('unknown.title')}
          query={unknownPaymentsQuery}
          empty={<Empty icon="check" title={tRecon('unknown.none')} />}
        >
          {(payment) => (
            <UnknownPaymentRow payment={payment} statements={evidenceFor(payment, runs.data ?? [], rowsOf(differences))} />
          )}
        </List>
      )}
      {!isRead && !failed && <SkeletonCard rows={3} />}
    </AdministratorsPage>
  )
}
