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
  unknownPaymentsQuery,
} from '../../api/queries.ts'
import { useDebounced } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { typeLabel } from '../../lib/rails.ts'
import { moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, FoldButton, LinkButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { TextField } from '../../ui/field.tsx'
import { Item, Listing, Rows, SelectionBar, useSelection } from '../../ui/listing.tsx'
import { Card, Empty, ExactTime, Facts, Failure, SkeletonRows, StatusBadge } from '../../ui/page.tsx'
import { AdministratorsPage } from './administrators-page.tsx'
import { clearingTotals } from './clearing.ts'
import { Movements, RecordMovement } from './name-movement.tsx'
import { ItemRow } from './open-items.tsx'
import { ProviderAlerts } from './provider-alerts.tsx'
import { maxAtOnce, Resolve } from './resolve-items.tsx'
import { isReconText, richRecon, tRecon } from './texts.ts'
import { type OpenItem, openItems } from './unknown.ts'
import { UploadStatement } from './upload-statement.tsx'
import { ServiceWaiting } from './waiting.tsx'

/** For administrators of the service: differences between the providers and the books. */
export const ReconciliationPage = () => {
  const { currency } = useSession().workspace
  const queries = [
    useInfiniteQuery(suspenseQuery),
    useInfiniteQuery(differencesQuery),
    useQuery(trialBalanceQuery),
    useInfiniteQuery(reconciliationsQuery),
    useInfiniteQuery(providerAlertsQuery),
    useInfiniteQuery(unknownPaymentsQuery),
    useInfiniteQuery(lateSuccessesQuery),
  ]
  // Shows all lists together, because a late list would push down the lists below it.
  const isRead = queries.every(({ isPending }) => !isPending)
  return (
    <AdministratorsPage
      title={tRecon('title')}
      lead={tRecon('lead')}
      actions={<LinkButton href="/reconciliation/unknown">{tRecon('unknown')}</LinkButton>}
    >
      {isRead ? (
        <>
          <ServiceWaiting showsEmpty />
          <FindByReceipt />
          <LateSuccesses />
          <OpenItems currency={currency} />
          <ProviderAlerts currency={currency} />
          <Comparisons currency={currency} />
          <Movements currency={currency} />
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
  if (chosen === 0) return all > maxAtOnce ? tRecon('select_first', { count: maxAtOnce }) : tRecon('select_all')
  return tRecon(chosen === maxAtOnce ? 'selected_most' : 'selected', { count: chosen })
}

const OpenItems = ({ currency }: { currency: string }) => {
  const suspense = useInfiniteQuery(suspenseQuery)
  const differences = useInfiniteQuery(differencesQuery)
  const [resolving, setResolving] = useState<readonly OpenItem[] | null>(null)
  const { inSuspense, others } = openItems(rowsOf(suspense), rowsOf(differences))
  const all = [...inSuspense, ...others]
  const selection = useSelection(
    all.map(({ key }) => key),
    maxAtOnce,
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
  const noDifference = <Empty icon="check" title={tRecon('differences.none')} />
  return (
    <>
      {all.length > 1 && (
        <SelectionBar selection={selection} words={selectionWords(chosen.length, all.length)} apart>
          <Button size="small" variant="primary" onClick={() => setResolving(chosen)}>
            {tRecon('resolve_count', { count: chosen.length })}
          </Button>
        </SelectionBar>
      )}
      <Listing
        title={tRecon('suspense')}
        note={tRecon('suspense.note')}
        query={suspenseQuery}
        empty={<Empty icon="check" title={tRecon('suspense.none')} />}
      >
        {() => rows(inSuspense)}
      </Listing>
      <Listing title={tRecon('differences')} note={tRecon('differences.note')} query={differencesQuery} empty={noDifference}>
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
    <Card title={tRecon('clearing')} note={tRecon('clearing.note')}>
      {isError && <Failure error={error} onRetry={() => void refetch()} />}
      {data && !isError && (
        <Facts
          facts={Object.fromEntries(clearingTotals(data.lines).map(([name, minor]) => [name, moneyText(minor, data.currency)]))}
        />
      )}
    </Card>
  )
}

const negated = (minor: string): string => (-BigInt(minor)).toString()

/** Matches and totals of a comparison. Provider charges leave its account, so they are negative. */
const result = (run: Run, currency: string): string => {
  const { differences, matched, lines, charges_minor: charges, fees_minor: fees } = run
  const money = (minor: string) => moneyText(minor, currency)
  return [
    lines === 0 ? tRecon('run_none') : tRecon('run_matched', { matched, count: lines }),
    differences > 0 && tRecon('run_differences', { count: differences }),
    tRecon('run_sums', { booked: money(run.booked_minor), stated: money(run.stated_minor) }),
    charges !== '0' && tRecon('run_charges', { amount: money(negated(charges)) }),
    fees && fees !== '0' && tRecon('run_fees', { amount: money(fees) }),
  ]
    .filter(Boolean)
    .join(', ')
}

/** Provider, account, and the provider's list or the statement's file. */
const titleOfRun = (run: Run): string => {
  const key = `source.${run.source}`
  const source = isReconText(key) ? tRecon(key) : run.source
  return `${providerLabel(run.provider)}${run.account ? ` ${run.account}` : ''}, ${source}`
}

const hasNoFindings = ({ differences, unproven }: Run): boolean => differences === 0 && unproven === null

/** Comparisons with the providers' lists and statements. A button shows the ones without differences. */
const Comparisons = ({ currency }: { currency: string }) => {
  const [showsAll, setShowsAll] = useState(false)
  const row = (run: Run) => (
    <Item
      title={titleOfRun(run)}
      note={
        <>
          {richRecon('run_period', { from: <ExactTime at={run.period_start} />, to: <ExactTime at={run.period_end} /> })}
          <br />
          {result(run, currency)}
          {run.unproven && <span className="block">{run.unproven}</span>}
        </>
      }
    />
  )
  return (
    <Listing
      title={tRecon('runs')}
      note={tRecon('runs.note')}
      actions={
        <>
          <RecordMovement currency={currency} />
          <UploadStatement />
        </>
      }
      query={reconciliationsQuery}
      empty={<Empty icon="list" title={tRecon('runs.none')} />}
    >
      {(runs) => {
        const matching = runs.filter(hasNoFindings)
        return (
          <>
            <Rows items={[...runs.filter((run) => !hasNoFindings(run)), ...(showsAll ? matching : [])]}>{row}</Rows>
            {matching.length > 0 && (
              <div className="row row-end card-footer">
                <FoldButton
                  open={showsAll}
                  onChange={setShowsAll}
                  words={[tRecon('runs.fold', { count: matching.length }), tRecon('runs.unfold')]}
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
    title={tRecon('to_payee', {
      amount: moneyText(payment.amount_minor, payment.currency),
      name: payment.beneficiary.display_name,
    })}
    note={
      <>
        {typeLabel(payment.payment_rail)} {payment.beneficiary.destination_mask}, <ExactTime at={payment.created_at} />
        {payment.late_success &&
          tRecon('paid_later', {
            what: [moneyText(payment.late_success.amount_minor, payment.currency), payment.late_success.receipt]
              .filter(Boolean)
              .join(', '),
          })}
        <span className="block">
          <CopyButton value={payment.id}>{tRecon('copy_payment')}</CopyButton>
        </span>
      </>
    }
  >
    <StatusBadge status={payment.status} />
  </Item>
)

/** Finds payments of any workspace by the provider's receipt. */
const FindByReceipt = () => {
  const [text, setText] = useState('')
  const receipt = useDebounced(text.trim())
  const { data, error } = useQuery(paymentByReceiptQuery(receipt))
  return (
    <Card title={tRecon('find')}>
      <TextField label={t('receipt')} type="search" value={text} onChange={setText} placeholder={tRecon('find.example')} />
      <Failure error={error} />
      {receipt !== '' && data?.data.length === 0 && <p className="muted">{tRecon('find.none')}</p>}
      {receipt !== '' && data?.data.map((payment) => <PaymentRow key={payment.id} payment={payment} />)}
    </Card>
  )
}

/** Payments that the provider paid after they had failed and been refunded. Only a command on the server books them. */
const LateSuccesses = () => {
  const late = rowsOf(useInfiniteQuery(lateSuccessesQuery))
  if (late.length === 0) return null
  return (
    <Card title={tRecon('late')} note={tRecon('late.note')} flush>
      <Rows items={late}>{(payment) => <PaymentRow payment={payment} />}</Rows>
    </Card>
  )
}
