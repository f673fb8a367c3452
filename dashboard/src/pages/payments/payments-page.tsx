import { useInfiniteQuery } from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import { type PaymentStatus, paymentsQuery } from '../../api/queries.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Empty, PageHeader } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { statusText } from '../../ui/status.tsx'
import { PaymentRow } from './payment-row.tsx'

const statuses: readonly PaymentStatus[] = [
  'pending_approval',
  'processing',
  'succeeded',
  'failed',
  'unknown',
  'rejected',
  'cancelled',
  'expired',
  'returned',
]

const dayStart = (day: string | null): string | undefined => (day ? new Date(`${day}T00:00:00`).toISOString() : undefined)
const dayEnd = (day: string | null): string | undefined =>
  day ? new Date(new Date(`${day}T00:00:00`).getTime() + 86_400_000).toISOString() : undefined

/** Filters live in the address, so that a view can be kept and shared. */
const useFilters = () => {
  const [params, setParams] = useSearchParams()
  const get = (name: string) => params.get(name)
  const set = (name: string, value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === '') next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true },
    )
  return { get, set, any: params.size > 0, clear: () => setParams(new URLSearchParams(), { replace: true }) }
}

export const PaymentsPage = () => {
  const { can } = useSession()
  const filters = useFilters()
  const beneficiaries = useBeneficiaries()
  const query = useInfiniteQuery(
    paymentsQuery({
      status: statuses.find((status) => status === filters.get('status')),
      beneficiary_id: filters.get('beneficiary') ?? undefined,
      created_after: dayStart(filters.get('from')),
      created_before: dayEnd(filters.get('to')),
    }),
  )
  const create = can('payment.create') && (
    <LinkButton href="/payments/new" variant="primary" icon="plus">
      New payment
    </LinkButton>
  )
  return (
    <div className="stack">
      <PageHeader title="Payments" lead="Money on its way out, and where it arrived." actions={create} />
      <search className="filters">
        <SelectField
          label="Status"
          value={filters.get('status') ?? ''}
          onChange={(value) => filters.set('status', value)}
          options={[
            { value: '', label: 'Any status' },
            ...statuses.map((status) => ({ value: status, label: statusText(status) })),
          ]}
        />
        <SelectField
          label="Beneficiary"
          value={filters.get('beneficiary') ?? ''}
          onChange={(value) => filters.set('beneficiary', value)}
          options={[
            { value: '', label: 'Anybody' },
            ...beneficiaries.all.map(({ id, display_name }) => ({ value: id, label: display_name })),
          ]}
        />
        <TextField label="From" type="date" value={filters.get('from') ?? ''} onChange={(value) => filters.set('from', value)} />
        <TextField label="To" type="date" value={filters.get('to') ?? ''} onChange={(value) => filters.set('to', value)} />
        {filters.any && (
          <Button variant="quiet" onClick={filters.clear}>
            Clear
          </Button>
        )}
      </search>
      <section className="card" aria-label="Payments">
        <Listing
          query={query}
          empty={
            filters.any ? (
              <Empty
                icon="search"
                title="No payment fits these filters"
                actions={<Button onClick={filters.clear}>Clear the filters</Button>}
              />
            ) : (
              <Empty icon="payments" title="No payments yet" actions={create}>
                Pay a phone, a business or a bank account. What will happen is shown before anything is sent.
              </Empty>
            )
          }
        >
          {(payments) => (
            <ul className="rows">
              {payments.map((payment) => (
                <li key={payment.id}>
                  <PaymentRow payment={payment} name={beneficiaries.nameOf(payment.beneficiary_id)} />
                </li>
              ))}
            </ul>
          )}
        </Listing>
      </section>
    </div>
  )
}
