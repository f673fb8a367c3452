import { asc, eq } from 'drizzle-orm'
import type { z } from 'zod'
import type { Principal } from '../../../auth/principal.ts'
import type { Db } from '../../../db/client.ts'
import { prepare, type RowOf } from '../../../db/prepare.ts'
import { payments } from '../../../db/tables/payments.ts'
import { fieldErrors, sentences } from '../../../http/sentences.ts'
import { type FieldError, invalidFields, notFound, permissionMissing, type Refusal } from '../../../lib/errors.ts'
import { quoted } from '../../../lib/text.ts'
import { findBatch } from './queries.ts'
import { type BatchEntry, type CompleteBatch, type CreatePaymentBatch, RepeatedItem, sentForm } from './schema.ts'

const itemsToRepeat = prepare('payment_batches.items_to_repeat', { batchId: 'uuid' }, 'pool', (orm, param) =>
  orm.select().from(payments).where(eq(payments.batchId, param.batchId)).orderBy(asc(payments.batchIndex)),
)

type Change = z.output<typeof RepeatedItem>

/** Changes by item index in the earlier batch. Refuses items that describe new payments instead of changes. */
const changesOf = ({ items = [] }: CreatePaymentBatch, count: number): Map<number, Change> => {
  const problems: FieldError[] = []
  const changes = new Map<number, Change>()
  for (const [index, entry] of items.entries()) {
    const at = `items.${index}`
    const { data, error } =
      'batch_index' in entry
        ? { data: entry, error: undefined }
        : RepeatedItem.safeParse('item' in entry ? sentForm(entry.item) : entry.sent, { error: sentences() })
    if (!data) problems.push(...fieldErrors(error?.issues ?? []).map(({ path, message }) => ({ path: `${at}.${path}`, message })))
    else if (data.batch_index >= count)
      problems.push({ path: `${at}.batch_index`, message: `must be below ${count}: the batch has ${count} items` })
    else if (changes.has(data.batch_index)) problems.push({ path: `${at}.batch_index`, message: 'is named twice' })
    else changes.set(data.batch_index, data)
  }
  if (problems.length > 0) throw invalidFields(...problems)
  return changes
}

/** The request names only the earlier batch, so a payee that may not be paid is an error of its item, with the payee's name. */
export const refusalOfRepeated = (refusal: Refusal, payeeName: string): Refusal => {
  const isFrozen = refusal.code === 'beneficiary_frozen'
  if (!isFrozen && refusal.details?.reason !== 'archived') return refusal
  const message = `${quoted(payeeName)} is ${isFrozen ? 'frozen' : 'archived'}: leave the item out, or pay another beneficiary`
  return invalidFields({ path: 'beneficiary_id', message })
}

const entryOf = (payment: RowOf<typeof itemsToRepeat>, change: Change | undefined): BatchEntry => {
  const { batch_index, omit, ...changed } = change ?? {}
  return {
    item: {
      beneficiary_id: payment.beneficiaryId,
      payment_type: payment.paymentType,
      purpose_code: payment.purposeCode,
      account_reference: payment.accountReference,
      narrative: payment.narrative,
      metadata: payment.metadata,
      ...changed,
      amount_minor: change?.amount_minor ?? payment.amountMinor,
    },
  }
}

/** All items of a request: its own or, with `again`, those of the earlier batch. */
export const readCompleteBatch = async (db: Db, principal: Principal, body: CreatePaymentBatch): Promise<CompleteBatch> => {
  const { again, items, ...rest } = body
  if (again === undefined) {
    if (items === undefined) throw invalidFields({ path: 'items', message: 'is required' })
    const own = items.map(
      (entry): BatchEntry =>
        'batch_index' in entry
          ? { faults: [{ path: 'batch_index', message: 'goes with again: name the earlier batch' }], to: null }
          : entry,
    )
    return { ...rest, items: own, againOf: null }
  }
  if (!principal.permissions.has('payment.read')) throw permissionMissing('payment.read')
  const repeated = await findBatch(db, principal.workspace.id, again)
  if (!repeated) throw notFound('again')
  const { batch } = repeated
  const rows = await db.run(itemsToRepeat, { batchId: batch.id })
  const changes = changesOf(body, rows.length)
  const kept = rows.filter((_, index) => changes.get(index)?.omit !== true)
  if (kept.length === 0) throw invalidFields({ path: 'items', message: 'leaves every item of the batch out' })
  return { ...rest, againOf: again, items: kept.map((row) => entryOf(row, changes.get(row.batchIndex ?? -1))) }
}
