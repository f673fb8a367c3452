import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { providerLabel } from '../../../../src/rails/texts.ts'
import { paymentQuery, topupQuery } from '../../api/queries.ts'
import { moneyText, shortMoney } from '../../lib/money.ts'
import { isProvider, typeLabel } from '../../lib/rails.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { DialogButton } from '../../ui/dialog.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { AcceptOutcome, acceptLabel } from './end-payment.tsx'
import type { Difference, OpenItem, SuspenseItem } from './unknown.ts'

const reasons: Readonly<Record<SuspenseItem['reason'], string>> = {
  superseded_attempt: 'A replaced attempt moved money',
  amount_mismatch: 'The provider reports another amount',
  receipt_taken: 'The receipt already belongs to something else',
  contradiction: 'The provider contradicts what is recorded as final',
  unbookable_delivery: 'A callback failed repeatedly and was set aside',
  not_in_our_books: 'The statement lists it, and the books do not',
  unknown_reference: 'A deposit under a reference that is not ours',
  account_closed: 'A deposit for a closed account',
}

const titleOf = ({ suspense, difference }: OpenItem): string => {
  if (!suspense) return difference?.reason ?? ''
  const isUnread = suspense.reason === 'unbookable_delivery' && !suspense.payment_id && !suspense.topup_id
  return isUnread
    ? `A notice could not be read: npm run admin -- suspense show ${suspense.id} prints it`
    : reasons[suspense.reason]
}

/** With the provider's receipt, where there is one: several may have the same reason. */
export const nameOfItem = (item: OpenItem): string =>
  [titleOf(item), (item.suspense ?? item.difference)?.provider_receipt].filter(Boolean).join(', ')

const Note = ({ children }: { children: ReactNode }) => <span className="item-note block">{children}</span>

const suspenseWords = (item: SuspenseItem, currency: string): string =>
  [
    isProvider(item.rail) ? providerLabel(item.rail) : typeLabel(item.rail),
    item.direction === 'in' ? 'paid in' : 'paid out',
    item.amount_minor === null ? 'amount not known' : moneyText(item.amount_minor, currency),
    item.provider_receipt,
  ]
    .filter(Boolean)
    .join(', ')

const sides = ({ booked_minor: booked, stated_minor: stated }: Difference, currency: string): string =>
  [
    booked === null ? 'not booked' : `booked ${moneyText(booked, currency)}`,
    stated === null ? 'not in the statement' : `statement ${moneyText(stated, currency)}`,
  ].join(', ')

/** A link to a payment of this workspace; one of another workspace can only be named. */
const PaymentOf = ({ id }: { id: string }) => {
  const { data } = useQuery({ ...paymentQuery(id), retry: false })
  if (!data) return <CopyButton value={id}>Copy payment ID</CopyButton>
  return (
    <Link href={`/payments/${id}`}>
      {shortMoney(data.amount_minor, data.currency)} to {data.beneficiary.display_name}
    </Link>
  )
}

const TopUpOf = ({ id }: { id: string }) => {
  const { data } = useQuery({ ...topupQuery(id), retry: false })
  return data ? <Link href={`/top-up/${id}`}>The top-up</Link> : <CopyButton value={id}>Copy top-up ID</CopyButton>
}

const Subject = ({ item: { suspense, difference } }: { item: OpenItem }) => {
  const payment = suspense?.payment_id ?? difference?.payment_id
  const topup = suspense?.topup_id ?? difference?.topup_id
  if (payment) return <PaymentOf id={payment} />
  return topup ? <TopUpOf id={topup} /> : null
}

type Props = { item: OpenItem; currency: string; checked: boolean; onCheck: () => void; onResolve: () => void }

export const ItemRow = ({ item, currency, checked, onCheck, onResolve }: Props) => {
  const { suspense, difference } = item
  const title = titleOf(item)
  const receipt = suspense ? null : difference?.provider_receipt
  const outcome = difference?.offered_outcome ?? null
  return (
    <li>
      <div className="item">
        <input
          type="checkbox"
          className="row-check"
          aria-label={`Select: ${nameOfItem(item)}`}
          checked={checked}
          onChange={onCheck}
        />
        <span className="item-main">
          {title}
          {difference && <Note>{difference.action}</Note>}
          {suspense && <Note>{suspenseWords(suspense, currency)}</Note>}
          {suspense?.proposal && (
            <Note>
              Waits for a second administrator: <bdi>{suspense.proposal.by}</bdi> resolved it as {suspense.proposal.outcome}.
            </Note>
          )}
          {!suspense && difference && <Note>{[sides(difference, currency), receipt].filter(Boolean).join(', ')}</Note>}
          <Note>
            <Subject item={item} />
          </Note>
          <Note>
            <ExactTime at={(suspense ?? difference)?.created_at ?? ''} />
          </Note>
        </span>
        <span className="item-acts">
          {difference && outcome && (
            <DialogButton
              variant="primary"
              label={`${acceptLabel(outcome)}: ${title}`}
              dialog={(close) => <AcceptOutcome difference={difference} outcome={outcome} onClose={close} />}
            >
              {acceptLabel(outcome)}
            </DialogButton>
          )}
          <Button onClick={onResolve} label={`Resolve: ${title}`}>
            Resolve
          </Button>
        </span>
      </div>
    </li>
  )
}
