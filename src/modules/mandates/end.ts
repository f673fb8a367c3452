import { sql } from 'drizzle-orm'
import { walletIsLinked } from '../../auth/authority-sql.ts'
import { inTx, statement, type Tx } from '../../db/client.ts'
import { dueBehind, duePlaces, dueText } from '../../db/list-queries.ts'
import { prepare } from '../../db/prepare.ts'
import { prepareUpdate } from '../../db/prepare-write.ts'
import { intentMandates } from '../../db/tables/mandates.ts'
import { openPaymentsSql } from '../../db/transitions.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import type { Uuid } from '../../lib/ids.ts'
import { sweepRows } from '../for-each-row.ts'
import type { Deps } from './deps.ts'
import { presentMandate } from './present.ts'
import { lockMandate, type MandateRecord } from './queries.ts'

const endRow = prepareUpdate('mandates.end', intentMandates, ['status', 'revokedAt', 'updatedAt'])

export type MandateEnd = { to: 'exhausted' | 'expired' | 'revoked'; actor: Actor; why?: Record<string, unknown> }

/** Ends an active mandate, which the caller has locked, permanently. */
export const endMandate = async (tx: Tx, mandate: MandateRecord, { to, actor, why = {} }: MandateEnd): Promise<MandateRecord> => {
  const { at } = tx
  const change = { status: to, revokedAt: to === 'revoked' ? at : null, updatedAt: at }
  endRow(tx, mandate.id, change)
  const after = { ...mandate, ...change }
  const { accountId, workspaceId } = mandate
  await appendEvents(tx, [{ type: `mandate.${to}`, accountId, workspaceId, data: presentMandate(after, at) }])
  await audit(tx, actor, at, {
    action: `mandate.${to}`,
    workspaceId,
    subject: { type: 'mandate', id: mandate.id },
    before: { status: mandate.status },
    after: { status: to, ...why },
  })
  return after
}

const mayStillFail = `select 1 from payments where mandate_id = $1 and status in ${openPaymentsSql} limit 1`

/**
 * Runs after a payment has succeeded. `exhausted` is final, so it is set only when nothing can be given back any more: while a payment
 * under way holds the last of the budget, the mandate stays active and its limits refuse further payments; if that payment fails, its
 * amount is available again. The caller has locked the owning ledger account.
 */
export const exhaustMandateIfSpent = async (tx: Tx, id: Uuid): Promise<void> => {
  const mandate = await lockMandate(tx, id)
  if (mandate?.status !== 'active') return
  const usedUp =
    mandate.spentMinor >= mandate.maxTotalMinor || (mandate.maxPayments !== null && mandate.paymentsMade >= mandate.maxPayments)
  if (!usedUp || (await tx.query(mayStillFail, [id])).length > 0) return
  await endMandate(tx, mandate, { to: 'exhausted', actor: { accountId: null, origin: null, way: 'budget' } })
}

const unsigned = statement(
  'mandates.unsigned',
  `select id from intent_mandates where account_id = $1 and status = 'active' and not ${walletIsLinked('account_id', 'signer')} order by id`,
)

/** A mandate ends with the wallet that signed it: runs after a wallet was taken from its account. */
export const revokeUnsignedMandates = async (tx: Tx, actor: Actor, accountId: Uuid): Promise<void> => {
  for (const { id } of await tx.query<{ id: Uuid }>(unsigned, [accountId])) {
    const mandate = await lockMandate(tx, id)
    if (mandate?.status === 'active') await endMandate(tx, mandate, { to: 'revoked', actor, why: { via: 'wallet_unlinked' } })
  }
}

const due = prepare(
  'mandates.due',
  duePlaces,
  (orm, at) =>
    dueBehind(
      orm.select({ id: intentMandates.id, due: dueText(intentMandates.expiresAt) }).from(intentMandates),
      { id: intentMandates.id, due: intentMandates.expiresAt },
      at,
      sql`${intentMandates.status} = 'active'`,
    ),
  'pool',
)

/** Mandates that have expired. Payments are already refused by the mandate's window; here the end is recorded and published. */
export const expireMandates = (deps: Pick<Deps, 'alerts' | 'clock' | 'db' | 'logger'>): Promise<number> =>
  sweepRows(
    deps,
    'mandates.expire',
    100,
    (place, take) => deps.db.run(due, { now: deps.clock.now(), ...place, take }),
    ({ id }) =>
      inTx(deps.db, async (tx) => {
        const mandate = await lockMandate(tx, id)
        if (mandate?.status === 'active')
          await endMandate(tx, mandate, { to: 'expired', actor: { accountId: null, origin: null, way: 'timer' } })
      }),
  )
