import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { differencesQuery, suspenseQuery } from '../../api/queries.ts'
import { countWords } from '../../lib/list-words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { AdministratorsPage } from './administrators-page.tsx'
import { Clearing, Comparisons } from './books.tsx'
import { ItemRow, nameOfItem } from './item-row.tsx'
import { type OpenItem, openItems } from './open-items.ts'
import { mostAtOnce, Resolve } from './resolve.tsx'

/** For administrators of the service: where the providers and the books disagree. */
export const ReconciliationPage = () => {
  const { currency } = useSession().workspace
  return (
    <AdministratorsPage
      title="Reconciliation"
      lead="Where the providers and the books disagree, for administrators of the service."
      actions={<LinkButton href="/reconciliation/unknown">Unknown payments</LinkButton>}
    >
      <Open currency={currency} />
      <Clearing />
      <Comparisons currency={currency} />
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
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [resolving, setResolving] = useState<readonly OpenItem[] | null>(null)
  const { inSuspense, others } = openItems(
    suspense.data?.pages.flatMap((page) => page.data) ?? [],
    differences.data?.pages.flatMap((page) => page.data) ?? [],
  )
  const all = [...inSuspense, ...others]
  const first = all.slice(0, mostAtOnce)
  const chosen = all.filter(({ key }) => selected.has(key)).slice(0, mostAtOnce)
  const toggle = (key: string) => {
    const next = new Set(selected)
    if (!next.delete(key)) next.add(key)
    setSelected(next)
  }
  const rows = (items: readonly OpenItem[]) => (
    <ul className="rows">
      {items.map((item) => (
        <ItemRow
          key={item.key}
          item={item}
          currency={currency}
          checked={selected.has(item.key)}
          onCheck={() => toggle(item.key)}
          onResolve={() => setResolving([item])}
        />
      ))}
    </ul>
  )
  const noDifference = <Empty icon="check" title="No statement differs from the books" />
  return (
    <>
      {all.length > 1 && (
        <div className="selection-bar card">
          <label className="check">
            <input
              type="checkbox"
              checked={chosen.length === first.length}
              onChange={() => setSelected(new Set(chosen.length === first.length ? [] : first.map(({ key }) => key)))}
            />
            <span>{selectionWords(chosen.length, all.length)}</span>
          </label>
          {chosen.length > 0 && (
            <Button size="small" variant="primary" onClick={() => setResolving(chosen)}>
              Resolve {chosen.length}
            </Button>
          )}
        </div>
      )}
      <Card title="Suspense" note="Money that a provider moved and that could not be booked." flush>
        <Listing query={suspense} empty={<Empty icon="check" title="Nothing is in suspense" />}>
          {() => rows(inSuspense)}
        </Listing>
      </Card>
      <Card
        title="Differences"
        note="Between the books and the providers’ statements. What is in suspense is listed there."
        flush
      >
        <Listing query={differences} empty={noDifference}>
          {() => (others.length === 0 ? noDifference : rows(others))}
        </Listing>
      </Card>
      {resolving && <Resolve items={resolving} titleOf={nameOfItem} onClose={() => setResolving(null)} />}
    </>
  )
}
