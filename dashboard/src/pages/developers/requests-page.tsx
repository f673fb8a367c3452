import { grantsQuery, requestLogQuery, rowsOf } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { useDebounced, useFilters } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { requestHref } from '../../shell/paths.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Badge, Empty, ExactTime, MaybeLink } from '../../ui/page.tsx'
import { DevelopersLayout } from './developers-layout.tsx'
import { tDev } from './texts.ts'

const statuses = [
  { value: '2xx', label: t('status.succeeded') },
  { value: '4xx', label: t('view.refused') },
  { value: '5xx', label: t('status.failed') },
]

/** Requests by all credentials of the account, from the service's own log. */
export const RequestsPage = () => {
  const filters = useFilters()
  const { get, field } = filters
  const grants = useEvery(grantsQuery)
  const all = rowsOf(grants)
  const labelOf = (id: string | null) =>
    id === null ? tDev('you') : (all.find((grant) => grant.id === id)?.label ?? t('key_or_agent'))
  const query = requestLogQuery({
    request_id: useDebounced(get('request')?.trim()) || undefined,
    status: get('answer') ?? undefined,
    grant_id: get('agent') ?? undefined,
    ...filters.days,
  })
  return (
    <DevelopersLayout>
      <FilterBar filters={filters}>
        <TextField label={tDev('request_id')} type="search" mono {...field('request')} placeholder={tDev('request_id.hint')} />
        <SelectField label={tDev('answer')} {...field('answer')} emptyLabel={tDev('answers')} options={statuses} />
        <SelectField
          label={tDev('key_or_agent')}
          {...field('agent')}
          emptyLabel={t('any')}
          options={all.map(({ id, label, frozen }) => ({ value: id, label: frozen ? tDev('frozen_one', { label }) : label }))}
        />
      </FilterBar>
      <List
        title={tDev('seven_days')}
        note={tDev('requests.note')}
        query={query}
        empty={<Empty icon="code" title={filters.any ? tDev('requests.no_match') : tDev('requests.none')} />}
      >
        {({ at, method, path, status, error, message, grant_id, request_id, ms }) => (
          <Item
            className="item-fold"
            title={
              <>
                <Badge dot={false}>{method}</Badge>
                <PathOf path={path} error={error} />
                <Badge tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{String(status)}</Badge>
              </>
            }
            note={
              <>
                {message && <span className="block muted">{message}</span>}
                {labelOf(grant_id)} · <ExactTime at={at} /> · {ms} ms
              </>
            }
          >
            <CopyButton value={request_id}>{tDev('copy_request')}</CopyButton>
          </Item>
        )}
      </List>
    </DevelopersLayout>
  )
}

/** Path with a link to its resource. A refused payment request is only in the list of refusals. */
const PathOf = ({ path, error }: { path: string; error: string | null }) => {
  const href = requestHref(path) ?? (path === '/v1/payments' && error !== null ? '/payments/refused' : null)
  return (
    <MaybeLink href={href}>
      <code className="break">{path}</code>
    </MaybeLink>
  )
}
