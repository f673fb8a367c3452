import { type Finding, judged } from '../finding.ts'
import type { Receipt } from '../receipt.ts'

/** A scheduled payment holds nothing until it is due. */
const heldNothing = ({ payment: { status, execute_at }, ledger_transfers: transfers }: Receipt): boolean =>
  execute_at !== null && transfers.length === 0 && ['scheduled', 'failed', 'cancelled'].includes(status)

/** One hold for the whole amount, ended once, as the status says. */
export const checkLedger = (receipt: Receipt): Finding => {
  const { payment, ledger_transfers: transfers } = receipt
  if (heldNothing(receipt)) return judged('ledger', true, 'nothing was held for it: it was scheduled', 'it was not scheduled')
  const holds = transfers.filter(({ kind }) => kind === 'pending')
  const ends = transfers.filter(({ kind }) => kind === 'post' || kind === 'void')
  const whole = [...holds, ...ends].every(({ amount_minor }) => amount_minor === payment.amount_minor)
  const paired = ends.every(({ ends: hold }) => hold === holds[0]?.id)
  const open = ['pending_approval', 'processing', 'unknown'].includes(payment.status)
  const paid = ['succeeded', 'returned'].includes(payment.status)
  const ended = open ? ends.length === 0 : ends.length === 1 && (ends[0]?.kind === 'post') === paid
  const state = open ? 'held' : paid ? 'posted' : 'given back'
  const good = holds.length === 1 && whole && paired && ended
  return judged('ledger', good, `${payment.amount_minor} minor units are ${state}`, 'its transfers are not those of this payment')
}
