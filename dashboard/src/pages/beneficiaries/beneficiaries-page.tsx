import { Link } from 'wouter'
import { type BeneficiaryFilters, beneficiariesQuery, type Schemas } from '../../api/queries.ts'
import { useDebounced, useFilters } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { railFacts } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, NewLink, ToggleChip } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Badge, Empty, Notice, Page, StatusBadge } from '../../ui/page.tsx'
import { MadeBeneficiariesActs, useMadeBeneficiaries } from '../agents/made-by-agent.tsx'
import { tPayee } from './texts.ts'

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
      {beneficiary.confirmation === 'proposed' && <Badge tone="warn">{tPayee('not_confirmed')}</Badge>}
      {beneficiary.verification.status === 'no_match' && <Badge tone="warn">{tPayee('other_name')}</Badge>}
      {beneficiary.status === 'frozen' && <Badge tone="info">{t('status.frozen')}</Badge>}
      {beneficiary.status === 'archived' && <StatusBadge status="archived" />}
    </span>
  </Item>
)

/** Beneficiaries of one key or agent, to confirm or archive together. */
const MadeByGrant = ({ grantId }: { grantId: string }) => {
  const { can } = useSession()
  const made = useMadeBeneficiaries(grantId)
  return (
    <Notice tone="info" title={tPayee('by_one')}>
      <div className="stack-s">
        <Link href="/beneficiaries">{tPayee('show_all')}</Link>
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
  { name: 'confirmation', value: 'proposed', label: tPayee('not_confirmed') },
  { name: 'names', value: 'other', label: tPayee('other_name') },
  { name: 'archived', value: 'too', label: tPayee('archived_too') },
] as const

export const BeneficiariesPage = () => {
  const { can } = useSession()
  const filters = useBeneficiaryFilters()
  const { get, set, field, parameters } = filters
  const madeBy = get('made_by')
  const create = can('beneficiary.manage') && <NewLink href="/beneficiaries/new">{tPayee('add')}</NewLink>
  return (
    <Page title={t('nav.beneficiaries')} lead={tPayee('note')} actions={create}>
      {madeBy !== null && <MadeByGrant grantId={madeBy} />}
      <search className="filters">
        <div className="filter-search">
          <TextField label={t('search')} type="search" {...field('q')} placeholder={tPayee('search')} />
        </div>
        {chips.map(({ name, value, label }) => (
          <ToggleChip key={name} on={get(name) === value} onClick={() => set(name, get(name) === value ? '' : value)}>
            {label}
          </ToggleChip>
        ))}
      </search>
      <List
        label={t('nav.beneficiaries')}
        query={beneficiariesQuery(parameters)}
        empty={
          filters.any ? (
            <Empty
              icon="search"
              title={tPayee('no_match')}
              actions={<Button onClick={filters.clear}>{t('clear_filters')}</Button>}
            />
          ) : (
            <Empty icon="people" title={tPayee('none')} actions={create}>
              {tPayee('none.note')}
            </Empty>
          )
        }
      >
        {(beneficiary) => <Row beneficiary={beneficiary} />}
      </List>
    </Page>
  )
}
