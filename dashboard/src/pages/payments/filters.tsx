import { useBeneficiaries, useBeneficiaryNames, usePersonOptions } from '../../api/names.ts'
import { grantsQuery, type PaymentFilters, rowsOf, searchText } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { useDebounced, useFilters } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { dayLabel, daysAfter, isDay, localDate, now } from '../../lib/time.ts'
import { isPaymentStatus, parseMajor, paymentStatuses, shortMoney, statusText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { BeneficiaryField } from '../../ui/beneficiary-field.tsx'
import { Button } from '../../ui/button.tsx'
import { MoneyField, type Option, SelectField } from '../../ui/field.tsx'
import { ClearFilters, DayFilters, FilterChip } from '../../ui/filter-bar.tsx'
import { tPay } from './texts.ts'

type Props = { filters: ReturnType<typeof usePaymentFilters> }
type FieldProps = { filters: Pick<Props['filters'], 'get' | 'field'> }

/** One line with the search field, and a chip for each filter with its value. */
export const Filters = ({ filters }: Props) => (
  <search className="filter-line">
    <input
      className="input"
      type="search"
      aria-label={t('search')}
      autoComplete="off"
      value={filters.get('q') ?? ''}
      onChange={(event) => filters.set('q', event.target.value)}
      placeholder={tPay('filters.search')}
    />
    <div className="filter-chips">
      <StatusFilter filters={filters} />
      <BeneficiaryFilter filters={filters} />
      <RequesterFilter filters={filters} />
      <AmountRange filters={filters} />
      <DaysFilter filters={filters} />
      <ClearFilters filters={filters} />
    </div>
  </search>
)

const StatusFilter = ({ filters: { get, field } }: Props) => {
  const status = get('status') ?? ''
  const several = status.includes(',')
  const options = [
    ...(several ? [{ value: status, label: tPay('several') }] : []),
    ...paymentStatuses.map((value) => ({ value, label: statusText(value) })),
  ]
  const chosen = options.find(({ value }) => value === status)
  return (
    <FilterChip label={t('status')} value={chosen?.label ?? null}>
      <SelectField label={t('status')} {...field('status')} emptyLabel={tPay('all_statuses')} options={options} />
    </FilterChip>
  )
}

const BeneficiaryFilter = ({ filters }: Props) => {
  const id = filters.get('beneficiary') ?? ''
  const nameOf = useBeneficiaryNames(id === '' ? [] : [id])
  return (
    <FilterChip label={t('payee')} value={id === '' ? null : nameOf(id)}>
      <PayeeField filters={filters} />
    </FilterChip>
  )
}

const PayeeField = ({ filters: { get, field } }: Props) => {
  const id = get('beneficiary') ?? ''
  const beneficiaries = useBeneficiaries([id])
  return <BeneficiaryField beneficiaries={beneficiaries} emptyLabel={tPay('all_beneficiaries')} {...field('beneficiary')} />
}

const useAgentOptions = (chosen: string, enabled: boolean): Option[] => {
  const { workspace } = useSession()
  const grants = useEvery({ ...grantsQuery, enabled })
  const own = rowsOf(grants).filter((grant) => grant.workspace_id === workspace.id)
  const missing = chosen !== '' && !own.some(({ id }) => id === chosen)
  return [
    ...own.map(({ id, label, frozen }) => ({ value: id, label: frozen ? tPay('is_frozen', { name: label }) : label })),
    ...(missing ? [{ value: chosen, label: tPay(grants.isPending ? 'loading_dots' : 'others_agent') }] : []),
  ]
}

/** Filter by requester. Loads nothing until the filter is set or unfolded. */
export const RequesterFilter = ({ filters }: FieldProps) => {
  const [agent, person] = [filters.get('agent') ?? '', filters.get('person') ?? '']
  const options = [...useAgentOptions(agent, agent !== ''), ...usePersonOptions(person, person !== '')]
  const chosen = [agent, person].filter((value) => value !== '')
  const words = chosen.map((value) => options.find((option) => option.value === value)?.label ?? tPay('loading_dots'))
  return (
    <FilterChip label={t('by')} value={words.length > 0 ? words.join(', ') : null}>
      <RequesterFields filters={filters} />
    </FilterChip>
  )
}

const RequesterFields = ({ filters: { get, field } }: FieldProps) => {
  const agents = useAgentOptions(get('agent') ?? '', true)
  const people = usePersonOptions(get('person') ?? '')
  return (
    <>
      <SelectField label={tPay('agent_or_key')} {...field('agent')} emptyLabel={t('any')} options={agents} />
      <SelectField label={t('requested_by')} {...field('person')} emptyLabel={t('anyone')} options={people} />
    </>
  )
}

const rangeWords = (from: string | null, to: string | null): string | null => {
  if (from !== null && to !== null) return from === to ? from : tPay('range', { from, to })
  if (from !== null) return tPay('range.from', { from })
  return to === null ? null : tPay('range.to', { to })
}

const AmountRange = ({ filters: { get, field } }: Props) => {
  const { currency } = useSession()
  const words = (name: string): string | null => {
    const minor = parseMajor(get(name) ?? '')
    return minor === null ? null : shortMoney(minor, currency)
  }
  return (
    <FilterChip label={t('amount')} value={rangeWords(words('min'), words('max'))}>
      <MoneyField label={t('from_amount')} {...field('min')} currency={currency} />
      <MoneyField label={tPay('to_amount')} {...field('max')} currency={currency} />
    </FilterChip>
  )
}

/** Today, this month and last month, in the workspace's zone. */
const dayPresets = () => {
  const today = localDate(now())
  const first = `${today.slice(0, 7)}-01`
  const before = daysAfter(first, -1)
  return [
    { label: t('time.today'), from: today, to: today },
    { label: tPay('this_month'), from: first, to: today },
    { label: tPay('last_month'), from: `${before.slice(0, 7)}-01`, to: before },
  ]
}

const dayWords = (day: string | null): string | null => (isDay(day) ? dayLabel(day) : null)

const DaysFilter = ({ filters }: Props) => {
  const { get, setAll } = filters
  return (
    <FilterChip label={t('days')} value={rangeWords(dayWords(get('from')), dayWords(get('to')))}>
      <div className="row row-tight">
        {dayPresets().map(({ label, from, to }) => (
          <Button key={label} size="small" onClick={() => setAll({ from, to })}>
            {label}
          </Button>
        ))}
      </div>
      <DayFilters filters={filters} />
    </FilterChip>
  )
}

/** URL parameter of the payment beside the list. It is not a filter. */
export const panelParam = 'open'

const minor = (text: string | null): string | undefined => (text ? (parseMajor(text) ?? undefined) : undefined)

const statusesOf = (text: string | null): PaymentFilters['status'] => {
  const statuses = text?.split(',').filter(isPaymentStatus) ?? []
  return statuses.length > 0 ? statuses : undefined
}

/** Filters with the same value for all items of a batch. Any other filter may match only some items. */
const sharedInBatch = ['grant_id', 'initiator_account_id', 'created_after', 'created_before']

export const foldingBatches = (filters: PaymentFilters): PaymentFilters =>
  Object.entries(filters).every(([name, value]) => value === undefined || sharedInBatch.includes(name))
    ? { ...filters, batch_items: 'first' }
    : filters

export const usePaymentFilters = () => {
  const filters = useFilters([panelParam])
  const { get } = filters
  const parameters: PaymentFilters = {
    q: searchText(get('q') ?? undefined),
    status: statusesOf(get('status')),
    beneficiary_id: get('beneficiary') ?? undefined,
    grant_id: get('agent') ?? undefined,
    initiator_account_id: get('person') ?? undefined,
    amount_min_minor: minor(get('min')),
    amount_max_minor: minor(get('max')),
    ...filters.days,
  }
  return { ...filters, parameters: useDebounced(parameters, 200) }
}
