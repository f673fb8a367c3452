import { useState } from 'react'
import { eventResources } from '../../../../src/events/types.ts'
import { eventsQuery } from '../../api/queries.ts'
import { useFilters } from '../../lib/drafts.ts'
import { useStore } from '../../lib/store.ts'
import { fullTime, timeWithDay } from '../../lib/time.ts'
import { capitalized } from '../../lib/words.ts'
import type { LiveEvent } from '../../live/connection.ts'
import { connection, recentEvents } from '../../live/live.tsx'
import { Button, CodeBlock } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Dialog } from '../../ui/form.tsx'
import { Item, Listing, Rows } from '../../ui/listing.tsx'
import { Badge, Card, Empty } from '../../ui/page.tsx'
import { DevelopersLayout } from './developers-layout.tsx'

type EventEntry = Pick<LiveEvent, 'id' | 'type' | 'created_at'> & { data: unknown }

const resourceId = (data: unknown): string => (typeof data === 'object' && data !== null && 'id' in data ? String(data.id) : '')

const EventRows = ({ events, onOpen }: { events: readonly EventEntry[]; onOpen: (event: EventEntry) => void }) => (
  <Rows items={events}>
    {(event) => (
      <Item
        onOpen={() => onOpen(event)}
        time={
          <time className="faint mono nowrap" dateTime={event.created_at} title={fullTime(event.created_at)}>
            {timeWithDay(event.created_at)}
          </time>
        }
        title={
          <>
            <code>{event.type}</code>
            <span className="item-note mono"> {resourceId(event.data)}</span>
          </>
        }
      />
    )}
  </Rows>
)

/** Events of the stream above those of the list, each once. */
const merge = (live: readonly LiveEvent[], listed: readonly EventEntry[]): EventEntry[] => {
  const ids = new Set(listed.map(({ id }) => id))
  return [...live.filter(({ id }) => !ids.has(id)), ...listed]
}

const resourceWords = (resource: string): string => capitalized(resource.replaceAll('_', ' '))

export const EventsPage = () => {
  const filters = useFilters()
  const about = eventResources.find((resource) => resource === filters.get('about'))
  const { created_after: after, created_before: before } = filters.days
  const live = useStore(recentEvents).filter(
    ({ type, created_at: at }) =>
      (about === undefined || type.startsWith(`${about}.`)) &&
      (after === undefined || at > after) &&
      (before === undefined || at < before),
  )
  const state = useStore(connection)
  const [open, setOpen] = useState<EventEntry | null>(null)
  const nothing = (
    <Empty icon="bolt" title={filters.any ? 'No events match' : 'No events yet'}>
      Every change appears here and on the stream as it happens.
    </Empty>
  )
  return (
    <DevelopersLayout>
      <FilterBar filters={filters}>
        <SelectField
          label="About"
          value={about ?? ''}
          onChange={(value) => filters.set('about', value)}
          none="Everything"
          options={eventResources.map((resource) => ({ value: resource, label: resourceWords(resource) }))}
        />
      </FilterBar>
      <div className="split">
        <Listing
          title="Events"
          note="The event stream of this account, newest first. Kept for 7 days."
          actions={<Badge tone={state === 'live' ? 'good' : 'warn'}>{state === 'live' ? 'Live' : 'Connecting'}</Badge>}
          query={eventsQuery({ about, ...filters.days })}
          rows={6}
          empty={live.length === 0 ? nothing : <EventRows events={merge(live, [])} onOpen={setOpen} />}
        >
          {(listed) => <EventRows events={merge(live, listed)} onOpen={setOpen} />}
        </Listing>
        <div className="split-aside">
          <Card title="Follow from a terminal">
            <CodeBlock
              label="curl command"
              code={`curl -N ${location.origin}/v1/notifications/stream \\\n  -H "Authorization: Bearer $API_KEY"`}
            />
          </Card>
        </div>
      </div>
      {open && (
        <Dialog
          title={open.type}
          onClose={() => setOpen(null)}
          wide
          footer={<Button onClick={() => setOpen(null)}>Close</Button>}
        >
          <CodeBlock label="Event" code={JSON.stringify(open, null, 2)} />
        </Dialog>
      )}
    </DevelopersLayout>
  )
}
