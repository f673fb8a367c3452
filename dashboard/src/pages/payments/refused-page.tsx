import { useInfiniteQuery } from '@tanstack/react-query'
import { type RefusalFilters, refusalsQuery } from '../../api/queries.ts'
import { useFilters } from '../../lib/filters.ts'
import { dayEnd, dayStart } from '../../lib/zone.ts'
import { useSession } from '../../shell/session.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Empty, Page } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { SavedViews, savedViews } from './payments-page.tsx'
import { Refusals } from './refusals.tsx'

/** What was asked for and refused: nothing moved, and the reason says what would let it pass. */
export const RefusedPage = () => {
  const { account } = useSession()
  const filters = useFilters()
  const parameters: RefusalFilters = {
    grant_id: filters.get('agent') ?? undefined,
    initiator_account_id: filters.get('person') ?? undefined,
    created_after: dayStart(filters.get('from')),
    created_before: dayEnd(filters.get('to')),
  }
  return (
    <Page title="Refused payments" lead="Requested and refused. No money moved. Kept for 90 days.">
      <SavedViews views={savedViews(account.id)} />
      <FilterBar filters={filters}>{null}</FilterBar>
      <section className="card" aria-label="Refused payments">
        <Listing
          query={useInfiniteQuery(refusalsQuery(parameters))}
          empty={<Empty icon="check" title={filters.any ? 'No refused payments match' : 'Nothing was refused'} />}
        >
          {(refusals) => <Refusals refusals={refusals} />}
        </Listing>
      </section>
    </Page>
  )
}
