import { useState } from 'react'
import { eventResources } from '../../../../src/events/types.ts'
import { eventsQuery, type Schemas } from '../../api/queries.ts'
import { useFilters } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { useStore } from '../../lib/store.ts'
import { fullTime, timeWithDay } from '../../lib/time.ts'
import { capitalized } from '../../lib/words.ts'
import { connection } from '../../live/live.tsx'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/copy.tsx'
import { SelectField } from '../../ui/field.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Dialog } from '../../ui/form.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Badge, Empty } from '../../ui/page.tsx'
import { DevelopersLayout } from './developers-layout.tsx'
import { tDev } from './texts.ts'

const resourceId = (data: unknown): string => (typeof data === 'object' && data !== null && 'id' in data ? String(data.id) : '')

const resourceWords = (resource: string): string => capitalized(resource.replaceAll('_', ' '))

export const EventsPage = () => {
  const filters = useFilters()
  const about = eventResources.find((resource) => resource === filters.get('about'))
  const state = useStore(connection)
  const [open, setOpen] = useState<Schemas['Event'] | null>(null)
  return (
    <DevelopersLayout>
      <FilterBar filters={filters}>
        <SelectField
          label={tDev('about')}
          value={about ?? ''}
          onChange={(value) => filters.set('about', value)}
          emptyLabel={tDev('everything')}
          options={eventResources.map((resource) => ({ value: resource, label: resourceWords(resource) }))}
        />
      </FilterBar>
      <List
        title={tDev('events')}
        note={tDev('events.note')}
        actions={<Badge tone={state === 'live' ? 'good' : 'warn'}>{state === 'live' ? tDev('live') : tDev('connecting')}</Badge>}
        query={eventsQuery({ about, ...filters.days })}
        rows={6}
        empty={
          <Empty icon="bolt" title={filters.any ? tDev('events.no_match') : tDev('events.none')}>
            {tDev('events.none_note')}
          </Empty>
        }
      >
        {(event) => (
          <Item
            onOpen={() => setOpen(event)}
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
      </List>
      {open && (
        <Dialog
          title={open.type}
          onClose={() => setOpen(null)}
          wide
          footer={<Button onClick={() => setOpen(null)}>{t('close')}</Button>}
        >
          <CodeBlock label={tDev('event')} code={JSON.stringify(open, null, 2)} />
        </Dialog>
      )}
    </DevelopersLayout>
  )
}
