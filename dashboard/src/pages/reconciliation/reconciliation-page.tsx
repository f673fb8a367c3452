import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { providerLabel } from '../../../../src/rails/texts.ts'
import {
  differencesQuery,
  reconciliationsQuery,
  rowsOf,
  type Schemas,
  suspenseQuery,
  trialBalanceQuery,
} from '../../api/queries.ts'
import { countWords, moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Item, List, Listing, SelectionBar, useSelection } from '../../ui/listing.tsx'
import { Card, Empty, ExactTime, Facts, Failure, SkeletonRows } from '../../ui/page.tsx'
import { AdministratorsPage } from './administrators-page.tsx'
import { clearingTotals } from './clearing.ts'
import { ItemRow, mostAtOnce, Resolve } from './open-items.tsx'
import { type OpenItem, openItems } from './unknown.ts'
import { UploadStatement } from './upload-statement.tsx'

/** For administrators of the service: where the providers and the books disagree. */
export const ReconciliationPage = () => {
  const { currency } = useSession().workspace
  const queries = [
    useInfiniteQuery(suspenseQuery),
    useInfiniteQuery(differencesQuery),
    useQuery(trialBalanceQuery),
    useInfiniteQuery(reconciliationsQuery),
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
          <Open currency={currency} />
          <Clearing />
          <Comparisons currency={currency} />
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

/** Every comparison with a provider's own list or statement, newest first. */
const Comparisons = ({ currency }: { currency: string }) => {
  const query = reconciliationsQuery
  return (
    <List
      title="Comparisons"
      note="Top-ups and the balances are compared with M-PESA’s own every day. A statement is compared when it is uploaded here, or reconciled on the server."
      actions={<UploadStatement />}
      query={query}
      empty={<Empty icon="list" title="Nothing has been compared yet" />}
    >
      {(run) => (
        <Item
          title={`${providerLabel(run.provider)}${run.account ? ` ${run.account}` : ''}, ${run.source === 'provider' ? 'top-ups of a day' : run.source}`}
          note={
            <>
              <ExactTime at={run.period_start} /> to <ExactTime at={run.period_end} />
              <br />
              {result(run)}; books {moneyText(run.booked_minor, currency)}, provider {moneyText(run.stated_minor, currency)}
              {run.charges_minor !== '0' && `, and charges ${moneyText(run.charges_minor, currency)}`}
              {run.unproven && <span className="block">{run.unproven}</span>}
            </>
          }
        />
      )}
    </List>
  )
}
