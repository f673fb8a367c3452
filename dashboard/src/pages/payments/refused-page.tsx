import { ruleOf } from '../../../../src/policy/rules.ts'
import { type RefusalFilters, refusalsQuery, type Schemas } from '../../api/queries.ts'
import { useFilters } from '../../lib/drafts.ts'
import { plainWords } from '../../lib/field-words.ts'
import { editableMajor, shortMoney } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Item, Listing, Rows } from '../../ui/listing.tsx'
import { Amount, Empty, ExactTime, Page } from '../../ui/page.tsx'
import { SavedViews, savedViews } from './payments-page.tsx'
import { Requester } from './requester.tsx'

/** What was asked for and refused: nothing moved, and the reason says what would let it pass. */
export const RefusedPage = () => {
  const { account } = useSession()
  const filters = useFilters()
  const parameters: RefusalFilters = {
    grant_id: filters.get('agent') ?? undefined,
    initiator_account_id: filters.get('person') ?? undefined,
    ...filters.days,
  }
  return (
    <Page title="Refused payments" lead="Requested and refused. No money moved. Kept for 90 days.">
      <SavedViews views={savedViews(account.id)} />
      <FilterBar filters={filters}>{null}</FilterBar>
      <Listing
        label="Refused payments"
        query={refusalsQuery(parameters)}
        empty={<Empty icon="check" title={filters.any ? 'No refused payments match' : 'Nothing was refused'} />}
      >
        {(refusals) => <Refusals refusals={refusals} />}
      </Listing>
    </Page>
  )
}

type Refusal = Schemas['RefusedPayment']
type Change = NonNullable<NonNullable<Refusal['decision']>['remedy']>['changes'][number]

type Raised = { href: string; label: string }

/** The limits that would have to be raised, all of one policy or of one agent, with the amounts filled in. Null where that is not possible. */
const raisedBy = (all: readonly Change[], mayEdit: (kind: string) => boolean, currency: string): Raised | null => {
  // Below the other limits a threshold refuses nothing: it asks a person.
  const limiting = all.filter(({ rule }) => rule !== 'approval_threshold')
  const changes = limiting.length > 0 ? limiting : all
  const [first] = changes
  if (!first || changes.some(({ source }) => source.id !== first.source.id)) return null
  const { kind, id } = first.source
  const limits = changes.flatMap(({ rule, to_minor: to }) => (to && ruleOf(rule).raise ? [{ rule, to }] : []))
  const [only] = limits
  if (!only || limits.length < changes.length || !mayEdit(kind)) return null
  const amounts = limits.map(({ rule, to }) => `${rule}:${editableMajor(to)}`).join(',')
  return {
    href: `${kind === 'policy' ? '/policies' : '/agents'}/${id}?raise=${amounts}`,
    label: limits.length === 1 ? `Raise limit to ${shortMoney(only.to, currency)}` : `Raise ${limits.length} limits`,
  }
}

export const Raise = ({ refusal }: { refusal: Refusal }) => {
  const { can, account, currency } = useSession()
  const own = refusal.initiated_by.account_id === account.id
  const mayEdit = (kind: string) => (kind === 'policy' ? can('policy.manage') : kind === 'grant' && own)
  const raised = raisedBy(refusal.decision?.remedy?.changes ?? [], mayEdit, currency)
  return (
    raised && (
      <LinkButton href={raised.href} size="small">
        {raised.label}
      </LinkButton>
    )
  )
}

const Refusals = ({ refusals }: { refusals: readonly Refusal[] }) => (
  <Rows items={refusals}>
    {(refusal) => (
      <Item
        className="need"
        icon="cross"
        tone="bad"
        title={
          <>
            <Amount minor={refusal.amount_minor} currency={refusal.currency} />
            {refusal.beneficiary ? ` to ${refusal.beneficiary.display_name}` : ' in a list'}
          </>
        }
        note={plainWords(refusal.message)}
        more={
          <span className="item-note row row-tight">
            <Requester by={refusal.initiated_by} />
            <ExactTime at={refusal.created_at} />
          </span>
        }
      >
        <Raise refusal={refusal} />
      </Item>
    )}
  </Rows>
)
