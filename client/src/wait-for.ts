import type { Schemas } from './route-types.ts'
import { pause } from './transport.ts'

export type Payment = Schemas['Payment']
export type PaymentStatus = Payment['status']
export type TopUp = Schemas['Topup']

// Keyed by the API's own type, so that a new status fails the type check until it is added here. `unknown` is not final: only
// evidence from the provider ends it, and a second payment could pay twice.
const finalStatuses: Readonly<Record<PaymentStatus, boolean>> = {
  scheduled: false,
  pending_approval: false,
  processing: false,
  succeeded: true,
  failed: true,
  unknown: false,
  rejected: true,
  cancelled: true,
  expired: true,
  returned: true,
}

export const isFinal = (payment: Pick<Payment, 'status'>): boolean => finalStatuses[payment.status]

export type WaitOptions<Status extends string = PaymentStatus> = {
  /** Longest wait, after which a `WaitTimeoutError` is thrown. The payment continues. */
  timeoutMs?: number
  signal?: AbortSignal
  /** Additional statuses that end the wait, such as `pending_approval`. */
  stopAt?: readonly Status[]
}

/** The wait ended before the resource did. Nothing failed, so do not send it again. `last`: its last known state. */
export class WaitTimeoutError<T extends { id: string; status: string }> extends Error {
  readonly last: T

  constructor(last: T) {
    const advice = last.status === 'unknown' ? ': its outcome is still unknown, and sending it again could pay twice' : ''
    super(`${last.id} is still ${last.status}${advice}.`)
    this.name = 'WaitTimeoutError'
    this.last = last
  }
}

const defaultTimeoutMs = 120_000
const firstPauseMs = 250
const longestPauseMs = 3_000

/** Reads repeatedly, with growing pauses, until `isDone`. */
export const waitUntil = async <T extends { id: string; status: string }>(
  read: () => Promise<T>,
  isDone: (value: T) => boolean,
  options: { timeoutMs?: number; signal?: AbortSignal },
): Promise<T> => {
  const deadline = Date.now() + (options.timeoutMs ?? defaultTimeoutMs)
  for (let wait = firstPauseMs; ; wait = Math.min(longestPauseMs, wait * 1.6)) {
    const value = await read()
    if (isDone(value)) return value
    const left = deadline - Date.now()
    if (left <= 0) throw new WaitTimeoutError(value)
    await pause(Math.min(wait, left), options.signal)
  }
}
