import type { Principal } from '../../../auth/principal.ts'
import { errorRow, isErrorCode } from '../../../errors/catalogue.ts'
import type { Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import type { Decision } from '../../policies/schema.ts'
import type { BatchRequest, PaymentRequest } from '../request.ts'

/** A refused payment, before it has an id and a time. */
export type RefusalFacts = {
  principal: Principal
  beneficiaryId: Uuid | null
  amountMinor: Minor
  accountReference: string | null
  error: string
  message: string
  decision: Omit<Decision, 'trace'> | null
}

const isRecorded = ({ status, details }: Refusal): boolean =>
  status === 402 || status === 403 || (status === 409 && details?.reason === 'possible_duplicate')

/** Whoever may read payments reads this, and not all of them may read the balance: the amount that is available is left out. */
const messageOf = (error: string, message: string): string =>
  error === 'insufficient_funds' ? errorRow(error).sentence : message

const withoutTrace = (decision: Decision | undefined): RefusalFacts['decision'] => {
  if (!decision) return null
  const { trace: _, ...rest } = decision
  return rest
}

export const factsOfPayment = (
  { principal, input }: Pick<PaymentRequest, 'principal' | 'input'>,
  refusal: Refusal,
): RefusalFacts[] =>
  isRecorded(refusal)
    ? [
        {
          principal,
          beneficiaryId: input.beneficiary_id,
          amountMinor: input.amount_minor,
          accountReference: input.account_reference ?? null,
          error: refusal.code,
          message: messageOf(refusal.code, refusal.message),
          decision: withoutTrace(refusal.details?.decision as Decision | undefined),
        },
      ]
    : []

type ItemFault = { index: number; error: string; message: string }

/** Each item that was refused, or the batch as a whole where no item is to blame. */
export const factsOfBatch = (
  { principal, input: { items }, dryRun }: Pick<BatchRequest, 'principal' | 'input' | 'dryRun'>,
  refusal: Refusal,
): RefusalFacts[] => {
  if (dryRun || !isRecorded(refusal)) return []
  const faults = (refusal.details?.items ?? []) as readonly ItemFault[]
  if (faults.length === 0) {
    const amountMinor = items.reduce((sum, entry) => sum + ('item' in entry ? entry.item.amount_minor : 0n), 0n)
    const { code: error, message } = refusal
    const whole = { principal, beneficiaryId: null, amountMinor, accountReference: null, decision: null }
    return [{ ...whole, error, message: messageOf(error, message) }]
  }
  return faults.flatMap(({ index, error, message }) => {
    const entry = items[index]
    if (!entry || !('item' in entry) || !isErrorCode(error) || ![402, 403, 409].includes(errorRow(error).status)) return []
    const { item } = entry
    return [
      {
        principal,
        beneficiaryId: item.beneficiary_id ?? null,
        amountMinor: item.amount_minor,
        accountReference: item.account_reference ?? null,
        error,
        message: messageOf(error, message),
        decision: null,
      },
    ]
  })
}

/**
 * Records refused payments after they were refused: their own transactions were undone, and the caller has its answer. Those that come while a
 * batch is being written form the next one. What a process had not written when it was killed is lost.
 */
export type Refusals = {
  /** Does what may be refused, and records it when it was. */
  recording: <Answer>(factsOf: (refusal: Refusal) => RefusalFacts[], submit: () => Promise<Answer>) => Promise<Answer>
  /** Resolves when everything that was refused so far by this process is written: before it is listed, and at the end. */
  settled: () => Promise<void>
}
