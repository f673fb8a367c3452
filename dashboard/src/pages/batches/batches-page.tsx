import { useInfiniteQuery } from '@tanstack/react-query'
import { batchesQuery } from '../../api/queries.ts'
import { useDebounced, useFilters } from '../../lib/drafts.ts'
import { countWords } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { NewLink } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Amount, Empty, Page, StatusBadge, Time } from '../../ui/page.tsx'

export const BatchesPage = () => {
  const { can } = useSession()
  const { get, set } = useFilters()
  const q = get('q') ?? ''
  const query = useInfiniteQuery(batchesQuery(useDebounced(q.trim()) || undefined))
  const create = can('payment.create') && <NewLink href="/payments/batches/new">Pay a list</NewLink>
  return (
    <Page
      title="Lists of payments"
      lead="Salaries and other lists: checked as a whole, and approved once."
      back={{ href: '/payments', label: 'Payments' }}
      actions={create}
    >
      <search className="filters">
        <TextField label="Search" type="search" value={q} onChange={(text) => set('q', text)} placeholder="Name of the list" />
      </search>
      <List
        label="Lists of payments"
        query={query}
        empty={
          q === '' ? (
            <Empty icon="payments" title="No lists yet" actions={create}>
              Pay many people from one spreadsheet, with one approval.
            </Empty>
          ) : (
            <Empty icon="payments" title="No list has this in its name" />
          )
        }
      >
        {(batch) => (
          <Item
            href={`/payments/batches/${batch.id}`}
            title={batch.name ?? 'List without a name'}
            note={<Time at={batch.created_at} before={`${countWords(batch.items_count, 'payment')}, `} />}
          >
            <StatusBadge status={batch.status} />
            <Amount minor={batch.total_minor} currency={batch.currency} />
          </Item>
        )}
      </List>
    </Page>
  )
}
