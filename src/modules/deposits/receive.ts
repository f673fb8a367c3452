import { equalBytes, sha256 } from '../../auth/secrets.ts'
import type { Derivations } from '../../auth/vault.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { describeError } from '../../db/errors.ts'
import { upsertRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { depositRegistrations } from '../../db/tables/deposits.ts'
import { secondsAfter } from '../../lib/clock.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { type DepositRail, depositRails } from '../../lib/rail-names.ts'
import { deposits } from '../../rails/definitions.ts'
import { parseJson } from '../../rails/fields.ts'
import type { DepositAdapter, DepositUrls, RailCheck } from '../../rails/rail.ts'
import { getHolderOf } from '../identity/accounts/queries.ts'
import type { Parts } from '../parts.ts'
import { keepUnreadable } from '../sending/deliveries.ts'
import { recordSuspense } from '../suspense/service.ts'
import { findTopupById } from '../topups/queries.ts'
import { findByReference, recordDeposit, recordOtherAmount, settleDeposit } from './deposit.ts'

const purpose = 'deposit.callback'

/** The secret is derived, so it is the same in all processes. It is hexadecimal, because portals refuse certain words in URLs. */
export const depositUrls = (operatorUrl: string, derivations: Derivations, rail: DepositRail): DepositUrls => {
  const base = `${operatorUrl}/callbacks/deposits/${derivations.mac(purpose, rail).toString('hex')}`
  return { confirmation: `${base}/confirmation`, validation: `${base}/validation` }
}

/** Accepts a secret under any key of the ring. Compares in constant time. */
const railOfSecret = (derivations: Derivations, secret: string): DepositRail | undefined => {
  const given = sha256(secret)
  return depositRails.filter((rail) =>
    derivations.macs(purpose, rail).some(({ mac }) => equalBytes(sha256(mac.toString('hex')), given)),
  )[0]
}

/** Stores the notification only if it creates a suspense item. */
const keepAsSuspense = (
  { db, vault }: Pick<Parts, 'db' | 'vault'>,
  body: string,
  record: (tx: Tx, deliveryId: Uuid) => Promise<Uuid | undefined>,
): Promise<void> =>
  inTx(db, async (tx) => {
    const kept = { id: newId(), kind: 'deposit', body }
    if ((await record(tx, kept.id)) !== undefined) keepUnreadable(tx, vault, kept)
  })

/** The statement may list the money under its receipt, which then refuses to be booked again for this item. */
const recordUnreadable = (
  tx: Tx,
  rail: DepositRail,
  { receipt, body }: { receipt: string | null; body: string },
  deliveryId: Uuid,
): Promise<Uuid | undefined> => {
  const digest = `notice ${sha256(body).toString('hex').slice(0, 12)}`
  const about = { receipt, digest, deliveryId, isRepeated: true }
  return recordSuspense(tx, { ...about, rail, direction: 'in', reason: 'unbookable_delivery', book: false })
}

type ReceivedNotification = { rail: DepositRail; notification: ReturnType<DepositAdapter['readNotification']>; body: string }

/** Answers once the notification is stored. If booking fails, the sweep retries it. */
const confirm = async (deps: Parts, { rail, notification, body }: ReceivedNotification): Promise<object> => {
  if (notification === null) return deposits[rail].accepted
  const isUnreadable = 'unreadable' in notification
  const id = isUnreadable ? undefined : await recordDeposit(deps, rail, notification, { source: 'notice', body })
  if (id)
    await settleDeposit(deps.db, id).catch((error: unknown) =>
      deps.logger.error({ deposit: id, ...describeError(error) }, 'deposit not booked; it will be retried'),
    )
  else
    await keepAsSuspense(deps, body, (tx, deliveryId) =>
      isUnreadable
        ? recordUnreadable(tx, rail, { receipt: notification.receipt, body }, deliveryId)
        : recordOtherAmount(tx, rail, notification, deliveryId),
    )
  return deposits[rail].accepted
}

const validate = async (deps: Parts, { rail, notification }: ReceivedNotification): Promise<object> => {
  const { accepted, unknownAccount } = deposits[rail]
  if (!notification || 'unreadable' in notification || unknownAccount === null) return accepted
  const named = await findByReference(deps.db, notification.reference)
  const topup = named && (await findTopupById(deps.db, { id: named.topupId }))
  const isOpen = topup !== undefined && (await getHolderOf(deps.db, topup.workspaceId)).status !== 'closed'
  return isOpen ? accepted : unknownAccount
}

/** Undefined if the path does not exist. An unauthorized sender gets the same answer as the provider. */
export const answerDeposit = async (
  deps: Parts,
  { secret, kind, body, allowedSource }: { secret: string; kind: string; body: string; allowedSource: boolean },
): Promise<object | undefined> => {
  const answer = kind === 'confirmation' ? confirm : kind === 'validation' ? validate : undefined
  if (!answer) return undefined
  const rail = railOfSecret(deps.derivations, secret)
  const adapter = rail && deps.rails.deposits[rail]
  if (rail && adapter && allowedSource) {
    const read = adapter.readNotification(parseJson(body))
    const isForeign = read && 'currency' in read && read.currency !== deps.config.CURRENCY
    const notification = isForeign ? ({ unreadable: true, receipt: read.receipt } as const) : read
    return answer(deps, { rail, notification, body })
  }
  deps.logger.warn({ rail, allowedSource }, 'deposit callback rejected')
  return Object.values(deposits)[0]?.accepted
}

const hashOf = ({ confirmation, validation }: DepositUrls): Buffer => sha256(`${confirmation} ${validation}`)

const findRegistration = selectRow('deposit_registrations.by_rail', depositRegistrations, ['rail'])

/**
 * Registers the callback URLs. Returns null if the provider has them, otherwise a sentence for the operator. URLs that the
 * provider kept count as ours unless others were registered before.
 */
export const registerDeposits = async (deps: Parts, rail: DepositRail): Promise<string | null> => {
  const adapter = deps.rails.deposits[rail]
  if (!adapter) return `deposits by ${rail} are switched off`
  const urls = depositUrls(deps.config.operatorUrl, deps.derivations, rail)
  const answer = adapter.register && (await adapter.register(urls))
  if (answer?.urls === 'failed') return `the provider did not take the addresses: ${answer.problem}`
  const told = await findRegistration(deps.db, { rail })
  const kept = answer?.urls === 'kept' ? `the provider did not replace the addresses that it has ("${answer.said}")` : null
  if (kept !== null && told && !told.addressHash.equals(hashOf(urls)))
    return `${kept}, which belong to an earlier OPERATOR_URL or TOKEN_SECRETS: have them deleted, then run this again`
  const row = { rail, addressHash: hashOf(urls), registeredAt: deps.clock.now() }
  const key = [depositRegistrations.rail]
  await upsertRow(deps.db, depositRegistrations, row, { key, replaced: ['addressHash', 'registeredAt'] })
  if (!answer) return `enter this address at the provider: ${urls.confirmation}`
  const doubt = kept !== null && !told ? `${kept}: pay in a small amount to confirm that they are ours` : null
  return [doubt, answer.problem].filter((each) => each !== null).join('. ') || null
}

const againAfterSeconds = 3_600

/** Registers at the emulator hourly, because it may be new. For providers, an operator runs `npm run admin -- rails register`. */
export const registerAtEmulator = async (deps: Parts): Promise<void> => {
  for (const rail of depositRails) {
    if (!deps.rails.deposits[rail]?.registersItself) continue
    const told = await findRegistration(deps.db, { rail })
    const urls = depositUrls(deps.config.operatorUrl, deps.derivations, rail)
    const isCurrent =
      told?.addressHash.equals(hashOf(urls)) && told.registeredAt > secondsAfter(deps.clock.now(), -againAfterSeconds)
    if (!isCurrent) await registerDeposits(deps, rail)
  }
}

type Registered = 'none' | 'current' | 'old'

type Reading = Pick<Parts, 'config' | 'db' | 'derivations'>

const readRegistered = async ({ config, db, derivations }: Reading, rail: DepositRail): Promise<Registered> => {
  const told = await findRegistration(db, { rail })
  if (!told) return 'none'
  return told.addressHash.equals(hashOf(depositUrls(config.operatorUrl, derivations, rail))) ? 'current' : 'old'
}

/** The rails whose registered address derives from another OPERATOR_URL, or from another secret than the current one. */
export const railsWithOldAddress = async (deps: Reading, rails: readonly DepositRail[]): Promise<DepositRail[]> => {
  const registered = await Promise.all(rails.map((rail) => readRegistered(deps, rail)))
  return rails.filter((_, index) => registered[index] === 'old')
}

const registrationProblems: Readonly<Record<Registered, string | null>> = {
  none: 'no address was registered: run npm run admin -- rails register',
  old: 'OPERATOR_URL or TOKEN_SECRETS changed since they were registered: run npm run admin -- rails register',
  current: null,
}

export const checkRegistrations = (deps: Reading, rails: readonly DepositRail[]): Promise<RailCheck[]> =>
  Promise.all(
    rails.map(async (rail) => {
      const { label, refusedInAddresses } = deposits[rail]
      const word = refusedInAddresses.find((each) => deps.config.operatorUrl.toLowerCase().includes(each))
      return {
        requirement: `the provider notifies us of deposits: ${label}`,
        problem: word
          ? `OPERATOR_URL has "${word}", which the portal refuses in addresses: choose another name`
          : registrationProblems[await readRegistered(deps, rail)],
      }
    }),
  )
