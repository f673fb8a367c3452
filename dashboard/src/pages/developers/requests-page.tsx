import { useState } from 'react'
import { grantsQuery, requestLogQuery, rowsOf } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { requestHref } from '../../lib/activity-words.ts'
import { useFilters } from '../../lib/drafts.ts'
import { curlOf, type RecentCall, recentCalls } from '../../lib/recent-calls.ts'
import { useStore } from '../../lib/store.ts'
import { timeWithDay } from '../../lib/time.ts'
import { CodeBlock, CopyButton, CopyText } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Dialog } from '../../ui/form.tsx'
import { Item, List, Rows } from '../../ui/listing.tsx'
import { Badge, Card, Empty, ExactTime, MaybeLink } from '../../ui/page.tsx'
import { DevelopersLayout } from './developers-layout.tsx'

/** This tab's requests: the dashboard uses only the public API, so a program can do the same. */
export const RequestsPage = () => {
  const calls = useStore(recentCalls)
  const [open, setOpen] = useState<RecentCall | null>(null)
  return (
    <DevelopersLayout>
      <Card title="In this tab" note="Each change you made here, as an API request to copy." flush>
        {calls.length === 0 ? (
          <Empty icon="code" title="No requests yet">
            Make a payment, add a beneficiary or change a policy, and its request appears here.
          </Empty>
        ) : (
          <Rows items={calls}>
            {(call) => (
              <Item
                onOpen={() => setOpen(call)}
                time={<span className="faint mono nowrap">{timeWithDay(new Date(call.at).toISOString())}</span>}
                title={
                  <>
                    <Badge dot={false}>{call.method}</Badge>
                    <code>{call.path}</code>
                  </>
                }
              />
            )}
          </Rows>
        )}
      </Card>
      <RequestLog />
      {open && (
        <Dialog title="As a curl command" onClose={() => setOpen(null)} wide>
          <CodeBlock code={curlOf(open)} label="curl command" />
          {open.requestId && (
            <p className="faint small">
              Request ID <CopyText value={open.requestId} label="request ID" />
            </p>
          )}
        </Dialog>
      )}
    </DevelopersLayout>
  )
}

const statuses = [
  { value: '2xx', label: 'Succeeded' },
  { value: '4xx', label: 'Refused' },
  { value: '5xx', label: 'Failed' },
]

/** What every credential of the account asked the service for, from the service's own log. */
const RequestLog = () => {
  const filters = useFilters()
  const { get, field } = filters
  const grants = useEvery(grantsQuery)
  const all = rowsOf(grants)
  const labelOf = (id: string | null) =>
    id === null ? 'You' : (all.find((grant) => grant.id === id)?.label ?? 'A key or an agent')
  const query = requestLogQuery({
    request_id: get('request')?.trim() || undefined,
    status: get('answer') ?? undefined,
    grant_id: get('agent') ?? undefined,
    ...filters.days,
  })
  return (
    <>
      <FilterBar filters={filters}>
        <TextField label="Request ID" type="search" mono {...field('request')} placeholder="From an error" />
        <SelectField label="Answer" {...field('answer')} none="All answers" options={statuses} />
        <SelectField
          label="Key or agent"
          {...field('agent')}
          none="Any"
          options={all.map(({ id, label, frozen }) => ({ value: id, label: frozen ? `${label} (frozen)` : label }))}
        />
      </FilterBar>
      <List
        title="Last seven days"
        note="What was refused, failed or changed something, by every key, agent and person of this account."
        query={query}
        empty={<Empty icon="code" title={filters.any ? 'No requests match' : 'No requests yet'} />}
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
                {message && <span className="block quiet">{message}</span>}
                {labelOf(grant_id)} · <ExactTime at={at} /> · {ms} ms
              </>
            }
          >
            <CopyButton value={request_id}>Copy request ID</CopyButton>
          </Item>
        )}
      </List>
    </>
  )
}

/** A payment that a rule refused exists only in its own list. */
const PathOf = ({ path, error }: { path: string; error: string | null }) => {
  const href = requestHref(path) ?? (path === '/v1/payments' && error !== null ? '/payments/refused' : null)
  return (
    <MaybeLink href={href}>
      <code className="break">{path}</code>
    </MaybeLink>
  )
}
