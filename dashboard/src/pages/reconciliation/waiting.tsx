import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import {
  differencesQuery,
  type Listed,
  lateSuccessesQuery,
  providerAlertsQuery,
  readinessQuery,
  rowsOf,
  suspenseQuery,
  unknownPaymentsQuery,
} from '../../api/queries.ts'
import { typeLabel } from '../../lib/rails.ts'
import { countWords, shortMoney, sumMinor } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { type IconName, LinkButton } from '../../ui/button.tsx'
import { Item } from '../../ui/listing.tsx'
import { Card, Empty, Time } from '../../ui/page.tsx'
import { openItems } from './unknown.ts'

type Waits = { id: string; amount: string | null; at: string }
type Kind = { icon: IconName; words: [one: string, many: string]; href: string; items: readonly Waits[]; hasMore: boolean }

const magnitude = (minor: string | null): string | null => minor?.replace('-', '') ?? null

const useList = <Row,>(query: Listed<Row>) => {
  const list = useInfiniteQuery(query)
  return { rows: rowsOf(list), isPending: list.isPending, hasMore: list.hasNextPage }
}

/** What waits for a decision by an administrator of the service, of every workspace: how much money and since when. */
const useWaiting = (): { kinds: Kind[]; isPending: boolean } => {
  const unknown = useList(unknownPaymentsQuery)
  const late = useList(lateSuccessesQuery)
  const suspense = useList(suspenseQuery)
  const differences = useList(differencesQuery)
  const told = useList(providerAlertsQuery)
  const { inSuspense, others } = openItems(suspense.rows, differences.rows)
  const kinds: Kind[] = [
    {
      icon: 'alert',
      words: ['payment without a known outcome', 'payments without a known outcome'],
      href: '/reconciliation/unknown',
      items: unknown.rows.map(({ id, amount_minor: amount, created_at: at }) => ({ id, amount, at })),
      hasMore: unknown.hasMore,
    },
    {
      icon: 'payments',
      words: ['payment paid after it had failed', 'payments paid after they had failed'],
      href: '/reconciliation',
      items: late.rows.flatMap(({ id, late_success: paid }) => (paid ? [{ id, amount: paid.amount_minor, at: paid.at }] : [])),
      hasMore: late.hasMore,
    },
    {
      icon: 'topup',
      words: ['item in suspense', 'items in suspense'],
      href: '/reconciliation',
      items: inSuspense.flatMap(({ suspense: item }) =>
        item ? [{ id: item.id, amount: item.amount_minor, at: item.created_at }] : [],
      ),
      hasMore: suspense.hasMore,
    },
    {
      icon: 'bank',
      words: ['difference with a statement', 'differences with statements'],
      href: '/reconciliation',
      items: others.flatMap(({ difference: item }) =>
        item ? [{ id: item.id, amount: item.stated_minor ?? item.booked_minor, at: item.created_at }] : [],
      ),
      hasMore: differences.hasMore,
    },
    {
      icon: 'bank',
      words: ['later word of a provider', 'later words of providers'],
      href: '/reconciliation',
      items: told.rows.map(({ id, amount_minor: amount, created_at: at }) => ({ id, amount, at })),
      hasMore: told.hasMore,
    },
  ]
  return {
    kinds: kinds.filter(({ items }) => items.length > 0),
    isPending: [unknown, late, suspense, differences, told].some((list) => list.isPending),
  }
}

/** Rails that send nothing, by reason. */
const StoppedRails = () => {
  const rails = Object.entries(useQuery(readinessQuery).data?.rails ?? {})
  if (rails.length === 0) return null
  const reasons = [...new Set(rails.map(([, reason]) => reason))]
  return (
    <Card title="Rails that send nothing" label="Rails that send nothing" flush>
      <ul className="rows">
        {reasons.map((reason) => (
          <li key={reason}>
            <Item
              className="need"
              icon="alert"
              tone="warn"
              title={rails.flatMap(([rail, why]) => (why === reason ? [typeLabel(rail)] : [])).join(', ')}
              note={`${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`}
            />
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** For administrators of the service, before anything else. `quiet`: says also that nothing waits. */
export const ServiceWaiting = ({ quiet = false }: { quiet?: boolean }) => {
  const { currency } = useSession()
  const { kinds, isPending } = useWaiting()
  if (kinds.length === 0)
    return (
      <>
        <StoppedRails />
        {quiet && !isPending && (
          <Card>
            <Empty icon="check" title="Nothing waits for a decision" />
          </Card>
        )}
      </>
    )
  return (
    <>
      <StoppedRails />
      <Card title="Waits for a decision" note="Of the whole service, for its administrators." label="Waits for a decision" flush>
        <ul className="rows">
          {kinds.map(({ icon, words, href, items, hasMore }) => {
            const oldest = items.map(({ at }) => at).toSorted()[0]
            const total = shortMoney(sumMinor(items.map(({ amount }) => magnitude(amount) ?? '0')), currency)
            return (
              <li key={words[0]}>
                <Item
                  className="need"
                  icon={icon}
                  tone="warn"
                  title={`${hasMore ? 'More than ' : ''}${countWords(items.length, ...words)}`}
                  note={
                    <>
                      {total}, the oldest <Time at={oldest} />
                    </>
                  }
                >
                  <LinkButton href={href} size="small">
                    Decide
                  </LinkButton>
                </Item>
              </li>
            )
          })}
        </ul>
      </Card>
    </>
  )
}
