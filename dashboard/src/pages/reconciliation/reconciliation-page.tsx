import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { providerLabel } from '../../../../src/rails/texts.ts'
import {
  differencesQuery,
  lateSuccessesQuery,
  paymentByReceiptQuery,
  providerAlertsQuery,
  reconciliationsQuery,
  rowsOf,
  type Schemas,
  suspenseQuery,
  trialBalanceQuery,
} from '../../api/queries.ts'
import { useDebounced } from '../../lib/drafts.ts'
import { typeLabel } from '../../lib/rails.ts'
import { countWords, moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, CopyButton, FoldButton, LinkButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Item, Listing, Rows, SelectionBar, useSelection } from '../../ui/listing.tsx'
import { Card, Empty, ExactTime, Facts, Failure, SkeletonRows, StatusBadge } from '../../ui/page.tsx'
import { AdministratorsPage } from './administrators-page.tsx'
import { clearingTotals } from './clearing.ts'
import { NameMovement } from './name-movement.tsx'
import { ItemRow, mostAtOnce, Resolve } from './open-items.tsx'
import { ProviderAlerts } from './provider-alerts.tsx'
import { type OpenItem, openItems } from './unknown.ts'
import { UploadStatement } from './upload-statement.tsx'
import { ServiceWaiting } from './waiting.tsx'

/** For administrators of the service: where the providers and the books disagree. */
export const ReconciliationPage = () => {
  const { currency } = useSession().workspace
  const queries = [
    useInfiniteQuery(suspenseQuery),
    useInfiniteQuery(differencesQuery),
    useQuery(trialBalanceQuery),
    useInfiniteQuery(reconciliationsQuery),
    useInfiniteQuery(providerAlertsQuery),
  ]
  // Shown together: a list that comes later than what is below it would move that.
  const isRead = queries.every(({ isPending }) => !isPending)
  return (
    <AdministratorsPage
      title="Reconciliation"
      lead="Where the providers and the books disagree, for administrators of the service."
      actions={<LinkButton href="/reconciliation/unknown">Unknown payments</LinkButton>}
    >
      {isRead ? (
        <>
          <ServiceWaiting quiet />
          <FindByReceipt />
          <LateSuccesses />
          <Open currency={currency} />
          <ProviderAlerts currency={currency} />
          <Comparisons currency={currency} />
          <Clearing />
        </>
      ) : (
        <Card>
          <SkeletonRows rows={8} />
        </Card>
      )}
    </AdministratorsPage>
  )
}

const selectionWords = (chosen: number, all: number): string => {
  if (chosen === 0) return all > mostAtOnce ? `Select the first ${mostAtOnce}` : 'Select all'
  return `${countWords(chosen, 'item')} selected${chosen === mostAtOnce ? ', the most at once' : ''}`
}

const Open = ({ currency }: { currency: string }) => {
  const suspense = useInfiniteQuery(suspenseQuery)
  const differences = useInfiniteQuery(differencesQuery)
  const [resolving, setResolving] = useState<readonly OpenItem[] | null>(null)
  const { inSuspense, others } = openItems(rowsOf(suspense), rowsOf(differences))
  const all = [...inSuspense, ...others]
  const selection = useSelection(
    all.map(({ key }) => key),
    mostAtOnce,
  )
  const chosen = all.filter(({ key }) => selection.chosen.includes(key))
  const rows = (items: readonly OpenItem[]) => (
    <ul className="rows">
      {items.map((item) => (
        <ItemRow
          key={item.key}
          item={item}
          currency={currency}
          checked={selection.chosen.includes(item.key)}
          onCheck={() => selection.toggle(item.key)}
          onResolve={() => setResolving([item])}
        />
      ))}
    </ul>
  )
  const noDifference = <Empty icon="check" title="No statement differs from the books" />
  return (
    <>
      {all.length > 1 && (
        <SelectionBar selection={selection} words={selectionWords(chosen.length, all.length)} apart>
          <Button size="small" variant="primary" onClick={() => setResolving(chosen)}>
            Resolve {chosen.length}
          </Button>
        </SelectionBar>
      )}
      <Listing
        title="Suspense"
        note="Money that a provider moved and that could not be booked."
        query={suspenseQuery}
        empty={<Empty icon="check" title="Nothing is in suspense" />}
      >
        {() => rows(inSuspense)}
      </Listing>
      <Listing
        title="Differences"
        note="Between the books and the providers’ statements. What is in suspense is listed there."
        query={differencesQuery}
        empty={noDifference}
      >
        {() => (others.length === 0 ? noDifference : rows(others))}
      </Listing>
      {resolving && <Resolve items={resolving} currency={currency} onClose={() => setResolving(null)} />}
    </>
  )
}

type Run = Schemas['Reconciliation']

const Clearing = () => {
  const { data, isError, error, refetch } = useQuery(trialBalanceQuery)
  return (
    <Card title="Clearing accounts" note="What the books say the providers hold for this service.">
      {isError && <Failure error={error} onRetry={() => void refetch()} />}
      {data && !isError && (
        <Facts
          facts={Object.fromEntries(clearingTotals(data.lines).map(([name, minor]) => [name, moneyText(minor, data.currency)]))}
        />
      )}
    </Card>
  )
}

const result = ({ differences, matched, lines }: Run): string => {
  const listed = lines === 0 ? 'nothing listed' : `${matched} of ${lines} matched`
  if (differences === 0) return listed
  return `${listed}, ${countWords(differences, 'difference')}`
}

const isQuiet = ({ differences, unproven }: Run): boolean => differences === 0 && unproven === null

/** Every comparison with a provider's own list or statement: those with differences first, and on a press those without. */
const Comparisons = ({ currency }: { currency: string }) => {
  const [whole, setWhole] = useState(false)
  const row = (run: Run) => (
    <Item
      title={`${providerLabel(run.provider)}${run.account ? ` ${run.account}` : ''}, ${run.source === 'provider' ? 'top-ups of a day' : run.source}`}
      note={
        <>
          <ExactTime at={run.period_start} /> to <ExactTime at={run.period_end} />
          <br />
          {result(run)}; books {moneyText(run.booked_minor, currency)}, provider {moneyText(run.stated_minor, currency)}
          {run.charges_minor !== '0' && `, its charges ${moneyText(run.charges_minor, currency)}`}
          {run.fees_minor && run.fees_minor !== '0' && `, our fees ${moneyText(run.fees_minor, currency)}`}
          {run.unproven && <span className="block">{run.unproven}</span>}
        </>
      }
    />
  )
  return (
    <Listing
      title="Comparisons"
      note="Top-ups and the balances are compared with M-PESA’s own every day. A statement is compared when it is uploaded here, or reconciled on the server."
      actions={
        <>
          <NameMovement currency={currency} />
          <UploadStatement />
        </>
      }
      query={reconciliationsQuery}
      empty={<Empty icon="list" title="Nothing has been compared yet" />}
    >
      {(runs) => {
        const quiet = runs.filter(isQuiet)
        return (
          <>
            <Rows items={[...runs.filter((run) => !isQuiet(run)), ...(whole ? quiet : [])]}>{row}</Rows>
            {quiet.length > 0 && (
              <div className="row row-end card-footer">
                <FoldButton
                  open={whole}
                  onChange={setWhole}
                  words={[`${quiet.length} without differences`, 'Only those with differences']}
                />
              </div>
            )}
          </>
        )
      }}
    </Listing>
  )
}

const PaymentRow = ({ payment }: { payment: Schemas['AdminPayment'] }) => (
  <Item
    title={`${moneyText(payment.amount_minor, payment.currency)} to ${payment.beneficiary.display_name}`}
    note={
      <>
        {typeLabel(payment.payment_rail)} {payment.beneficiary.destination_mask}, <ExactTime at={payment.created_at} />
        {payment.late_success &&
          `. Paid later: ${moneyText(payment.late_success.amount_minor, payment.currency)}, ${payment.late_success.receipt}`}
        <span className="block">
          <CopyButton value={payment.id}>Copy payment ID</CopyButton>
        </span>
      </>
    }
  >
    <StatusBadge status={payment.status} />
  </Item>
)

/** Of any workspace. */
const FindByReceipt = () => {
  const [text, setText] = useState('')
  const receipt = useDebounced(text.trim())
  const { data, error } = useQuery(paymentByReceiptQuery(receipt))
  return (
    <Card title="Find a payment">
      <TextField label="Receipt" type="search" value={text} onChange={setText} placeholder="As the provider’s statement has it" />
      <Failure error={error} />
      {receipt !== '' && data?.data.length === 0 && <p className="quiet">No payment has this receipt.</p>}
      {receipt !== '' && data?.data.map((payment) => <PaymentRow key={payment.id} payment={payment} />)}
    </Card>
  )
}

/** They had failed, and their money was given back, before the provider paid them. The books take them on the server. */
const LateSuccesses = () => {
  const late = rowsOf(useInfiniteQuery(lateSuccessesQuery))
  if (late.length === 0) return null
  return (
    <Card
      title="Paid after they had failed"
      note="Book each with npm run admin -- payments resolve: charged to the account, or written off."
      flush
    >
      <Rows items={late}>{(payment) => <PaymentRow payment={payment} />}</Rows>
    </Card>
  )
}
