import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { historyPath, historyQuery, type Schemas } from '../../api/queries.ts'
import { useFilters } from '../../lib/drafts.ts'
import { hasFees } from '../../lib/page-state.ts'
import { moneyText, sumMinor, together } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { FoldButton, LinkButton } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { CsvButton, FilterBar } from '../../ui/filter-bar.tsx'
import { Listing, Table } from '../../ui/listing.tsx'
import { Amount, Empty, EmptyCard, ExactTime, MaybeLink, Page } from '../../ui/page.tsx'

type Entry = Schemas['WorkspaceHistoryEntry']
type EntryType = Entry['type']

const titles: Readonly<Record<EntryType, string>> = {
  topup: 'Top-up',
  payment_hold: 'Held for a payment',
  payment: 'Payment completed',
  payment_release: 'Released to balance',
  payment_return: 'Returned',
  fee: 'Fee',
  separation: 'Balance separated',
  adjustment: 'Adjustment',
}

const titleOf = ({ type, beneficiary }: Entry): string => {
  if (!beneficiary) return titles[type]
  const { display_name: name } = beneficiary
  if (type === 'payment_hold') return `Held for ${name}`
  if (type === 'fee') return `Fee of the payment to ${name}`
  if (type === 'payment_return') return `Returned by ${name}`
  return type === 'payment_release' ? `Released: payment to ${name}` : `Paid to ${name}`
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
        <EmptyCard
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
        </EmptyCard>
      </Page>
    )
  return <OwnHistory />
}

const OwnHistory = () => {
  const filters = useFilters()
  const parameters = {
    type: types.find((type) => type === filters.get('type')),
    ...filters.days,
  }
  const { ofTeam } = useSession()
  const query = historyQuery(parameters, ofTeam)
  return (
    <Page
      title="History"
      lead={ofTeam ? 'Every entry on the balance of this workspace, newest first.' : 'Every entry on your balance, newest first.'}
      actions={
        <>
          <LinkButton href="/statements" icon="receipt">
            Statements
          </LinkButton>
          <CsvButton path={historyPath(ofTeam)} query={parameters} name="history" />
        </>
      }
    >
      <FilterBar filters={filters}>
        <SelectField
          label="Type"
          {...filters.field('type')}
          none="All types"
          options={types.flatMap((type) => (type === 'fee' && !hasFees() ? [] : [{ value: type, label: titles[type] }]))}
        />
      </FilterBar>
      <Listing
        label="History"
        query={query}
        empty={<Empty icon="list" title={filters.any ? 'No entries match' : 'No entries yet'} />}
      >
        {(entries) => <Entries entries={entries} />}
      </Listing>
    </Page>
  )
}

/** Entries of the payments of one list: held together, paid one after the other. A late success that was charged was not held, and stands alone. */
const keyOf = ({ type, batch, amount_minor: minor }: Entry): string | null =>
  (type === 'payment' || type === 'fee') && minor !== '0' ? null : batch && `${type} ${batch.id}`

const Entries = ({ entries }: { entries: readonly Entry[] }) => (
  <Table headings={['When', 'Entry', { figures: 'Change' }, { figures: 'Available after' }]} folded="booking">
    {together(entries, keyOf).map((group) =>
      group.length > 1 ? (
        <ListEntries key={group[0].id} entries={group} />
      ) : (
        <Line key={group[0].id} entry={group[0]} minor={group[0].amount_minor} held={group[0].held_change_minor}>
          <MaybeLink href={hrefOf(group[0])}>{titleOf(group[0])}</MaybeLink>
        </Line>
      ),
    )}
  </Table>
)

type LineProps = { entry: Entry; minor: string; held: string; children: ReactNode }

const Line = ({ entry, minor, held, children }: LineProps) => {
  const { currency } = useSession()
  return (
    <tr>
      <td className="faint nowrap">
        <ExactTime at={entry.created_at} />
      </td>
      <td>{children}</td>
      <td className="figure">
        {minor === '0' ? (
          <span className="faint">{moneyText(held.replace('-', ''), currency)} from the held amount</span>
        ) : (
          <Amount minor={minor} currency={currency} signed gain={entry.type === 'topup'} />
        )}
      </td>
      <td className="figure">
        {entry.available_after_minor !== null && <Amount minor={entry.available_after_minor} currency={currency} />}
      </td>
    </tr>
  )
}

const listTitles: Readonly<Record<EntryType, string>> = {
  ...titles,
  payment_hold: 'Held for',
  payment: 'Paid',
  payment_release: 'Released',
  payment_return: 'Returned from',
  fee: 'Fees of',
}

/** The payments of one list in one line, with their sum; each of them when it is opened. */
const ListEntries = ({ entries }: { entries: readonly [Entry, ...Entry[]] }) => {
  const [open, setOpen] = useState(false)
  const [newest] = entries
  return (
    <>
      <Line
        entry={newest}
        minor={sumMinor(entries.map(({ amount_minor: minor }) => minor))}
        held={sumMinor(entries.map(({ held_change_minor: minor }) => minor))}
      >
        {listTitles[newest.type]} {new Set(entries.map(({ reference }) => reference.id)).size} payments of{' '}
        <Link href={`/payments/batches/${newest.batch?.id}`}>{newest.batch?.name ?? 'a list'}</Link>{' '}
        <FoldButton open={open} onChange={setOpen} words={['Each of them', 'Fold']} />
      </Line>
      {open &&
        entries.map((entry) => (
          <Line key={entry.id} entry={entry} minor={entry.amount_minor} held={entry.held_change_minor}>
            <MaybeLink href={hrefOf(entry)}>{titleOf(entry)}</MaybeLink>
          </Line>
        ))}
    </>
  )
}
