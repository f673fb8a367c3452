import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useSearchParams } from 'wouter'
import { usePeople } from '../../api/use-people.ts'
import { shortMoney } from '../../lib/money.ts'
import { IconButton, LinkButton } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { SkeletonRows } from '../../ui/layout.tsx'
import { StatusBadge } from '../../ui/status.tsx'
import { panelParam } from './filters.tsx'
import { PaymentActions } from './payment-actions.tsx'
import { followedPayment } from './payment-page.tsx'
import { PaymentFacts, PaymentNotices } from './payment-parts.tsx'
import { Timeline } from './timeline.tsx'

const wideEnough = '(min-width: 1100px)'

/** The payment that is open beside the list. It is in the address, so that going back closes it. `open` returns whether there is room. */
export const usePanel = () => {
  const [params, setParams] = useSearchParams()
  const id = params.get(panelParam)
  const show = (payment: string | null) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        if (payment === null) next.delete(panelParam)
        else next.set(panelParam, payment)
        return next
      },
      { replace: id !== null },
    )
  return {
    id,
    open: (payment: string): boolean => {
      if (!matchMedia(wideEnough).matches) return false
      show(payment)
      return true
    },
    close: () => {
      show(null)
      document.querySelector<HTMLElement>(`a[href="/payments/${id}"]`)?.focus()
    },
  }
}

/** A payment beside its list, which keeps its place. */
export const PaymentPanel = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const payment = useQuery(followedPayment(id))
  const people = usePeople()
  const heading = useRef<HTMLHeadingElement>(null)
  const latest = useRef(onClose)
  latest.current = onClose
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    // On the page, not on the panel: the focused button may be gone after its action.
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('dialog[open]')) latest.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const { data } = payment
  return (
    <aside className="card panel" aria-label="Payment">
      <div className="panel-header">
        <h2 ref={heading} tabIndex={-1}>
          {data ? `${shortMoney(data.amount_minor, data.currency)} to ${data.beneficiary.display_name}` : 'Payment'}
        </h2>
        <IconButton icon="cross" label="Close" onClick={onClose} />
      </div>
      {payment.isPending && <SkeletonRows rows={3} />}
      {payment.isError && <Failure error={payment.error} onRetry={() => void payment.refetch()} />}
      {data && (
        <div className="card-body stack">
          <div className="row row-between">
            <StatusBadge status={data.status} />
            <LinkButton href={`/payments/${id}`} size="small">
              Open page
            </LinkButton>
          </div>
          <PaymentNotices payment={data} />
          <div className="row">
            <PaymentActions payment={data} />
          </div>
          <Timeline payment={data} nameOf={people} />
          <PaymentFacts payment={data} />
        </div>
      )}
    </aside>
  )
}
