import { and, eq } from 'drizzle-orm'
import { type Principal, requireFreshProof } from '../../auth/principal.ts'
import { sha256 } from '../../auth/secrets.ts'
import type { Config } from '../../config.ts'
import { lockAccount, lockNames } from '../../db/account-lock.ts'
import { type Db, first, type Statement, statement, type Tx } from '../../db/client.ts'
import { columnsOf } from '../../db/columns.ts'
import { sessionIsActive } from '../../db/credential-life.ts'
import { insertRow, prepareWrite, updateRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { pushSubscriptions } from '../../db/tables/push.ts'
import { audit } from '../../events/audit.ts'
import type { Clock } from '../../lib/clock.ts'
import { conflict, found, invalidFields, Refusal } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Parts } from '../parts.ts'
import type { CreatePushSubscription } from './schema.ts'
import { endpointProblem, type Push, type SubscriptionRecord, sealEndpoint } from './send.ts'

const maxSubscriptions = 20

export const requirePush = ({ push }: { push: Push | null }): Push => {
  if (!push) throw new Refusal('provider_not_configured', { message: 'Push notifications are not configured here.' })
  return push
}

// SQL text, because `sessionIsActive` is SQL text. A subscription ends with its session, or with the key that its browser used.
const selectLive = `select ${columnsOf(pushSubscriptions, 'p')} from push_subscriptions p
  where coalesce(p.vapid_key = $4, true) and (select ${sessionIsActive('s', '$2', '$3')} from sessions s where s.id = p.session_id)`
const ofAccounts = statement('push_subscriptions.live')`
  ${selectLive} and p.account_id = any($1::uuid[]) order by p.account_id, p.id desc`
const ofApproval = statement('push_subscriptions.told')`
  ${selectLive} and p.id = any(array(select n.subscription_id from push_notices n where n.approval_id = $1))`

type LiveDeps = { clock: Clock; config: Config; push: Pick<Push, 'publicKey'> | null }
const readLive =
  <Of>(query: Statement) =>
  (db: Db, { clock, config, push }: LiveDeps, of: Of): Promise<SubscriptionRecord[]> =>
    db.query(query, [of, clock.now(), config.SESSION_IDLE_DAYS, push?.publicKey ?? null])

/** Active subscriptions of the accounts, newest first within each account. */
export const liveSubscriptions = readLive<readonly Uuid[]>(ofAccounts)
export const notifiedSubscriptions = readLive<Uuid>(ofApproval)

/** Finds a subscription even if its session has ended. */
const findByEndpoint = selectRow('push_subscriptions.by_endpoint', pushSubscriptions, ['endpointHash'])

const removeRow = prepareWrite('push_subscriptions.remove', { id: 'uuid', accountId: 'uuid?' }, (orm, param) =>
  orm
    .delete(pushSubscriptions)
    .where(and(eq(pushSubscriptions.id, param.id), param.accountId && eq(pushSubscriptions.accountId, param.accountId)))
    .returning(),
)

export const removeGone = (db: Db, id: Uuid): Promise<unknown> => db.run(removeRow, { id })

/** Moves an endpoint to its last subscriber, so that notifications never reach the next person who uses the browser. */
export const subscribe = async (
  tx: Tx,
  deps: Pick<Parts, 'clock' | 'config' | 'vault'> & { push: Push | null },
  principal: Principal,
  { endpoint, keys }: CreatePushSubscription,
): Promise<SubscriptionRecord> => {
  const { publicKey: vapidKey } = requirePush(deps)
  const problem = endpointProblem(endpoint, deps.config)
  if (problem !== undefined) throw invalidFields({ path: 'endpoint', message: problem })
  const { accountId, origin, originSessionId: sessionId } = principal
  if (sessionId === null) throw new Error('an undelegated caller has no session')
  await lockAccount(tx, accountId)
  const endpointHash = sha256(endpoint)
  // Two accounts may subscribe the same browser at once.
  await lockNames(tx, `push:${endpointHash.toString('hex')}`)
  const before = await findByEndpoint(tx, { endpointHash })
  const own = before?.accountId === accountId ? before : undefined
  const live = await liveSubscriptions(tx, deps, [accountId])
  if (live.filter(({ id }) => id !== own?.id).length >= maxSubscriptions)
    throw conflict(
      `An account receives push notifications in at most ${maxSubscriptions} browsers: end one first.`,
      'limit_reached',
    )
  const id = own?.id ?? newId()
  const { ciphertext, keyId } = sealEndpoint(deps.vault, id, endpoint, keys.auth.toString('base64url'))
  const sealed = { endpointCiphertext: ciphertext, endpointKeyId: keyId }
  const fresh = { sessionId, ...sealed, p256dh: keys.p256dh, vapidKey, userAgent: origin.userAgent }
  if (own) return updateRow(tx, pushSubscriptions, own, fresh)
  if (before) await removeGone(tx, before.id)
  const record = { id, accountId, endpointHash, ...fresh, createdAt: tx.at }
  insertRow(tx, pushSubscriptions, record)
  audit(tx, principal, 'push_subscription.add', { subject: id })
  return record
}

export const unsubscribe = async (tx: Tx, principal: Principal, id: Uuid): Promise<SubscriptionRecord> => {
  const removed = found(await first(tx, removeRow, { id, accountId: principal.accountId }))
  // Needs fresh proof, because a stolen session could silence its owner's browser.
  if (removed.sessionId !== principal.originSessionId) requireFreshProof(principal, tx.at)
  audit(tx, principal, 'push_subscription.remove', { subject: id })
  return removed
}
