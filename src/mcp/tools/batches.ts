import { z } from 'zod'
import { paymentBatchStatuses } from '../../db/transitions.ts'
import type { Refusal } from '../../lib/errors.ts'
import { chunksOf } from '../../lib/lists.ts'
import { displayAmount } from '../../lib/money.ts'
import { quoted } from '../../lib/text.ts'
import { PaymentBatch as ApiBatch } from '../../modules/payments/batch/schema.ts'
import { amountInput, chargedFee, conflictingAmount, feeText, sentAmountField, withMinor, withOneAmount } from '../amount.ts'
import { ApprovalLink, openApprovalLink } from '../outcome.ts'
import { type CardPayee, type Mistake, namesakeText, type Order, payeeAddress, readNamesake, readPayees } from '../payee.ts'
import {
  type Arguments,
  type Caller,
  createRecord,
  defineTool,
  guide,
  isKeyUsed,
  readHints,
  readRoute,
  refusalFields,
  refusedAnswer,
  statusText,
  waitForEnd,
  waitInput,
} from '../tool.ts'

const Fault = z.looseObject({
  index: z.int(),
  param: z.string().optional(),
  message: z.string(),
  fix: z.string().optional(),
  existing: z.looseObject({ payment_id: z.string(), status: z.string(), receipt: z.string().nullish() }).optional(),
})

const BatchOutcome = z.object({
  status: z.enum([...paymentBatchStatuses, 'refused']).describe('`refused`: nothing was created.'),
  batch_id: z.string().nullable(),
  ...guide,
  items_count: z.int().optional(),
  total_minor: z.string().optional(),
  fees_minor: z.string().optional(),
  currency: z.string().optional(),
  counts: z.record(z.string(), z.int()).optional().describe('The number of payments in each status.'),
  approval: ApprovalLink.optional().describe('The approval of the whole batch.'),
  faults: z.array(Fault).optional().describe('Each item that cannot be paid, with the reason.'),
  ...refusalFields,
})
type BatchOutcome = z.output<typeof BatchOutcome>

/** A response stored by an earlier release lacks newer fields. */
const PaymentBatch = ApiBatch.omit({ again_of: true }).extend({ fees_minor: z.string().default('0') })
type PaymentBatch = z.output<typeof PaymentBatch>

const batchSteps: Readonly<Record<PaymentBatch['status'], readonly [BatchOutcome['next'], string]>> = {
  scheduled: ['wait', 'It is evaluated and sent at its scheduled time. Call get_payment_batch after that time.'],
  pending_approval: ['ask_a_person', 'A person must approve the whole batch at approval.url. Then call get_payment_batch.'],
  processing: ['wait', 'Its payments are sent one by one. Call get_payment_batch with wait_seconds.'],
  completed: ['done', 'Every payment has ended; `counts` says how. list_payments with batch_id names those that failed.'],
  failed: ['stop', 'None of its payments was made, and the money is back. Tell the person.'],
  rejected: ['stop', 'A person rejected it. Do not try to pay it another way.'],
  expired: ['stop', 'It was not decided in time, and the money is back. Ask the person whether it is still wanted.'],
  cancelled: ['stop', 'It was cancelled, and the money is back.'],
}

const batchOutcome = (caller: Caller, batch: PaymentBatch): BatchOutcome => {
  const [next, message] = batchSteps[batch.status]
  const { items_count: count } = batch
  const fees = feeText(batch.fees_minor, batch.currency, 'Fees')
  const named = batch.name === null ? '' : ` (${quoted(batch.name)})`
  return {
    status: batch.status,
    batch_id: batch.id,
    next,
    message: `${displayAmount(BigInt(batch.total_minor), batch.currency)} in ${count} ${count === 1 ? 'payment' : 'payments'}${named}: ${message}${fees ? ` ${fees}` : ''}`,
    items_count: count,
    total_minor: batch.total_minor,
    fees_minor: chargedFee(batch.fees_minor),
    currency: batch.currency,
    counts: batch.counts,
    approval: openApprovalLink(caller, batch),
  }
}

/** Only a person may confirm duplicates: a model would confirm them on its own and pay a batch twice. */
const duplicatesHint = / If (?:a second payment is|both are) meant, send "duplicates_intended": true\./

const readBatch = (caller: Caller, id: string): Promise<PaymentBatch> =>
  readRoute(caller, PaymentBatch, `/v1/payment-batches/${encodeURIComponent(id)}`)

const isOpen = ({ status }: PaymentBatch): boolean => ['wait', 'ask_a_person'].includes(batchSteps[status][0])

const existingBatchOutcome = (caller: Caller, batch: PaymentBatch) => {
  const { next, message, approval } = batchOutcome(caller, batch)
  const [title] = message.split(':')
  return {
    next,
    message: `Already created: ${batch.id}, ${title}, ${statusText(batch)}. No second batch was created. ${batchSteps[batch.status][1]}`,
    existing: { batch_id: batch.id, status: batch.status, receipt: null },
    approval,
  }
}

type Orders = readonly Readonly<Record<string, string>>[]

/** The batch that this one repeats in full: each payment looks like one of that batch, which has no others. */
const repeatedBatch = async (
  caller: Caller,
  orders: Orders,
  { faults, more }: { faults: readonly z.output<typeof Fault>[]; more: number },
): Promise<PaymentBatch | undefined> => {
  const [first] = faults
  const repeatsAll =
    faults.every(({ existing }) => existing) && new Set(faults.map(({ index }) => index)).size + more === orders.length
  if (!first?.existing || !repeatsAll) return undefined
  const Item = z.object({ batch_id: z.string().nullable() })
  const { batch_id } = await readRoute(caller, Item, `/v1/payments/${first.existing.payment_id}`)
  const batch = batch_id === null ? undefined : await readBatch(caller, batch_id)
  const total = orders.reduce((sum, order) => sum + BigInt(withMinor(order).amount_minor), 0n)
  return batch?.items_count === orders.length && BigInt(batch.total_minor) === total ? batch : undefined
}

const refusedBatch = async (refusal: Refusal, { items }: Arguments, caller: Caller): Promise<BatchOutcome> => {
  const { data: faults } = z.array(Fault).safeParse(refusal.details?.items)
  const orders: Orders = Array.isArray(items) ? items : []
  const faultsForModel = faults?.map(({ message, fix, param, ...fault }) => ({
    ...fault,
    ...(param !== undefined && { param: param === 'amount_minor' ? sentAmountField(orders[fault.index]) : param }),
    message: message.replace(duplicatesHint, ''),
    fix: fix?.replace(duplicatesHint, ''),
  }))
  const refused = refusedAnswer(caller, refusal)
  const repeated = faults && (await repeatedBatch(caller, orders, { faults, more: Number(refusal.details?.more ?? 0) }))
  if (repeated) return { batch_id: null, ...refused, ...existingBatchOutcome(caller, repeated) }
  const answer = {
    batch_id: null,
    ...refused,
    message: refused.message.replace('details.items names', '`faults` names'),
    ...(faultsForModel && { faults: faultsForModel }),
  }
  if (!faults?.some(({ message }) => duplicatesHint.test(message))) return answer
  const address = `${caller.publicUrl}/payments/batches/new`
  const message = `Nothing was created: \`faults\` names what looks like a payment that was made, or like another item. Leave these items out, or show them to the person, who can pay them again at ${address}`
  return { ...answer, next: 'ask_a_person', message, address }
}

const mistakeAnswer = (code: Mistake['code'], faults: z.output<typeof Fault>[], message: string) => ({
  status: 'refused' as const,
  batch_id: null,
  next: 'ask_a_person' as const,
  message: `Nothing was created. ${message}`,
  faults,
  refusal: { code },
})

const lookupsAtOnce = 8

/** The items to beneficiaries whose name another number has, spelled alike: a search for other spellings takes too long for many. */
const itemsWithNamesakes = async (caller: Caller, items: readonly Order[]): Promise<z.output<typeof Fault>[]> => {
  const payees = await readPayees(
    caller,
    items.map(({ beneficiary_id }) => beneficiary_id),
  )
  const namesakes = new Map<string, CardPayee>()
  for (const chunk of chunksOf([...payees], lookupsAtOnce)) {
    caller.signal.throwIfAborted()
    await Promise.all(
      chunk.map(async ([id, payee]) => {
        const namesake = await readNamesake(caller, id, payee, [payee.display_name])
        if (namesake) namesakes.set(id, namesake)
      }),
    )
  }
  return items.flatMap(({ beneficiary_id: id }, index) => {
    const namesake = namesakes.get(id)
    return namesake
      ? [{ index, param: 'beneficiary_id', message: namesakeText(namesake), address: payeeAddress(caller, id) }]
      : []
  })
}

const create = defineTool({
  name: 'create_payment_batch',
  title: 'Create a payment batch',
  description:
    'Pays many beneficiaries with one approval: all items are created, or none. Limits count item by item. Money leaves the account. Follow `next`. ask_a_person: a person must approve at approval.url. change_request: correct the items in `faults`.',
  operation: 'payment_batches.create',
  hints: { ...readHints, readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  input: z.strictObject({
    idempotency_key: z.string().min(1).max(255).describe('One per intended batch. Repeating it is safe and pays once.'),
    name: z.string().max(120).optional().describe('The purpose, which the approver reads.'),
    execute_at: z.string().optional().describe('When to send it: RFC 3339 with a zone. Defaults to now.'),
    items: z
      .array(
        withOneAmount(
          z.strictObject({
            beneficiary_id: z.string().describe('From list_beneficiaries.'),
            ...amountInput,
            purpose_code: z.string().max(4).optional().describe('ISO 20022 external purpose code, such as SALA.'),
            account_reference: z.string().max(20).optional(),
            narrative: z.string().max(140).optional(),
          }),
        ),
      )
      .min(1)
      .max(1_000),
    ...waitInput,
  }),
  output: BatchOutcome,
  run: async ({ idempotency_key: idempotencyKey, items, wait_seconds, ...rest }, caller) => {
    const body = { ...rest, items: items.map(withMinor) }
    const slips = body.items.flatMap(({ narrative, amount_minor }, index) => {
      const other = conflictingAmount(narrative, amount_minor, caller.currency)
      return other?.isHundredfold ? [{ index, param: 'amount', message: other.sentence }] : []
    })
    const [slip] = slips
    if (slip)
      return mistakeAnswer(
        'amount_differs',
        slips,
        `${slip.message}, a hundred times more or less. Ask the person which one is meant.`,
      )
    // A used key returns its batch again, even if it would now be asked about.
    const alike = (await isKeyUsed(caller, '/v1/payment-batches', idempotencyKey))
      ? []
      : await itemsWithNamesakes(caller, body.items)
    if (alike.length > 0)
      return mistakeAnswer(
        'payees_alike',
        alike,
        '`faults` names beneficiaries of the same name. Ask the person to rename one of each.',
      )
    const { first, again } = await createRecord(caller, PaymentBatch, { path: '/v1/payment-batches', body, idempotencyKey })
    return batchOutcome(caller, await waitForEnd(caller, wait_seconds, { first, isOpen, again }))
  },
  refused: refusedBatch,
})

const get = defineTool({
  name: 'get_payment_batch',
  title: 'Get a payment batch',
  description: 'Returns the status of a batch and its payments, and the next step. With wait_seconds, waits for the end.',
  operation: 'payment_batches.get',
  hints: readHints,
  input: z.strictObject({ batch_id: z.string(), ...waitInput }),
  output: BatchOutcome,
  run: async ({ batch_id, wait_seconds }, caller) => {
    const again = () => readBatch(caller, batch_id)
    return batchOutcome(caller, await waitForEnd(caller, wait_seconds, { first: await again(), isOpen, again }))
  },
})

export const batchTools = [create, get]
