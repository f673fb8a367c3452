import { type UseInfiniteQueryResult, type UseQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { type Listed, rowsOf } from '../api/queries.ts'
import { cx } from '../lib/class-names.ts'
import { rich, t } from '../lib/language.ts'
import { Button, FoldButton } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import { Card, type CardProps, Failure, SkeletonCard, SkeletonRows, Time, type Tone } from './page.tsx'

type ItemProps = {
  icon?: IconName
  tone?: Exclude<Tone, 'plain'> | undefined
  /** Replaces the icon. */
  mark?: ReactNode
  /** Time of the item, before all other content. */
  time?: ReactNode
  title: ReactNode
  note?: ReactNode
  /** Further details. */
  more?: ReactNode
  /** Target of a click anywhere in the row: `href` opens a page, `onOpen` runs an action. */
  href?: string
  onOpen?: () => void
  className?: string
  children?: ReactNode
}

export const Item = ({ icon, tone, mark, time, title, note, more, href, onOpen, className, children }: ItemProps) => {
  const content = (
    <>
      {time}
      {(icon || mark) && <span className={cx('avatar', tone && `tone-${tone}`)}>{mark || (icon && <Icon name={icon} />)}</span>}
      <span className="item-main">
        <span className="item-title">{title}</span>
        {note && <span className="item-note block">{note}</span>}
        {more}
      </span>
      {children}
    </>
  )
  if (onOpen)
    return (
      <button type="button" className={cx('item item-button', className)} onClick={onOpen}>
        {content}
      </button>
    )
  if (!href) return <div className={cx('item', className)}>{content}</div>
  return (
    <Link href={href} className={cx('item', className)}>
      {content}
    </Link>
  )
}

type LoadingProps = { query: UseQueryResult<unknown> | UseInfiniteQueryResult<unknown>; rows?: number }

/** Loading state of a query, or its error. */
export const Loading = ({ query, rows = 3 }: LoadingProps) =>
  query.isPending ? (
    <SkeletonCard rows={rows} />
  ) : (
    <Failure error={query.isError && query.error} onRetry={() => void query.refetch()} />
  )

/** Button for further pages, below the rows of a paged list. */
export const More = ({ query }: { query: UseInfiniteQueryResult<unknown> }) =>
  query.hasNextPage && (
    <div className="row row-end card-footer no-print">
      <Button variant="ghost" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {t('show_more')}
      </Button>
    </div>
  )

type ListingProps<Item> = {
  query: Listed<Item>
  empty: ReactNode
  rows?: number | undefined
  /** Whether to show only the first page, without a button for more. */
  firstPageOnly?: boolean | undefined
  children: (items: Item[]) => ReactNode
} & Pick<CardProps, 'title' | 'label' | 'note' | 'actions' | 'footer'>

/** Animates only rows that arrive and badges that change later, not the first rows. */
export const LiveRows = ({ children }: { children: ReactNode }) => {
  const [live, setLive] = useState(false)
  useEffect(() => setLive(true), [])
  return <div className={live ? 'live-rows' : undefined}>{children}</div>
}

type RowsProps<Item> = { items: readonly Item[]; children: (item: Item) => ReactNode }

export const Rows = <Item extends { id: string | number }>({ items, children }: RowsProps<Item>) => (
  <ul className="rows">
    {items.map((item) => (
      <li key={item.id}>{children(item)}</li>
    ))}
  </ul>
)

/** Active and pending items. A button shows the ended ones. */
export const Current = <Row extends { id: string; status: string }>({ none, ...rows }: RowsProps<Row> & { none: string }) => {
  const { items } = rows
  const [showsAll, setShowsAll] = useState(false)
  const current = items.filter(({ status }) => status === 'active' || status === 'pending')
  const ended = items.length - current.length
  return (
    <>
      <Rows {...rows} items={showsAll ? items : current} />
      {current.length === 0 && !showsAll && <p className="card-body muted">{none}</p>}
      {ended > 0 && (
        <div className="row row-end card-footer">
          <FoldButton open={showsAll} onChange={setShowsAll} words={[t('ended_fold', { count: ended }), t('ended_unfold')]} />
        </div>
      )}
    </>
  )
}

/** A paged list in all its states: loading, failed, empty, with more pages. A title or a label puts it in a card. */
export const Listing = <Item,>({ query, empty, rows, firstPageOnly, children, ...card }: ListingProps<Item>) => {
  const states = <PagedRows {...{ query, empty, rows, firstPageOnly, children }} />
  if (card.title === undefined && card.label === undefined) return states
  return (
    <Card {...card} flush>
      {states}
    </Card>
  )
}

const PagedRows = <Item,>({ query: asked, empty, rows = 5, firstPageOnly = false, children }: ListingProps<Item>) => {
  const query = useInfiniteQuery(asked)
  if (query.isPending) return <SkeletonRows rows={rows} />
  const failure = query.isError && (
    <div className="card-body">
      {query.data && <StaleNotice at={query.dataUpdatedAt} />}
      <Failure error={query.error} onRetry={() => void query.refetch()} />
    </div>
  )
  if (!query.data) return failure
  const items = rowsOf(query)
  if (items.length === 0) return failure || empty
  return (
    <>
      {failure}
      <LiveRows>{children(items)}</LiveRows>
      {!firstPageOnly && <More query={query} />}
    </>
  )
}

export const List = <Item extends { id: string }>({
  children,
  ...listing
}: Omit<ListingProps<Item>, 'children'> & { children: (item: Item) => ReactNode }) => (
  <Listing {...listing}>{(items) => <Rows items={items}>{children}</Rows>}</Listing>
)

/** Shown above outdated rows after a failed refresh, with their time. */
export const StaleNotice = ({ at }: { at: number }) => (
  <p className="muted">{rich('old_list', { at: <Time at={new Date(at).toISOString()} /> })}</p>
)

/** Heading of a column: `{ figures }` aligns right; `{ hidden }` is for screen readers only. */
type Heading = string | { figures: string } | { hidden: string }

type TableProps = {
  headings: readonly (Heading | false)[]
  label?: string
  /** Layout of each row as a block on a narrow screen. */
  folded?: 'booking' | 'cells' | 'line'
  className?: string
  /** Whether the children are table bodies instead of rows. */
  bodies?: boolean
  children: ReactNode
}

const Head = ({ heading }: { heading: Heading | false }) => {
  if (!heading) return null
  if (typeof heading === 'string') return <th scope="col">{heading}</th>
  return 'figures' in heading ? (
    <th scope="col" className="figure">
      {heading.figures}
    </th>
  ) : (
    <th scope="col">
      <span className="visually-hidden">{heading.hidden}</span>
    </th>
  )
}

export const Table = ({ headings, label, folded, className, bodies = false, children }: TableProps) => (
  <div className="table-scroll">
    <table className={cx('table', folded && `table-folded table-folded-${folded}`, className)} aria-label={label}>
      <thead>
        <tr>
          {headings.map((heading, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns have no ID and keep their positions
            <Head key={index} heading={heading} />
          ))}
        </tr>
      </thead>
      {bodies ? children : <tbody>{children}</tbody>}
    </table>
  </div>
)

/** Selection of at most `max` of these keys, with functions that change it. */
export const useSelection = (keys: readonly string[], max = Number.POSITIVE_INFINITY) => {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const chosen = keys.filter((key) => selected.has(key)).slice(0, max)
  const selectable = keys.slice(0, max)
  return {
    chosen,
    toggle: (key: string) => {
      const next = new Set(selected)
      if (!next.delete(key)) next.add(key)
      setSelected(next)
    },
    allSelected: chosen.length > 0 && chosen.length === selectable.length,
    toggleAll: () => setSelected(new Set(chosen.length === selectable.length ? [] : selectable)),
    clear: () => setSelected(new Set()),
    isEmpty: keys.length === 0,
  }
}

type BarProps = { selection: ReturnType<typeof useSelection>; words: string; apart?: boolean; children: ReactNode }

/** Bar above a list that selects all or nothing and describes the selection. `apart`: as a card, above several lists. */
export const SelectionBar = ({ selection, words, apart = false, children }: BarProps) => (
  <div className={cx('row row-between selection-bar', apart && 'card')}>
    <label className="check">
      <input type="checkbox" checked={selection.allSelected} disabled={selection.isEmpty} onChange={selection.toggleAll} />
      <span>{words}</span>
    </label>
    {selection.chosen.length > 0 && <div className="row row-tight">{children}</div>}
  </div>
)

export type Step = {
  key: string
  tone: 'good' | 'warn' | 'bad' | 'now' | 'later'
  icon: IconName
  title: ReactNode
  note?: ReactNode
  /** Shown beside the title: a time or an action. */
  side?: ReactNode
  below?: ReactNode
}

/** Steps in order. Future steps have an empty mark. */
export const Steps = ({ steps, label }: { steps: readonly Step[]; label: string }) => (
  <ol className="timeline" aria-label={label}>
    {steps.map(({ key, tone, icon, title, note, side, below }) => (
      <li key={key}>
        <span className={`timeline-mark tone-${tone}`}>{tone !== 'later' && <Icon name={icon} size={14} />}</span>
        <div>
          <div className="row row-between row-tight">
            <span>{title}</span>
            {side && <span className="faint small">{side}</span>}
          </div>
          {note && <p className="muted small">{note}</p>}
          {below && <p className="faint small">{below}</p>}
        </div>
      </li>
    ))}
  </ol>
)
