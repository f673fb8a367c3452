import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { auditQuery, membersQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { usePeople } from '../../api/use-people.ts'
import { activityGroups, activityHref, activityWords } from '../../lib/activity-words.ts'
import { useFilters } from '../../lib/filters.ts'
import { dayEnd, dayStart } from '../../lib/zone.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { useSession } from '../../shell/session.tsx'
import { SelectField } from '../../ui/field.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Empty, Page } from '../../ui/layout.tsx'
import { Item, Listing, Rows } from '../../ui/listing.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { memberName } from './members.tsx'

type Entry = Schemas['AuditEntry']

/** Who did what in the workspace, from the audit log. */
export const ActivityPage = () => (
  <Page
    title="Activity"
    lead="Everything that was done in this workspace, newest first."
    back={{ href: '/workspace', label: 'Workspace' }}
  >
    <Allowed permission="workspace.manage" action="see the activity">
      <Activity />
    </Allowed>
  </Page>
)

const Activity = () => {
  const filters = useFilters()
  const { get, set } = filters
  const members = useInfiniteQuery(membersQuery)
  const people = usePeople()
  const query = useInfiniteQuery(
    auditQuery({
      action: get('action') ?? undefined,
      actor: get('person') ?? undefined,
      created_after: dayStart(get('from')),
      created_before: dayEnd(get('to')),
    }),
  )
  return (
    <>
      <FilterBar filters={filters}>
        <SelectField
          label="Activity"
          value={get('action') ?? ''}
          onChange={(value) => set('action', value)}
          options={activityGroups}
        />
        <SelectField
          label="Person"
          value={get('person') ?? ''}
          onChange={(value) => set('person', value)}
          options={[
            { value: '', label: 'Everyone' },
            ...(members.data?.pages.flatMap((page) => page.data) ?? []).map((member) => ({
              value: member.account_id,
              label: memberName(member),
            })),
          ]}
        />
      </FilterBar>
      <section className="card" aria-label="Entries">
        <Listing query={query} empty={<Empty icon="list" title="No activity matches" />}>
          {(entries) => <Rows items={entries}>{(entry) => <Row entry={entry} people={people} />}</Rows>}
        </Listing>
      </section>
    </>
  )
}

const Row = ({ entry, people }: { entry: Entry; people: (id: string) => string }) => {
  const { currency } = useSession()
  const href = entry.action === 'payment.denied' ? '/payments/refused' : activityHref(entry.subject)
  const sentence = activityWords(entry, { people, currency })
  return (
    <Item
      icon={entry.grant_id ? 'robot' : entry.account_id ? 'account' : 'list'}
      title={href ? <Link href={href}>{sentence}</Link> : sentence}
      note={
        <>
          <ExactTime at={entry.created_at} />
          {entry.ip && `, from ${entry.ip}`}
        </>
      }
    />
  )
}
