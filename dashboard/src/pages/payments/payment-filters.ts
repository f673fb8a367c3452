import type { PaymentFilters } from '../../api/queries.ts'
import { useDebounced } from '../../lib/debounced.ts'
import { useFilters } from '../../lib/filters.ts'
import { parseMajor } from '../../lib/money.ts'
import { isPaymentStatus } from '../../lib/status-words.ts'
import { dayEnd, dayStart } from '../../lib/zone.ts'

/** The panel beside the list is in the address too, but it is not a filter. */
export const panelParam = 'open'

const minor = (text: string | null): string | undefined => (text ? (parseMajor(text) ?? undefined) : undefined)

/** One status, or several with commas. */
const statusesOf = (text: string | null): PaymentFilters['status'] => {
  const statuses = text?.split(',').filter(isPaymentStatus) ?? []
  return statuses.length > 0 ? statuses : undefined
}

/** The filters of the address, and the API's parameters for them. */
export const usePaymentFilters = () => {
  const filters = useFilters([panelParam])
  const { get } = filters
  const parameters: PaymentFilters = {
    q: get('q')?.trim() || undefined,
    status: statusesOf(get('status')),
    beneficiary_id: get('beneficiary') ?? undefined,
    grant_id: get('agent') ?? undefined,
    initiator_account_id: get('person') ?? undefined,
    amount_min_minor: minor(get('min')),
    amount_max_minor: minor(get('max')),
    created_after: dayStart(get('from')),
    created_before: dayEnd(get('to')),
  }
  return { ...filters, parameters: useDebounced(parameters, 200) }
}
