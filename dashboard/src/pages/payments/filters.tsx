import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { grantsQuery, membersQuery } from '../../api/queries.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { shortAddress } from '../../lib/mask.ts'
import { paymentStatuses, statusText } from '../../lib/status-words.ts'
import { useSession } from '../../shell/session.tsx'
import { BeneficiaryField } from '../../ui/beneficiary-field.tsx'
import { Button } from '../../ui/button.tsx'
import { MoneyField, SelectField, TextField } from '../../ui/field.tsx'
import { ClearFilters, DayFilters } from '../../ui/filter-bar.tsx'
import type { usePaymentFilters } from './payment-filters.ts'

type Props = { filters: ReturnType<typeof usePaymentFilters> }

/** The most used filters are always shown; the others unfold, and start unfolded while one of them is set. */
export const Filters = ({ filters }: Props) => {
  const { get, set } = filters
  const beneficiaries = useBeneficiaries([get('beneficiary') ?? ''])
  const further = ['agent', 'person', 'min', 'max', 'from', 'to'].some((name) => get(name) !== null)
  const [unfolded, setUnfolded] = useState(further)
  return (
    <search className="stack-s">
      <div className="filters">
        <div className="filter-search">
          <TextField
            label="Search"
            type="search"
            value={get('q') ?? ''}
            onChange={(value) => set('q', value)}
            placeholder="Name, purpose or reference"
          />
        </div>
        <SelectField
          label="Status"
          value={get('status') ?? ''}
          onChange={(value) => set('status', value)}
          options={[
            { value: '', label: 'All statuses' },
            ...(get('status')?.includes(',') ? [{ value: get('status') ?? '', label: 'Several' }] : []),
            ...paymentStatuses.map((status) => ({ value: status, label: statusText(status) })),
          ]}
        />
        <BeneficiaryField
          beneficiaries={beneficiaries}
          none="All beneficiaries"
          value={get('beneficiary') ?? ''}
          onChange={(value) => set('beneficiary', value)}
        />
        <Button variant="quiet" onClick={() => setUnfolded(!unfolded)} expanded={unfolded}>
          {unfolded ? 'Fewer filters' : 'More filters'}
        </Button>
        <ClearFilters filters={filters} />
      </div>
      {unfolded && <Further filters={filters} />}
    </search>
  )
}

const Further = ({ filters: { get, set } }: Props) => {
  const { currency, workspace } = useSession()
  const grants = useInfiniteQuery(grantsQuery)
  const members = useInfiniteQuery(membersQuery)
  const agents = grants.data?.pages.flatMap((page) => page.data).filter((grant) => grant.workspace_id === workspace.id) ?? []
  const people = members.data?.pages.flatMap((page) => page.data) ?? []
  const agent = get('agent')
  const notListed = grants.isPending ? 'Loading…' : 'Another member’s agent'
  return (
    <div className="filters">
      <SelectField
        label="Agent or key"
        value={agent ?? ''}
        onChange={(value) => set('agent', value)}
        options={[
          { value: '', label: 'Any' },
          ...agents.map(({ id, label }) => ({ value: id, label })),
          ...(agent && !agents.some(({ id }) => id === agent) ? [{ value: agent, label: notListed }] : []),
        ]}
      />
      <SelectField
        label="Requested by"
        value={get('person') ?? ''}
        onChange={(value) => set('person', value)}
        options={[
          { value: '', label: 'Anyone' },
          ...people.map((member) => ({
            value: member.account_id,
            label: member.display_name ?? member.email ?? shortAddress(member.wallet_address ?? 'Member'),
          })),
        ]}
      />
      <MoneyField label="From amount" value={get('min') ?? ''} onChange={(value) => set('min', value)} currency={currency} />
      <MoneyField label="To amount" value={get('max') ?? ''} onChange={(value) => set('max', value)} currency={currency} />
      <DayFilters filters={{ get, set }} />
    </div>
  )
}
