import type { Principal } from '../../auth/principal.ts'
import type { Tx } from '../../db/client.ts'
import { topups } from '../../db/tables/payments.ts'
import { audit } from '../../events/audit.ts'
import { invalidFields, Refusal } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { mask } from '../../lib/mask.ts'
import { formatMinor } from '../../lib/money.ts'
import { currentTraceparent } from '../../lib/tracing.ts'
import { getAccount } from '../identity/accounts/queries.ts'
import type { Deps } from './deps.ts'
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

/** Records a top-up of the workspace's owning account; the payer gets the prompt right after the commit. */
export const initiateTopup = async (
  tx: Tx,
  deps: Pick<Deps, 'config' | 'derivations' | 'jobs' | 'rails' | 'vault'>,
  principal: Principal,
  input: InitiateTopup,
): Promise<TopupRecord> => {
  const { at } = tx
  await checkMayTopUp(tx, principal)
  const rail = deps.rails.collection
  if (!rail) throw new Refusal('provider_not_configured', { message: 'Top-ups are not configured here.' })
  const problems = amountErrors(input.amount_minor, rail.limits, deps.config.CURRENCY)
  if (problems.length > 0) throw invalidFields(...problems)
  const id = newId()
  const { id: workspaceId, owningAccountId } = principal.workspace
  await refuseManyPrompts(
    tx,
    { derivations: deps.derivations, limits: deps.config.promptLimits },
    { phone: input.phone_number, accountId: owningAccountId, initiatorAccountId: principal.accountId },
  )
  const phone = deps.vault.seal(input.phone_number, phoneContext({ id, workspaceId }))
  const [topup] = await tx.orm
    .insert(topups)
    .values({
      id,
      workspaceId,
      accountId: owningAccountId,
      status: 'pending',
      amountMinor: input.amount_minor,
      currency: deps.config.CURRENCY,
      method: input.method,
      phoneCiphertext: phone.ciphertext,
      phoneKeyId: phone.keyId,
      phoneMask: mask(input.phone_number),
      phoneFingerprint: phoneFingerprint(deps.derivations, input.phone_number),
      initiatorAccountId: principal.accountId,
      grantId: principal.grant?.id ?? null,
      dispatchDueAt: at,
      traceparent: currentTraceparent(),
      metadata: input.metadata ?? {},
      createdAt: at,
      updatedAt: at,
    })
    .returning()
  if (!topup) throw new Error('an inserted top-up was not returned')
  tx.afterCommit(() => deps.jobs.wake('topups'))
  await audit(tx, principal, at, {
    action: 'topup.initiate',
    subject: { type: 'topup', id },
    after: { id: formatId('topup', id), amount_minor: formatMinor(topup.amountMinor), phone_number_mask: topup.phoneMask },
  })
  return topup
}
