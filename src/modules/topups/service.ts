import { eq } from 'drizzle-orm'
import type { Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { topups } from '../../db/tables/payments.ts'
import { audit } from '../../events/audit.ts'
import { daysAfter, secondsAfter } from '../../lib/clock.ts'
import { newDepositCode } from '../../lib/deposit-code.ts'
import { invalidFields, Refusal } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { mask } from '../../lib/mask.ts'
import { formatMinor, type Minor } from '../../lib/money.ts'
import { type DepositRail, isDepositRail } from '../../lib/rail-names.ts'
import { currentTraceparent } from '../../lib/tracing.ts'
import type { Once } from '../../queue/idempotency-keys.ts'
import { keyUserOf, type RecordAnswer } from '../../queue/record-keys.ts'
import { getAccount } from '../identity/accounts/queries.ts'
import type { Deps } from './deps.ts'
import { presentTopup } from './present.ts'
import { phoneFingerprint, refuseManyPrompts } from './prompt-limits.ts'
import type { TopupRecord } from './queries.ts'
import { amountErrors } from './rules.ts'
import type { InitiateTopup } from './schema.ts'

export const phoneContext = (topup: { id: Uuid; workspaceId: Uuid }): string[] => ['topup', topup.id, topup.workspaceId]

/** The caller and the credited account may receive top-ups, and neither is stopped. */
const checkMayTopUp = async (tx: Tx, principal: Principal): Promise<void> => {
  if (principal.grant?.frozen) throw new Refusal('grant_frozen')
  const { owningAccountId } = principal.workspace
  const credited = await getAccount(tx, owningAccountId)
  if (!principal.capabilities.topups || !credited.topupsEnabled)
    throw new Refusal('capability_disabled', { details: { capability: 'topups' } })
  if (credited.status !== 'active') throw new Refusal('account_frozen')
}

/** How long a deposit is waited for; a later one is credited all the same. */
const depositDays = 7

type Asked = Pick<Deps, 'config' | 'derivations' | 'rails' | 'vault'>

/** What only a prompt has: a phone and an amount. */
const promptFields = async (tx: Tx, deps: Asked, principal: Principal, input: InitiateTopup, id: Uuid) => {
  const { amount_minor: amountMinor, phone_number: phoneNumber } = input
  if (amountMinor === undefined || phoneNumber === undefined)
    throw new Error('a prompt was asked for without a phone or an amount')
  const rail = deps.rails.collection
  if (!rail) throw new Refusal('provider_not_configured', { message: 'Top-ups are not configured here.' })
  const problems = amountErrors(amountMinor, rail.limits, deps.config.CURRENCY)
  if (problems.length > 0) throw invalidFields(...problems)
  const { id: workspaceId, owningAccountId } = principal.workspace
  await refuseManyPrompts(
    tx,
    { derivations: deps.derivations, limits: deps.config.promptLimits },
    { phone: phoneNumber, accountId: owningAccountId, initiatorAccountId: principal.accountId },
  )
  const phone = deps.vault.seal(phoneNumber, phoneContext({ id, workspaceId }))
  return {
    amountMinor,
    phoneCiphertext: phone.ciphertext,
    phoneKeyId: phone.keyId,
    phoneMask: mask(phoneNumber),
    phoneFingerprint: phoneFingerprint(deps.derivations, phoneNumber),
    dispatchDueAt: tx.at,
    expiresAt: secondsAfter(tx.at, deps.config.TOPUP_TTL_SECONDS),
  }
}

/** What only a deposit has: where to pay in, under an account number of its own. */
const depositFields = (deps: Asked, rail: DepositRail, amountMinor: Minor | undefined) => {
  const adapter = deps.rails.deposits[rail]
  if (!adapter) throw new Refusal('provider_not_configured', { message: `Deposits by ${rail} are not configured here.` })
  const depositCode = newDepositCode()
  return {
    amountMinor: amountMinor ?? null,
    depositCode,
    instructions: adapter.instructions(depositCode),
  }
}

/** Of a hundred million account numbers, one that is drawn is taken by chance alone. */
const mostDraws = 10

const insertTopup = async (tx: Tx, row: () => typeof topups.$inferInsert): Promise<TopupRecord> => {
  for (let draw = 1; draw <= mostDraws; draw += 1) {
    const [topup] = await tx.orm.insert(topups).values(row()).onConflictDoNothing({ target: topups.depositCode }).returning()
    if (topup) return topup
  }
  throw new Error('no account number for a deposit was free')
}

/** `once`: the request's key. */
export type TopupRequest = { principal: Principal; input: InitiateTopup; once: Once | null }

/** The top-up keeps its key and its answer, so that it is the only record of both. */
const keepKey = async (tx: Tx, topup: TopupRecord, once: Once | null): Promise<string> => {
  const idempotencyKey = once?.key ?? null
  const answer = presentTopup({ ...topup, idempotencyKey })
  if (once)
    await tx.orm
      .update(topups)
      .set({ idempotencyKey, requestHash: once.bodyHash, snapshot: answer })
      .where(eq(topups.id, topup.id))
  return JSON.stringify(answer)
}

/** Records a top-up of the workspace's owning account: the payer gets the prompt right after the commit, or pays in as instructed. */
export const initiateTopup = async (
  tx: Tx,
  deps: Asked & Pick<Deps, 'jobs'>,
  { principal, input, once }: TopupRequest,
): Promise<RecordAnswer> => {
  const { at } = tx
  await checkMayTopUp(tx, principal)
  const id = newId()
  const { id: workspaceId, owningAccountId } = principal.workspace
  const common = {
    id,
    workspaceId,
    accountId: owningAccountId,
    status: 'pending' as const,
    currency: deps.config.CURRENCY,
    method: input.method,
    initiatorAccountId: principal.accountId,
    grantId: principal.grant?.id ?? null,
    traceparent: currentTraceparent(),
    metadata: input.metadata ?? {},
    createdAt: at,
    updatedAt: at,
  }
  const { method } = input
  const prompt = isDepositRail(method) ? null : await promptFields(tx, deps, principal, input, id)
  const topup = await insertTopup(tx, () => ({
    ...common,
    ...(isDepositRail(method) ? depositFields(deps, method, input.amount_minor) : prompt),
    expiresAt: prompt?.expiresAt ?? daysAfter(at, depositDays),
  }))
  const text = await keepKey(tx, topup, once)
  if (prompt) tx.afterCommit(() => deps.jobs.wake('topups'))
  await audit(tx, principal, at, {
    action: 'topup.initiate',
    subject: { type: 'topup', id },
    after: {
      id: formatId('topup', id),
      method,
      amount_minor: topup.amountMinor === null ? null : formatMinor(topup.amountMinor),
      phone_number_mask: topup.phoneMask,
    },
  })
  return { id, text, by: keyUserOf(principal) }
}
