import { type RefusalFilters, refusalsQuery, type Schemas } from '../../api/queries.ts'
import { useFilters } from '../../lib/drafts.ts'
import { readableMessage } from '../../lib/field-words.ts'
import { groupByKey } from '../../lib/words.ts'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Item, Listing, Rows } from '../../ui/listing.tsx'
import { Amount, Badge, Empty, ExactTime, Page } from '../../ui/page.tsx'
import { richAgent, tAgent } from '../agents/texts.ts'
import { RequesterFilter } from './filters.tsx'
import { RaiseLimitLink } from './raise.tsx'
import { Requester } from './requester.tsx'
import { SavedViews } from './saved-views.tsx'

/** Refused payment requests: no money moved, and the reason names the remedy. */
export const RefusedPage = () => {
  const filters = useFilters()
  const parameters: RefusalFilters = {
    grant_id: filters.get('agent') ?? undefined,
    initiator_account_id: filters.get('person') ?? undefined,
    ...filters.days,
  }
  return (
    <Page title={tAgent('refused_list')} lead={tAgent('refused_list.note')}>
      <SavedViews />
      <FilterBar filters={filters}>
        <RequesterFilter filters={filters} />
      </FilterBar>
      <Listing
        label={tAgent('refused_list')}
        query={refusalsQuery(parameters)}
        empty={<Empty icon="check" title={filters.any ? tAgent('refused_list.no_match') : tAgent('refused_list.none')} />}
      >
        {(refusals) => <Refusals refusals={refusals} />}
      </Listing>
    </Page>
  )
}

type Refusal = Schemas['RefusedPayment']

/** Key of equal requests to one beneficiary, refused for the same reason. An agent may repeat a request many times. */
const sameRequestKey = ({ initiated_by: by, beneficiary, amount_minor: amount, message }: Refusal): string =>
  [by.account_id, by.grant_id, beneficiary?.id, amount, message].join(' ')

const Refusals = ({ refusals }: { refusals: readonly Refusal[] }) => (
  <Rows items={groupByKey(refusals, sameRequestKey).map(([last, ...earlier]) => ({ ...last, earlier, first: earlier.at(-1) }))}>
    {({ earlier, first, ...refusal }) => (
      <Item
        className="need"
        icon="cross"
        tone="bad"
        title={
          <>
            <Amount minor={refusal.amount_minor} currency={refusal.currency} />
            {refusal.beneficiary ? tAgent('to_name', { display_name: refusal.beneficiary.display_name }) : tAgent('in_list')}
            {earlier.length > 0 && <Badge dot={false}>{tAgent('refused.times', { count: earlier.length + 1 })}</Badge>}
          </>
        }
        note={readableMessage(refusal.message)}
        more={
          <span className="item-note row row-tight">
            <Requester by={refusal.initiated_by} />
            {first ? (
              <span>
                {richAgent('refused.first_and_last', {
                  first: <ExactTime at={first.created_at} />,
                  last: <ExactTime at={refusal.created_at} />,
                })}
              </span>
            ) : (
              <ExactTime at={refusal.created_at} />
            )}
          </span>
        }
      >
        <RaiseLimitLink refusal={refusal} />
      </Item>
    )}
  </Rows>
)
