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
import { shortMoney, sumMinor } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { Item } from '../../ui/listing.tsx'
import { Card, Empty, Failure, Time } from '../../ui/page.tsx'
import { bookLabel } from './item-words.ts'
import { richRecon, tRecon } from './texts.ts'
import { type Difference, openItems } from './unknown.ts'

type Queue = {
  icon: IconName
  name: 'unknown' | 'late' | 'suspense' | 'differences' | 'alerts'
  href: string
  items: readonly { id: string; amount: string | null; at: string }[]
  hasMore: boolean
}

const magnitude = (minor: string): string => minor.replace('-', '')

/** The provider's amount less the books' amount. */
const differenceOf = ({ booked_minor: booked, stated_minor: stated }: Difference): string =>
  (BigInt(stated ?? '0') - BigInt(booked ?? '0')).toString()

const useList = <Row,>(query: Listed<Row>) => {
  const list = useInfiniteQuery(query)
  return { ...list, rows: rowsOf(list), hasMore: list.hasNextPage }
}

/** Amounts and times of everything that waits for an administrator of the service, in all workspaces. */
const useWaiting = () => {
  const unknown = useList(unknownPaymentsQuery)
  const late = useList(lateSuccessesQuery)
  const suspense = useList(suspenseQuery)
  const differences = useList(differencesQuery)
  const alerts = useList(providerAlertsQuery)
  const { inSuspense, others } = openItems(suspense.rows, differences.rows)
  const queues: Queue[] = [
    {
      icon: 'alert',
      name: 'unknown',
      href: '/reconciliation/unknown',
      items: unknown.rows.map(({ id, amount_minor: amount, created_at: at }) => ({ id, amount, at })),
      hasMore: unknown.hasMore,
    },
    {
      icon: 'payments',
      name: 'late',
      href: '/reconciliation',
      items: late.rows.flatMap(({ id, late_success: paid }) => (paid ? [{ id, amount: paid.amount_minor, at: paid.at }] : [])),
      hasMore: late.hasMore,
    },
    {
      icon: 'topup',
      name: 'suspense',
      href: '/reconciliation',
      items: inSuspense.flatMap(({ suspense: item }) =>
        item ? [{ id: item.id, amount: item.amount_minor, at: item.created_at }] : [],
      ),
      hasMore: suspense.hasMore,
    },
    {
      icon: 'bank',
      name: 'differences',
      href: '/reconciliation',
      items: others.flatMap(({ difference: item }) =>
        item ? [{ id: item.id, amount: differenceOf(item), at: item.created_at }] : [],
      ),
      hasMore: differences.hasMore,
    },
    {
      icon: 'bank',
      name: 'alerts',
      href: '/reconciliation',
      items: alerts.rows.map(({ id, amount_minor: amount, created_at: at }) => ({ id, amount, at })),
      hasMore: alerts.hasMore,
    },
  ]
  const lists = [unknown, late, suspense, differences, alerts]
  return {
    queues: queues.filter(({ items }) => items.length > 0),
    isPending: lists.some((list) => list.isPending),
    failed: lists.find((list) => list.isError),
  }
}

/** Stopped rails, grouped by reason. */
const StoppedRails = () => {
  const { data, error, refetch } = useQuery(readinessQuery)
  if (!data) return <Failure error={error} onRetry={() => void refetch()} />
  const rails = Object.entries(data.rails ?? {})
  if (rails.length === 0) return null
  const reasons = [...new Set(rails.map(([, reason]) => reason))]
  return (
    <Card title={tRecon('wait.paused')} label={tRecon('wait.paused')} flush>
      <ul className="rows">
        {reasons.map((reason) => (
          <li key={reason}>
            <Item
              icon="alert"
              tone="warn"
              title={rails.flatMap(([rail, why]) => (why === reason ? [bookLabel(rail)] : [])).join(', ')}
              note={`${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`}
            />
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** Shown to administrators of the service, before anything else. `showsEmpty`: shows a message even if nothing waits. */
export const ServiceWaiting = ({ showsEmpty = false }: { showsEmpty?: boolean }) => {
  const { currency } = useSession()
  const { queues, isPending, failed } = useWaiting()
  const top = (
    <>
      <Failure error={failed?.error} onRetry={() => void failed?.refetch()} />
      <StoppedRails />
    </>
  )
  if (queues.length === 0)
    return (
      <>
        {top}
        {showsEmpty && !isPending && !failed && (
          <Card>
            <Empty icon="check" title={tRecon('wait.none')} />
          </Card>
        )}
      </>
    )
  return (
    <>
      {top}
      <Card title={tRecon('wait.title')} note={tRecon('wait.lead')} label={tRecon('wait.title')} flush>
        <ul className="rows">
          {queues.map(({ icon, name, href, items, hasMore }) => {
            const oldest = items.map(({ at }) => at).toSorted()[0]
            const amounts = items.flatMap(({ amount }) => (amount === null ? [] : [magnitude(amount)]))
            const what = tRecon(`wait.${name}`, { count: items.length })
            return (
              <li key={name}>
                <Item
                  className="need"
                  icon={icon}
                  tone="warn"
                  title={hasMore ? tRecon('wait.more', { what }) : what}
                  note={richRecon(amounts.length === 0 ? 'wait.note_unpriced' : 'wait.note', {
                    amount: shortMoney(sumMinor(amounts), currency),
                    at: <Time at={oldest} />,
                  })}
                >
                  <LinkButton href={href} size="small">
                    {tRecon('wait.decide')}
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
