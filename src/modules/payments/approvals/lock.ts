import { and, asc, eq, sql } from 'drizzle-orm'
import type { Principal } from '../../../auth/principal.ts'
import { requireLocked } from '../../../db/account-lock.ts'
import type { Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { approvals } from '../../../db/tables/approvals.ts'
import { payments } from '../../../db/tables/payments.ts'
import { found, Refusal } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { parseWalletName } from '../../../lib/wallet-name.ts'
import type { ChainAnswers } from '../evaluation/authority.ts'
import type { PaymentRecord } from '../queries.ts'
import { type ApprovalRecord, currentDecisions, findApproval } from './queries.ts'
import { voidRefusedDecisions } from './void.ts'

const place = { id: 'uuid', workspaceId: 'uuid?' } as const

const lockPayments = prepare('approvals.lock_payments', place, (orm, at) =>
  orm
    .select()
    .from(payments)
    .where(
      sql`${payments.id} = any(array(
          select asked.id from ${approvals} a
          cross join lateral (select a.payment_id as id union select p.id from ${payments} p where p.batch_id = a.batch_id) as asked
          where a.id = ${at.id} ${at.workspaceId ? sql`and a.workspace_id = ${at.workspaceId}` : sql``}))`,
    )
    .orderBy(asc(payments.batchIndex), asc(payments.id))
    .for('update'),
)

const lockRow = prepare('approvals.lock', place, (orm, at) =>
  orm
    .select({ id: approvals.id })
    .from(approvals)
    .where(and(eq(approvals.id, at.id), at.workspaceId && eq(approvals.workspaceId, at.workspaceId)))
    .for('update'),
)

/** An approval under its locks, with every payment that it is about: those of a batch in their order. */
export type LockedApproval = ApprovalRecord & { payments: PaymentRecord[] }

/** The approval alone, for a caller that has locked its payment. */
export const lockOnlyApproval = async (tx: Tx, id: Uuid, workspaceId?: Uuid): Promise<ApprovalRecord | undefined> => {
  // In this order, and without a wait between them: what is read is what the lock's last holder left.
  const [, record] = await Promise.all([tx.run(lockRow, { id, workspaceId }), findApproval(tx, id, workspaceId)])
  return record
}

/** How an approval is locked: the caller holds the lock of the account that pays, then come the payments, then the approval. */
export const lockApproval = async (tx: Tx, id: Uuid, workspaceId?: Uuid): Promise<LockedApproval | undefined> => {
  const [locked, record] = await Promise.all([tx.run(lockPayments, { id, workspaceId }), lockOnlyApproval(tx, id, workspaceId)])
  if (!record) return undefined
  requireLocked(tx, [record.payment.accountId])
  return { ...record, payments: locked }
}

/** Contract wallets have signed decisions, and their chains were not asked yet: that takes time, so it is done outside of the transaction. */
export class UnaskedChains extends Refusal {
  constructor() {
    super('unavailable', { headers: { 'retry-after': '1' } })
  }
}

const hasContractSigned = (record: LockedApproval): boolean =>
  currentDecisions(record).some(
    ({ decision, signer }) => decision === 'approve' && (parseWalletName(signer ?? '')?.chainId ?? null) !== null,
  )

type Held = { id: Uuid; principal?: Principal; answers: ChainAnswers | null }

/** Locks an approval, without the decisions in it that the chains of their contract wallets refuse now. `answers`: null where none was asked. */
export const lockHeld = async (tx: Tx, { id, principal, answers }: Held): Promise<LockedApproval> => {
  const record = found(await lockApproval(tx, id, principal?.workspace.id))
  const isPending = record.approval.status === 'pending'
  if (isPending && answers === null && hasContractSigned(record)) throw new UnaskedChains()
  const isVoided = isPending && answers !== null && (await voidRefusedDecisions(tx, answers))
  return isVoided ? found(await lockApproval(tx, id)) : record
}
