import { batchesQuery } from '../../api/queries.ts'
import { tBatch } from '../../lib/batch-texts.ts'
import { useDebounced, useFilters } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { batchTitle } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { NewLink } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Amount, Empty, Page, StatusBadge, Time } from '../../ui/page.tsx'

export const BatchesPage = () => {
  const { can } = useSession()
  const { get, set } = useFilters()
  const q = get('q') ?? ''
  const query = batchesQuery(useDebounced(q.trim()) || undefined)
  const create = can('payment.create') && <NewLink href="/payments/batches/new">{tBatch('pay')}</NewLink>
  return (
    <Page
      title={tBatch('batches')}
      lead={tBatch('batches.note')}
      back={{ href: '/payments', label: t('payments_label') }}
      actions={create}
    >
      <search className="filters">
        <TextField
          label={t('search')}
          type="search"
          value={q}
          onChange={(text) => set('q', text)}
          placeholder={tBatch('search')}
        />
      </search>
      <List
        label={tBatch('batches')}
        query={query}
        empty={
          q === '' ? (
            <Empty icon="payments" title={tBatch('none')} actions={create}>
              {tBatch('none.note')}
            </Empty>
          ) : (
            <Empty icon="payments" title={tBatch('no_match')} />
          )
        }
      >
        {(batch) => (
          <Item
            href={`/payments/batches/${batch.id}`}
            title={batchTitle(batch)}
            note={<Time at={batch.created_at} before={`${t('payments', { count: batch.items_count })}, `} />}
          >
            <StatusBadge status={batch.status} />
            <Amount minor={batch.total_minor} currency={batch.currency} />
          </Item>
        )}
      </List>
    </Page>
  )
}
