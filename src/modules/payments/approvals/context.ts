import { decidingRoles } from '../../../auth/permissions.ts'
import type { Db } from '../../../db/client.ts'
import { paidPaymentsSql } from '../../../db/transitions.ts'
import { getBalance } from '../../../ledger/ledger.ts'
import type { Uuid } from '../../../lib/ids.ts'
import type { Minor } from '../../../lib/money.ts'
import { toSamePayee } from '../../beneficiaries/payee-queries.ts'
import { type ApprovalRecord, currentDecisions } from './queries.ts'

/**
 * Information that helps to decide and is not part of the approval itself: earlier payments to this payee, what the limits leave, who else
 * may decide.
 */
export type ApprovalContext = {
  paymentsCount: number
  lastPaidAt: Date | null
  typicalAmountMinor: Minor | null
  availableAfterMinor: Minor
  eligibleApprovers: Uuid[]
}

type PayeeRow = { payments: number; last_paid_at: Date | null; typical_minor: Minor | null }

/**
 * Payments to the same payee under any name, in this workspace: a fingerprint belongs to one workspace. At a paybill those to the same
 * account. The median, because one unusual payment does not move it.
 */
const payee = `
  select count(*)::int as payments, max(p.completed_at) as last_paid_at,
    percentile_disc(0.5) within group (order by p.amount_minor) as typical_minor
  from payments asked join payments p on ${toSamePayee('p', 'asked')}
  where asked.id = $1 and p.status in ${paidPaymentsSql} and p.id <> asked.id`

/**
 * As when a decision is made: an account whose decision counts need not decide again, and the initiator cannot where duties are separate.
 */
const approvers = `
  select m.account_id from members m join accounts a on a.id = m.account_id
  where m.workspace_id = $1 and m.status = 'active' and m.role = any($2::text[]) and a.status = 'active'
    and m.account_id <> all($3::uuid[])
  order by m.id`

export const readContext = async (db: Db, record: ApprovalRecord): Promise<ApprovalContext> => {
  const { approval, payment } = record
  const excluded = [
    ...currentDecisions(record).map((decision) => decision.accountId),
    ...(approval.separationOfDuties ? [payment.initiatorAccountId] : []),
  ]
  const [row] = await db.query<PayeeRow>(payee, [payment.id])
  const eligible = await db.query<{ account_id: Uuid }>(approvers, [payment.workspaceId, decidingRoles, excluded])
  // The amount is held already while the payment waits, so the available balance is the one after the payment.
  const { availableMinor } = await getBalance(db, payment.accountId)
  return {
    paymentsCount: row?.payments ?? 0,
    lastPaidAt: row?.last_paid_at ?? null,
    typicalAmountMinor: row?.typical_minor == null ? null : BigInt(row.typical_minor),
    availableAfterMinor: availableMinor,
    eligibleApprovers: eligible.map(({ account_id }) => account_id),
  }
}
