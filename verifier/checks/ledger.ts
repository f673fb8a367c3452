import { type Finding, judged } from '../finding.ts'
import type { Receipt } from '../receipt.ts'

/** A scheduled payment holds no money until it is due. */
const heldNothing = ({ payment: { status, execute_at }, ledger_transfers: transfers }: Receipt): boolean =>
  execute_at !== null && transfers.length === 0 && ['scheduled', 'failed', 'cancelled'].includes(status)

type Transfers = Receipt['ledger_transfers']

/** Whether the receipt has exactly one hold for the full amount: still open, posted if the payment was paid, or voided. */
const isHeldOnce = (transfers: Transfers, amountMinor: string, status: Receipt['payment']['status']): boolean => {
  const holds = transfers.filter(({ kind }) => kind === 'pending')
  const ends = transfers.filter(({ kind }) => kind === 'post' || kind === 'void')
  const whole = [...holds, ...ends].every(({ amount_minor }) => amount_minor === amountMinor)
  const paired = ends.every(({ ends: hold }) => hold === holds[0]?.id)
  const ended = isOpen(status) ? ends.length === 0 : ends.length === 1 && (ends[0]?.kind === 'post') === isPaid(status)
  return holds.length === 1 && whole && paired && ended
}

const isOpen = (status: string): boolean => ['pending_approval', 'processing', 'unknown'].includes(status)
const isPaid = (status: string): boolean => ['succeeded', 'returned'].includes(status)

/** Checks the amount and the fee, each of which has its own hold. */
export const checkLedger = (receipt: Receipt): Finding => {
  const { status, amount_minor: amount, fee_minor: fee } = receipt.payment
  if (heldNothing(receipt)) return judged('ledger', true, 'nothing was held for it: it was scheduled', 'it was not scheduled')
  const [fees, amounts] = [true, false].map((isFee) =>
    receipt.ledger_transfers.filter(({ credit }) => (credit === 'fees') === isFee),
  ) as [Transfers, Transfers]
  const good = isHeldOnce(amounts, amount, status) && (fee === '0' ? fees.length === 0 : isHeldOnce(fees, fee, status))
  const state = isOpen(status) ? 'held' : isPaid(status) ? 'posted' : 'given back'
  const sums = fee === '0' ? amount : `${amount} and a fee of ${fee}`
  return judged('ledger', good, `${sums} minor units are ${state}`, 'its transfers are not those of this payment')
}
