import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { historyPath, historyQuery, type Schemas } from '../../api/queries.ts'
import { useFilters } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { hasFees } from '../../lib/page-state.ts'
import { groupByKey, moneyText, sumMinor } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { FoldButton, LinkButton } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { CsvButton, FilterBar } from '../../ui/filter-bar.tsx'
import { Listing, Table } from '../../ui/listing.tsx'
import { Amount, Empty, EmptyCard, ExactTime, MaybeLink, Page } from '../../ui/page.tsx'
import { richBooks, tBooks } from './texts.ts'

type Entry = Schemas['WorkspaceHistoryEntry']
type EntryType = Entry['type']

const titles: Readonly<Record<EntryType, string>> = {
  topup: tBooks('entry.topup'),
  payment_hold: tBooks('entry.hold'),
  payment: tBooks('entry.payment'),
  payment_release: tBooks('entry.release'),
  payment_return: tBooks('entry.return'),
  fee: t('fee'),
  separation: tBooks('entry.separation'),
  adjustment: tBooks('entry.adjustment'),
}

const titleOf = ({ type, beneficiary }: Entry): string => {
  if (!beneficiary) return titles[type]
  const { display_name: name } = beneficiary
  if (type === 'payment_hold') return tBooks('held_for', { name })
  if (type === 'fee') return tBooks('fee_of', { name })
  if (type === 'payment_return') return tBooks('returned_by', { name })
  return type === 'payment_release' ? tBooks('released', { name }) : tBooks('paid_to', { name })
}
const types = Object.keys(titles) as EntryType[]

const hrefOf = ({ reference }: Entry): string | null => {
  if (reference.type === 'payment') return `/payments/${reference.id}`
  return reference.type === 'topup' ? `/top-up/${reference.id}` : null
}

/** Every ledger entry that changed the available or held amount, for reconciliation. */
export const HistoryPage = () => {
  const { seesBalance, workspace } = useSession()
  if (!seesBalance)
    return (
      <Page title={t('nav.history')}>
        <EmptyCard
          icon="list"
          title={tBooks('owners')}
          actions={
            <>
              <LinkButton href="/payments">{tBooks('view_payments')}</LinkButton>
              <LinkButton href="/statements">{t('nav.statements')}</LinkButton>
            </>
          }
        >
          {tBooks('owners.note', { name: workspace.name })}
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
  const { hasOwnBalance } = useSession()
  const query = historyQuery(parameters, hasOwnBalance)
  return (
    <Page
      title={t('nav.history')}
      lead={hasOwnBalance ? tBooks('history.team') : tBooks('history.own')}
      actions={
        <>
          <LinkButton href="/statements" icon="receipt">
            {t('nav.statements')}
          </LinkButton>
          <CsvButton path={historyPath(hasOwnBalance)} query={parameters} name="history" />
        </>
      }
    >
      <FilterBar filters={filters}>
        <SelectField
          label={t('type')}
          {...filters.field('type')}
          emptyLabel={tBooks('all_types')}
          options={types.flatMap((type) => (type === 'fee' && !hasFees() ? [] : [{ value: type, label: titles[type] }]))}
        />
      </FilterBar>
      <Listing
        label={t('nav.history')}
        query={query}
        empty={<Empty icon="list" title={filters.any ? tBooks('no_match') : tBooks('none')} />}
      >
        {(entries) => <Entries entries={entries} />}
      </Listing>
    </Page>
  )
}

/** Groups entries of the same type in one batch. A late success was charged without a hold, so it is not grouped. */
const keyOf = ({ type, batch, amount_minor: minor }: Entry): string | null =>
  (type === 'payment' || type === 'fee') && minor !== '0' ? null : batch && `${type} ${batch.id}`

const Entries = ({ entries }: { entries: readonly Entry[] }) => (
  <Table
    headings={[tBooks('when'), tBooks('entry'), { figures: tBooks('change') }, { figures: tBooks('after') }]}
    folded="booking"
  >
    {groupByKey(entries, keyOf).map((group) =>
      group.length > 1 ? (
        <BatchEntries key={group[0].id} entries={group} />
      ) : (
        <Line key={group[0].id} entry={group[0]} minor={group[0].amount_minor} held={group[0].held_change_minor}>
          <MaybeLink href={hrefOf(group[0])}>{titleOf(group[0])}</MaybeLink>
        </Line>
      ),
    )}
  </Table>
)

const Line = ({ entry, minor, held, children }: { entry: Entry; minor: string; held: string; children: ReactNode }) => {
  const { currency } = useSession()
  return (
    <tr>
      <td className="faint nowrap">
        <ExactTime at={entry.created_at} />
      </td>
      <td>{children}</td>
      <td className="figure">
        {minor === '0' ? (
          <span className="faint">{tBooks('from_held', { amount: moneyText(held.replace('-', ''), currency) })}</span>
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

/** Entries of one batch in one line with their total, which unfolds to single entries. */
const BatchEntries = ({ entries }: { entries: readonly [Entry, ...Entry[]] }) => {
  const [open, setOpen] = useState(false)
  const [newest] = entries
  return (
    <>
      <Line
        entry={newest}
        minor={sumMinor(entries.map(({ amount_minor: minor }) => minor))}
        held={sumMinor(entries.map(({ held_change_minor: minor }) => minor))}
      >
        {richBooks(`list.${newest.type as 'payment'}`, {
          count: new Set(entries.map(({ reference }) => reference.id)).size,
          list: <Link href={`/payments/batches/${newest.batch?.id}`}>{newest.batch?.name ?? tBooks('a_list')}</Link>,
          fold: <FoldButton open={open} onChange={setOpen} words={[tBooks('each'), tBooks('fold')]} />,
        })}
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
