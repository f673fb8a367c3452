import { presenter } from '../../http/presenter.ts'
import { formatId } from '../../lib/ids.ts'
import { formatMinor } from '../../lib/money.ts'
import type { AdjustmentRecord, SuspenseView } from './queries.ts'
import { Adjustment, SuspenseItem } from './schema.ts'

const shownAdjustment = presenter(Adjustment)

export const presentAdjustment = (adjustment: AdjustmentRecord): Adjustment =>
  shownAdjustment(adjustment, {
    direction: adjustment.amountMinor > 0n ? 'credit' : 'debit',
    amount_minor: formatMinor(adjustment.amountMinor > 0n ? adjustment.amountMinor : -adjustment.amountMinor),
  })

const shownSuspense = presenter(SuspenseItem)

export const presentSuspense = (item: SuspenseView): SuspenseItem =>
  shownSuspense(item, {
    sender_name: item.payerName,
    payment_id: item.subjectKind === 'payment' && item.subjectId !== null ? formatId('payment', item.subjectId) : null,
    topup_id: item.subjectKind === 'topup' && item.subjectId !== null ? formatId('topup', item.subjectId) : null,
    booked: item.transferId !== null,
    proposal: item.proposedOutcome && item.proposedBy ? { outcome: item.proposedOutcome, by: item.proposedBy } : null,
  })
