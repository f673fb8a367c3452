import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { type BeneficiaryFilters, beneficiariesQuery, madeByQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useDebounced, useFilters } from '../../lib/drafts.ts'
import { railFacts } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, NewLink, ToggleChip } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Badge, Empty, Notice, Page, StatusBadge } from '../../ui/page.tsx'
import { MadeBeneficiariesActs } from '../agents/made-by-agent.tsx'

type Beneficiary = Schemas['Beneficiary']

const Row = ({ beneficiary }: { beneficiary: Beneficiary }) => (
  <Item
    href={`/beneficiaries/${beneficiary.id}`}
    icon={railFacts[beneficiary.payment_rail].icon}
    title={beneficiary.display_name}
    note={
      <>
        {railFacts[beneficiary.payment_rail].label} · <span className="mono">{beneficiary.destination_mask}</span>
      </>
    }
  >
    <span className="item-side">
      {beneficiary.confirmation === 'proposed' && <Badge tone="warn">Not confirmed</Badge>}
      {beneficiary.verification.status === 'no_match' && <Badge tone="warn">Another name</Badge>}
      {beneficiary.status === 'frozen' && <Badge tone="info">Frozen</Badge>}
      {beneficiary.status === 'archived' && <StatusBadge status="archived" />}
    </span>
  </Item>
)

/** Everything that one key or agent made: confirmed or archived together. */
const MadeByGrant = ({ grantId }: { grantId: string }) => {
  const { can } = useSession()
  const made = rowsOf(useInfiniteQuery(madeByQuery(grantId))).filter(({ status }) => status !== 'archived')
  return (
    <Notice tone="info" title="Only what one key or agent created or renamed">
      <div className="stack-s">
        <Link href="/beneficiaries">Show all beneficiaries</Link>
        {can('beneficiary.manage') && (
          <div className="row">
            <MadeBeneficiariesActs made={made} />
          </div>
        )}
      </div>
    </Notice>
  )
}

const useBeneficiaryFilters = () => {
  const filters = useFilters()
  const { get } = filters
  const parameters: BeneficiaryFilters = {
    q: get('q')?.trim() || undefined,
    confirmation: get('confirmation') === 'proposed' ? 'proposed' : undefined,
    verification: get('names') === 'other' ? 'no_match' : undefined,
    made_by_grant_id: get('made_by') ?? undefined,
    status: get('archived') === 'too' ? 'all' : undefined,
  }
  return { ...filters, parameters: useDebounced(parameters, 200) }
}

const chips = [
  { name: 'confirmation', value: 'proposed', label: 'Not confirmed' },
  { name: 'names', value: 'other', label: 'Another name' },
  { name: 'archived', value: 'too', label: 'Archived too' },
] as const

export const BeneficiariesPage = () => {
  const { can } = useSession()
  const filters = useBeneficiaryFilters()
  const { get, set, field, parameters } = filters
  const madeBy = get('made_by')
  const create = can('beneficiary.manage') && <NewLink href="/beneficiaries/new">Add beneficiary</NewLink>
  return (
    <Page
      title="Beneficiaries"
      lead="The people and businesses you pay. Destinations are encrypted and always shown masked."
      actions={create}
    >
      {madeBy !== null && <MadeByGrant grantId={madeBy} />}
      <search className="filters">
        <div className="filter-search">
          <TextField label="Search" type="search" {...field('q')} placeholder="Part of a name" />
        </div>
        {chips.map(({ name, value, label }) => (
          <ToggleChip key={name} on={get(name) === value} onClick={() => set(name, get(name) === value ? '' : value)}>
            {label}
          </ToggleChip>
        ))}
      </search>
      <List
        label="Beneficiaries"
        query={beneficiariesQuery(parameters)}
        empty={
          filters.any ? (
            <Empty
              icon="search"
              title="No beneficiaries match"
              actions={<Button onClick={filters.clear}>Clear filters</Button>}
            />
          ) : (
            <Empty icon="people" title="No beneficiaries yet" actions={create}>
              Add a phone, a business or a bank account once, then pay it by name.
            </Empty>
          )
        }
      >
        {(beneficiary) => <Row beneficiary={beneficiary} />}
      </List>
    </Page>
  )
}
