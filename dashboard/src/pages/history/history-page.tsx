import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { historyQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useFilters } from '../../lib/filters.ts'
import { dayEnd, dayStart } from '../../lib/zone.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Empty, Page } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Table } from '../../ui/table.tsx'
import { ExactTime } from '../../ui/time.tsx'

type Entry = Schemas['HistoryEntry']
type EntryType = Entry['type']

const titles: Readonly<Record<EntryType, string>> = {
  topup: 'Top-up',
  payment_hold: 'Held for a payment',
  payment: 'Payment completed',
  payment_release: 'Returned to balance',
  adjustment: 'Adjustment',
}

/** "Held for Kenya Power": names the payment by its beneficiary. */
const titleOf = ({ type, beneficiary }: Entry): string => {
  if (!beneficiary) return titles[type]
  const { display_name: name } = beneficiary
  if (type === 'payment_hold') return `Held for ${name}`
  return type === 'payment_release' ? `Returned to balance from ${name}` : `Paid to ${name}`
}
const types = Object.keys(titles) as EntryType[]

const hrefOf = ({ reference }: Entry): string | null => {
  if (reference.type === 'payment') return `/payments/${reference.id}`
  return reference.type === 'topup' ? `/top-up/${reference.id}` : null
}

/** Every entry of the ledger that changed the available or held amount, for reconciliation. */
export const HistoryPage = () => {
  const { ownsBalance, workspace } = useSession()
  if (!ownsBalance)
    return (
      <Page title="History">
        <div className="card">
          <Empty
            icon="list"
            title="The balance is its owner’s"
            actions={
              <>
                <LinkButton href="/payments">View payments</LinkButton>
                <LinkButton href="/statements">Statements</LinkButton>
              </>
            }
          >
            {workspace.name} is paid from its owner’s balance. Only the owner sees its history.
          </Empty>
        </div>
      </Page>
    )
  return <OwnHistory />
}

const OwnHistory = () => {
  const filters = useFilters()
  const parameters = {
    type: types.find((type) => type === filters.get('type')),
    created_after: dayStart(filters.get('from')),
    created_before: dayEnd(filters.get('to')),
  }
  const query = useInfiniteQuery(historyQuery(parameters))
  return (
    <Page
      title="History"
      lead="Every entry on your balance, newest first."
      actions={
        <>
          <LinkButton href="/statements" icon="receipt">
            Statements
          </LinkButton>
          <CsvButton path="/v1/accounts/me/history" query={parameters} name="history" />
        </>
      }
    >
      <FilterBar filters={filters}>
        <SelectField
          label="Type"
          value={filters.get('type') ?? ''}
          onChange={(value) => filters.set('type', value)}
          options={[{ value: '', label: 'All types' }, ...types.map((type) => ({ value: type, label: titles[type] }))]}
        />
      </FilterBar>
      <section className="card" aria-label="History">
        <Listing query={query} empty={<Empty icon="list" title={filters.any ? 'No entries match' : 'No entries yet'} />}>
          {(entries) => <Entries entries={entries} />}
        </Listing>
      </section>
    </Page>
  )
}

const Entries = ({ entries }: { entries: readonly Entry[] }) => {
  const { currency } = useSession()
  return (
    <Table headings={['When', 'Entry', { figures: 'Change' }, { figures: 'Available after' }]} folded="booking">
      {entries.map((entry) => (
        <tr key={entry.id}>
          <td className="faint nowrap">
            <ExactTime at={entry.created_at} />
          </td>
          <td>
            <Linked href={hrefOf(entry)}>{titleOf(entry)}</Linked>
          </td>
          <td className="figure">
            {entry.amount_minor === '0' ? (
              <span className="faint">from the held amount</span>
            ) : (
              <Amount minor={entry.amount_minor} currency={currency} signed gain={entry.type === 'topup'} />
            )}
          </td>
          <td className="figure">
            <Amount minor={entry.available_after_minor} currency={currency} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

const Linked = ({ href, children }: { href: string | null; children: ReactNode }) =>
  href ? <Link href={href}>{children}</Link> : children
