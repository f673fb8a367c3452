import { eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Permission } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import type { Db } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { selectAmong } from '../db/select-rows.ts'
import { beneficiaries, payees } from '../db/tables/beneficiaries.ts'
import { paymentBatches } from '../db/tables/payment-batches.ts'
import { payments } from '../db/tables/payments.ts'
import { topups } from '../db/tables/topups.ts'
import { isoTime, isoTimeOrNull } from '../lib/clock.ts'
import type { Existing } from '../lib/error-details.ts'
import { type ErrorDetails, Refusal } from '../lib/errors.ts'
import { formatId, parseId, type Uuid } from '../lib/ids.ts'
import { formatMinor, type Minor } from '../lib/money.ts'

type Moved = { id: Uuid; status: string; createdAt: Date; completedAt: Date | null }

const moved = (kind: 'payment' | 'payment_batch' | 'topup', row: Moved, amountMinor: Minor | null, receipt: string | null) => ({
  [`${kind}_id`]: formatId(kind, row.id),
  status: row.status,
  receipt,
  ...(amountMinor !== null && { amount_minor: formatMinor(amountMinor) }),
  created_at: isoTime(row.createdAt),
  completed_at: isoTimeOrNull(row.completedAt),
})

const findPayments = selectAmong('existing.payments', payments, 'id')
const findBatches = selectAmong('existing.payment_batches', paymentBatches, 'id')
const findTopups = selectAmong('existing.topups', topups, 'id')

const paybills = alias(payees, 'paybills')
/** Reads the freeze of the payee and that of its paybill. */
const findBeneficiaries = prepare('existing.beneficiaries', { ids: 'uuid[]' }, (orm, param) => {
  const { id, workspaceId, createdAt, archivedAt, payeeId } = beneficiaries
  return orm
    .select({ id, workspaceId, createdAt, archivedAt, frozenAt: payees.frozenAt, paybillFrozenAt: paybills.frozenAt })
    .from(beneficiaries)
    .innerJoin(payees, eq(payees.id, payeeId))
    .leftJoin(paybills, eq(paybills.id, payees.paybillId))
    .where(sql`${id} = any(${param.ids})`)
})

type Known = { id: Uuid; workspaceId: Uuid; shown: Existing }
type Kind = { permission: Permission; find: (db: Db, ids: readonly Uuid[]) => Promise<Known[]> }

const kinds = {
  payment: {
    permission: 'payment.read',
    find: async (db, ids) =>
      (await findPayments(db, ids)).map((row) => ({
        ...row,
        shown: moved('payment', row, row.amountMinor, row.providerReceipt),
      })),
  },
  payment_batch: {
    permission: 'payment.read',
    find: async (db, ids) =>
      (await findBatches(db, ids)).map((row) => ({ ...row, shown: moved('payment_batch', row, row.totalMinor, null) })),
  },
  topup: {
    permission: 'topup.read',
    find: async (db, ids) =>
      (await findTopups(db, ids)).map((row) => ({
        ...row,
        shown: moved('topup', row, row.receivedMinor ?? row.amountMinor, row.providerReceipt),
      })),
  },
  beneficiary: {
    permission: 'beneficiary.read',
    find: async (db, ids) =>
      (await db.run(findBeneficiaries, { ids })).map(({ id, workspaceId, createdAt, archivedAt, frozenAt, paybillFrozenAt }) => {
        const status = archivedAt ? 'archived' : frozenAt || paybillFrozenAt ? 'frozen' : 'active'
        return { id, workspaceId, shown: { beneficiary_id: formatId('beneficiary', id), status, created_at: isoTime(createdAt) } }
      }),
  },
} satisfies Record<string, Kind>

type Names = Readonly<Record<string, unknown>>

/** Adds the earlier payment that the warnings of a denied decision name. */
const namedIn = (details: Names): Names => {
  const { warnings } = (details.decision ?? {}) as { warnings?: { code: string; payment_id?: string }[] }
  const twin = warnings?.find(({ code }) => code === 'possible_duplicate')?.payment_id
  return twin === undefined ? details : { existing_payment_id: twin, ...details }
}

/**
 * Adds the current state of a record that a refusal names, so that a caller that lost an answer learns that the payment was made.
 * Records that the caller may not read stay hidden.
 */
export const addExistingRecords = async (db: Db, refusal: Refusal, caller: Principal | null): Promise<Refusal> => {
  const details = namedIn(refusal.details ?? {})
  const items = (details.items ?? []) as readonly Names[]
  const known = new Map<string, Existing>()
  for (const [kind, { permission, find }] of Object.entries(kinds)) {
    const ids = [details, ...items].flatMap(
      (names) => parseId(kind as keyof typeof kinds, String(names[`existing_${kind}_id`])) ?? [],
    )
    if (ids.length === 0 || !caller?.permissions.has(permission as Permission)) continue
    for (const { id, workspaceId, shown } of await find(db, [...new Set(ids)]))
      if (workspaceId === caller.workspace.id) known.set(formatId(kind as keyof typeof kinds, id), shown)
  }
  if (known.size === 0) return refusal
  const add = (names: Names): Names => {
    const existing = Object.keys(kinds).flatMap((kind) => known.get(String(names[`existing_${kind}_id`])) ?? [])[0]
    return existing ? { ...names, existing } : names
  }
  const { code, message, headers } = refusal
  const all: ErrorDetails = { ...add(details), ...(items.length > 0 && { items: items.map(add) }) }
  return new Refusal(code, { message, details: all, ...(headers && { headers }), cause: refusal.cause })
}
