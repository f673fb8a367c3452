import { type UseInfiniteQueryResult, useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { type Schemas, statementQuery } from '../../api/queries.ts'
import { useFilters } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { addMonths, dayLabel, localDate, monthLabel, now, zoneWords } from '../../lib/time.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, FoldButton } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { CsvButton } from '../../ui/filter-bar.tsx'
import { Loading, More, Table } from '../../ui/listing.tsx'
import { Amount, Card, Empty, ExactTime, Facts, MaybeLink, Page } from '../../ui/page.tsx'
import { tBooks } from '../history/texts.ts'

type Entry = Schemas['WorkspaceStatementEntry']
type Period = Omit<Schemas['WorkspaceStatement'], 'entries'> & {
  opening_balance_minor: string | null
  closing_balance_minor: string | null
}

const isMonth = (text: string | null): text is string => text !== null && /^\d{4}-(0[1-9]|1[0-2])$/.test(text)

const monthOf = (at: number): string => localDate(at).slice(0, 7)

/** Months to choose from, newest first: those since `since`, and the shown one. Not every browser has a field for months. */
const monthOptions = (since: number, shown: string) => {
  const months: string[] = []
  for (let month = monthOf(now()); month >= monthOf(since); month = addMonths(month, -1)) months.push(month)
  return [...new Set([...months, shown])]
    .sort()
    .reverse()
    .map((value) => ({ value, label: monthLabel(value) }))
}

/** Prints every entry, not only those on the screen. */
const PrintButton = ({ query }: { query: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'fetchNextPage'> }) => {
  const prepare = useMutation({
    mutationFn: async () => {
      for (let read = query; read.hasNextPage; ) read = await read.fetchNextPage({ throwOnError: true })
    },
  })
  // Waits until the rows are rendered. Not called if the page has been left.
  const print = () => prepare.mutate(undefined, { onSuccess: () => setTimeout(() => window.print()) })
  return (
    <Button icon="print" busy={prepare.isPending} onClick={print}>
      {tBooks('print')}
    </Button>
  )
}

/** Prints the period at the top of each page, and the page number below. */
const usePaperMargins = (words: string | undefined) =>
  useEffect(() => {
    if (words === undefined) return undefined
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(
      `@page { margin: 18mm 14mm; font: 9pt sans-serif; @top-left { content: ${JSON.stringify(words)} } @bottom-right { content: counter(page) " / " counter(pages) } }`,
    )
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
    return () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet)
    }
  }, [words])

/** A month for a company's books: opening, in, out, closing. Without access to the balance: the workspace's payments. */
export const StatementPage = () => {
  const { account, balance, hasOwnBalance, workspace } = useSession()
  const isAccountStatement = balance !== null && !hasOwnBalance
  const filters = useFilters()
  const chosen = filters.get('month')
  const month = isMonth(chosen) ? chosen : undefined
  const query = useInfiniteQuery(statementQuery(month, isAccountStatement))
  const period: Period | undefined = query.data?.pages[0]
  const shown = month ?? period?.from.slice(0, 7) ?? monthOf(now())
  // A team may use a balance that is older than the team.
  const since = Math.min(Date.parse(account.created_at), Date.parse(workspace.created_at))
  const path = isAccountStatement ? '/v1/accounts/me/statement' : '/v1/workspaces/current/statement'
  const entries: Entry[] = query.data?.pages.flatMap((page) => page.entries as Entry[]) ?? []
  const words =
    period &&
    tBooks('statement.of', {
      name: workspace.name,
      first_day: dayLabel(period.from),
      last_day: dayLabel(period.to),
      slice: period.to.slice(0, 4),
      time_zone: zoneWords(period.time_zone),
      what: period.unfinished_at === null ? '' : tBooks('unfinished'),
    })
  usePaperMargins(words)
  return (
    <Page
      title={t('nav.statements')}
      lead={words ?? tBooks('statement.lead')}
      actions={
        <>
          <PrintButton query={query} />
          <CsvButton
            path={path}
            query={{ from: month && `${month}-01` }}
            name={`statement-${period?.from.slice(0, 7) ?? 'current'}`}
          />
        </>
      }
    >
      <div className="row no-print" style={{ alignItems: 'end' }}>
        <SelectField
          label={tBooks('month')}
          value={shown}
          onChange={(chosen) => filters.set('month', chosen)}
          options={monthOptions(since, shown)}
        />
        <Button onClick={() => filters.set('month', addMonths(shown, -1))}>{tBooks('month.previous')}</Button>
        <Button disabled={shown >= monthOf(now())} onClick={() => filters.set('month', addMonths(shown, 1))}>
          {tBooks('month.next')}
        </Button>
      </div>
      <Loading query={query} rows={5} />
      {period && (
        <>
          <Totals period={period} />
          <Card title={tBooks('bookings')} flush>
            {entries.length === 0 ? (
              <Empty icon="list" title={tBooks('bookings.none')} />
            ) : (
              <Bookings entries={entries} period={period} />
            )}
            <More query={query} />
          </Card>
        </>
      )}
    </Page>
  )
}

const maxPayees = 10

/** Shown after an upgrade, until the service has recomputed all hourly totals. */
const notComputed = tBooks('not_counted')

const Totals = ({ period }: { period: Period }) => {
  const { currency, opening_balance_minor: opening, closing_balance_minor: closing } = period
  const payees = period.totals?.by_payee ?? []
  const fees = period.totals?.by_type.find(({ type }) => type === 'fee')
  const [showsAll, setShowsAll] = useState(false)
  return (
    <>
      <Card>
        <Facts
          facts={{
            [tBooks('opening')]: opening === null ? null : <Amount minor={opening} currency={currency} />,
            [tBooks('in')]: period.in_minor === null ? notComputed : <Amount minor={period.in_minor} currency={currency} />,
            [tBooks('out')]: period.out_minor === null ? notComputed : <Amount minor={period.out_minor} currency={currency} />,
            [tBooks('of_which_fees')]: fees && <Amount minor={fees.out_minor} currency={currency} />,
            [period.unfinished_at === null ? tBooks('closing') : tBooks('so_far')]: closing && (
              <Amount minor={closing} currency={currency} size="medium" />
            ),
          }}
        />
      </Card>
      {payees.length > 0 && (
        <Card title={tBooks('by_payee')} flush>
          <Table headings={[t('payee'), { figures: t('payments_label') }, { figures: tBooks('out') }]} label={tBooks('by_payee')}>
            {payees.map((payee, index) => (
              <tr key={payee.id} className={index < maxPayees || showsAll ? undefined : 'only-print'}>
                <td>
                  <Link href={`/beneficiaries/${payee.id}`}>{payee.display_name}</Link>
                </td>
                <td className="figure">{payee.entries}</td>
                <td className="figure">
                  <Amount minor={payee.out_minor} currency={currency} />
                </td>
              </tr>
            ))}
          </Table>
          {payees.length > maxPayees && (
            <div className="row row-end card-footer no-print">
              <FoldButton
                open={showsAll}
                onChange={setShowsAll}
                words={[tBooks('all_payees', { length: payees.length }), tBooks('first_payees', { max: maxPayees })]}
              />
            </div>
          )}
        </Card>
      )}
    </>
  )
}

const typeWords: Readonly<Record<Schemas['StatementEntry']['type'], string>> = {
  topup: tBooks('entry.topup'),
  payment: t('payment'),
  payment_return: tBooks('came_back'),
  fee: t('fee'),
  adjustment: tBooks('entry.adjustment'),
}

const hrefOf = ({ payment_id: payment, topup_id: topup }: Entry): string | null =>
  payment ? `/payments/${payment}` : topup ? `/top-up/${topup}` : null

const Bookings = ({ entries, period }: { entries: readonly Entry[]; period: Period }) => (
  <Table
    headings={[
      tBooks('when'),
      tBooks('booking'),
      { figures: t('amount') },
      ...(period.opening_balance_minor === null ? [] : [{ figures: tBooks('balance_after') }]),
    ]}
    folded="booking"
  >
    {entries.map((entry) => (
      <tr key={`${entry.at} ${entry.payment_id} ${entry.topup_id} ${entry.amount_minor} ${entry.balance_after_minor}`}>
        <td className="faint nowrap">
          <ExactTime at={entry.at} />
        </td>
        <td>
          <p>
            <MaybeLink href={hrefOf(entry)}>{entry.payee ? entry.payee.display_name : typeWords[entry.type]}</MaybeLink>
          </p>
          {entry.narrative && <p className="faint small">{entry.narrative}</p>}
          {entry.batch && (
            <p className="faint small">
              <Link href={`/payments/batches/${entry.batch.id}`}>{entry.batch.name ?? t('payment_batch')}</Link>
            </p>
          )}
          {entry.provider_receipt && <p className="faint mono small">{entry.provider_receipt}</p>}
        </td>
        <td className="figure">
          <Amount minor={entry.amount_minor} currency={period.currency} signed />
        </td>
        {entry.balance_after_minor !== null && (
          <td className="figure">
            <Amount minor={entry.balance_after_minor} currency={period.currency} />
          </td>
        )}
      </tr>
    ))}
  </Table>
)
