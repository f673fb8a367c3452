import { sql } from 'drizzle-orm'
import { countsUnder, requiresSecondPerson, walletIsLinked } from '../../auth/authority-sql.ts'
import { decidingRoles } from '../../auth/permissions.ts'
import type { Principal } from '../../auth/principal.ts'
import type { Config } from '../../config.ts'
import { lockAccounts, lockFurtherAccounts, recordLocked } from '../../db/account-lock.ts'
import { type Db, first, inTx, statement, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRow, updateRow, upsertRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { namesSql } from '../../db/tables/columns.ts'
import { balanceSeparations, separationConfirmations } from '../../db/tables/workspaces.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import { presenter } from '../../http/presenter.ts'
import { getBalance, transfer } from '../../ledger/ledger.ts'
import { daysAfter, isoTime } from '../../lib/clock.ts'
import { conflict, found, permissionMissing, Refusal } from '../../lib/errors.ts'
import { formatId, newId, type Uuid } from '../../lib/ids.ts'
import { displayAmount, formatMinor, type Minor } from '../../lib/money.ts'
import { quoted } from '../../lib/text.ts'
import { type SweepDeps, sweepOf } from '../for-each-row.ts'
import { balanceUpdated, openHolder } from '../identity/accounts/service.ts'
import {
  type Confirmation,
  type ConfirmText,
  ownRequestRefusal,
  proveConfirmation,
  requireConfirmed,
} from '../identity/passkeys/signed-text-service.ts'
import type { Parts } from '../parts.ts'
import { followToOwnBalance } from '../payments/own-balance-service.ts'
import { presentWorkspace, withState, workspaceStatus } from '../workspaces/present.ts'
import { findMembership, findWorkspace, type WorkspaceRecord, workspacesOnBalance } from '../workspaces/queries.ts'
import { giveOwnBalance, requireFinishedUpgrade } from '../workspaces/service.ts'
import { viewMembership } from '../workspaces/view-service.ts'
import { PendingSeparation, type SeparationView } from './schema.ts'

type Separation = typeof balanceSeparations.$inferSelect
type WithCurrency = Pick<Config, 'CURRENCY'>

const shown = presenter(PendingSeparation)
const presentSeparation = (separation: Separation | undefined): PendingSeparation | null =>
  separation ? shown(separation) : null

/** The workspace's own pending separation, otherwise the oldest one from the balance that the workspace uses. */
const pending = prepare('balances.pending', { workspaceId: 'uuid', holderId: 'uuid' }, (orm, param) =>
  orm
    .select()
    .from(balanceSeparations)
    .where(
      sql`${balanceSeparations.outcome} is null and (${balanceSeparations.workspaceId} = ${param.workspaceId} or ${balanceSeparations.accountId} = ${param.holderId})`,
    )
    .orderBy(sql`${balanceSeparations.workspaceId} <> ${param.workspaceId}`, balanceSeparations.id)
    .limit(1),
)
const findPendingSeparation = (db: Db, { id, balanceAccountId }: { id: Uuid; balanceAccountId: Uuid }) =>
  first(db, pending, { workspaceId: id, holderId: balanceAccountId })

export const viewSeparation = async (db: Db, currency: string, principal: Principal): Promise<SeparationView> => {
  const { workspace, accountId } = principal
  const [current, member, separation] = await Promise.all([
    findWorkspace(db, workspace.id),
    findMembership(db, workspace.id, accountId),
    findPendingSeparation(db, workspace),
  ])
  const view = await viewMembership(db, currency, principal, { workspace: found(current), member: found(member) })
  return { ...view, pending_separation: presentSeparation(separation) }
}

/**
 * Workspaces on a balance whose policies require two people or a signature: one person alone cannot take money from it.
 * `counting`: members who count as approvers. `confirmed`: accounts that confirmed. `signedBy`: accounts that signed with a
 * passkey, or with a wallet that is still linked.
 */
const readGuards = statement('balances.guards')`
  select w.id, exists (select from spending_policies p where p.workspace_id = w.id and p.archived_at is null and p.approval_proof = 'signature') as signed,
     array(select m.account_id from members m join accounts a on a.id = m.account_id
       where m.workspace_id = w.id and m.status = 'active' and m.role in ${namesSql(decidingRoles)} and a.status = 'active'
         and ${countsUnder('m', 'w', 'spending_policies', '$3::timestamptz')}) as counting,
     array(select c.account_id from separation_confirmations c where c.separation_id = $2 and c.workspace_id = w.id) as confirmed,
     array(select c.account_id from separation_confirmations c where c.separation_id = $2 and c.workspace_id = w.id and c.signed
       and (c.signer is null or ${walletIsLinked('c.account_id', 'c.signer')})) as "signedBy"
   from workspaces w
   where w.owning_account_id = $1 and w.balance_account_id is null and w.closed_at is null
     and exists (select from spending_policies p where p.workspace_id = w.id and p.archived_at is null and ${requiresSecondPerson('p', 'required_approval_count')})
   order by w.id`
type Guard = { id: Uuid; signed: boolean; counting: Uuid[]; confirmed: Uuid[]; signedBy: Uuid[] }

const guardsOf = (tx: Tx, holderId: Uuid, separationId: Uuid | null): Promise<Guard[]> =>
  tx.query<Guard>(readGuards, [holderId, separationId, tx.at])

const othersIn = ({ counting }: Guard, requester: Uuid): Uuid[] => counting.filter((account) => account !== requester)

/** If no one else counts and a policy requires a signature, the requester's own signature confirms. */
const isConfirmed = (guard: Guard, requester: Uuid): boolean => {
  const others = othersIn(guard, requester)
  const confirmedBy = guard.signed ? guard.signedBy : guard.confirmed
  return confirmedBy.some((account) => (others.length > 0 ? others : [requester]).includes(account))
}

const textOf = (workspace: WorkspaceRecord, separation: Omit<Separation, 'message'>, currency: string): string =>
  [
    'CONFIRM moving money out of a shared balance, so that it belongs to one workspace only.',
    '',
    `Amount: ${displayAmount(separation.amountMinor, currency)}`,
    `Workspace that receives it: ${quoted(workspace.name)}`,
    'From then on, only the rules of that workspace protect this money.',
    '',
    'Purpose: balance separation',
    `Workspace id: ${formatId('workspace', workspace.id)}`,
    `Requested by: ${formatId('account', separation.requestedBy)}`,
    `Requested at: ${isoTime(separation.requestedAt)}`,
  ].join('\n')

const auditActions = {
  'workspace.separation_requested': 'workspace.separation_request',
  'workspace.separation_withdrawn': 'workspace.separation_withdraw',
  'workspace.separated': 'workspace.separate',
} as const

/** `reason`: why the request ended without a person. */
type Published = { workspace: WorkspaceRecord; separation: Separation; guards: readonly Guard[]; reason?: string }

/** Publishes in the workspace and in each workspace whose policies guard the balance, because their approvers decide too. */
const publish = async (
  tx: Tx,
  { CURRENCY }: WithCurrency,
  actor: Actor,
  type: keyof typeof auditActions,
  { workspace, separation, guards, reason }: Published,
): Promise<void> => {
  const { id: subject, balanceAccountId } = workspace
  const pending = type !== 'workspace.separated' && { pending_separation: shown(separation) }
  const data = { ...presentWorkspace(withState(workspace), CURRENCY), ...pending }
  const after = { amount_minor: formatMinor(separation.amountMinor), reason }
  for (const workspaceId of new Set([subject, ...guards.map(({ id }) => id)])) {
    const accountId = workspaceId === subject ? balanceAccountId : separation.accountId
    await appendEvents(tx, [{ type, accountId, workspaceId, data }])
    audit(tx, actor, auditActions[type], { workspaceId, subject, after })
  }
}

/** Gives the workspace its own balance. The caller has locked the account that holds the shared balance. */
const separate = async (tx: Tx, config: WithCurrency, actor: Actor, { separation, guards }: Omit<Published, 'workspace'>) => {
  const { id, workspaceId, accountId: from, amountMinor } = separation
  const holder = openHolder(tx, config, workspaceId)
  recordLocked(tx, [holder])
  giveOwnBalance(tx, workspaceId, holder)
  await followToOwnBalance(tx, actor, { workspaceId, holder, from })
  const reference = { type: 'separation', id } as const
  if (amountMinor > 0n)
    for (const [ownerId, moved] of [
      [from, -amountMinor],
      [holder, amountMinor],
    ] as const) {
      const { balance } = await transfer(tx, { ownerId, amountMinor: moved, against: 'adjustments', reference })
      await appendEvents(tx, await balanceUpdated(tx, ownerId, balance))
    }
  const workspace = found(await findWorkspace(tx, workspaceId))
  await publish(tx, config, actor, 'workspace.separated', { workspace, separation, guards })
}

const isFrozen = async (tx: Tx, holderId: Uuid): Promise<boolean> =>
  (await tx.run(workspacesOnBalance, { holderId })).some((each) => workspaceStatus(each) === 'frozen')

const requireNotFrozen = async (tx: Tx, holderId: Uuid): Promise<void> => {
  if (await isFrozen(tx, holderId))
    throw new Refusal('workspace_frozen', { message: 'A workspace on this balance is frozen: nothing leaves it.' })
}

/** The error states the balance only to its owning account. */
const requireCovered = async (tx: Tx, readerId: Uuid, holderId: Uuid, amount: Minor): Promise<void> => {
  const { availableMinor, currency } = await getBalance(tx, holderId)
  if (availableMinor >= amount) return
  const isOwn = readerId === holderId
  const available = isOwn ? `, ${displayAmount(availableMinor, currency)},` : ''
  throw new Refusal('insufficient_funds', {
    message: `The available balance${available} does not cover this amount.`,
    details: { ...(isOwn && { available_minor: formatMinor(availableMinor) }), requested_minor: formatMinor(amount) },
  })
}

/** Separates at once, or waits if policies require two people or a signature. Returns whether the request waits. */
export const requestSeparation = async (
  tx: Tx,
  config: WithCurrency,
  principal: Principal,
  amountMinor: Minor,
): Promise<boolean> => {
  await requireFinishedUpgrade(tx)
  const { accountId: requestedBy } = principal
  const workspace = found(await findWorkspace(tx, principal.workspace.id))
  const { id: workspaceId, balanceAccountId: accountId } = workspace
  if (workspace.owningAccountId !== requestedBy)
    throw new Refusal('forbidden', { message: 'Only the owning account separates a balance that is its own.' })
  if (workspace.kind === 'personal' || accountId !== requestedBy)
    throw conflict('This workspace already has its own balance.', 'balance_own')
  if ((await findPendingSeparation(tx, workspace))?.workspaceId === workspaceId)
    throw conflict('A separation waits already: confirm or withdraw it first.', 'change_pending')
  await requireNotFrozen(tx, accountId)
  await requireCovered(tx, requestedBy, accountId, amountMinor)
  const guards = await guardsOf(tx, accountId, null)
  const waits = guards.length > 0
  const request: Omit<Separation, 'message'> = {
    id: newId(),
    workspaceId,
    accountId,
    amountMinor,
    requestedBy,
    requestedAt: tx.at,
    effectiveAt: daysAfter(tx.at, waits ? 1 : 0),
    outcome: waits ? null : 'separated',
    endedAt: waits ? null : tx.at,
    endedBy: waits ? null : requestedBy,
  }
  const separation = { ...request, message: textOf(workspace, request, config.CURRENCY) }
  insertRow(tx, balanceSeparations, separation)
  if (waits) await publish(tx, config, principal, 'workspace.separation_requested', { workspace, separation, guards })
  else await separate(tx, config, principal, { separation, guards })
  return waits
}

const lockSeparation = selectRow('balances.lock_separation', balanceSeparations, ['id'], { lock: 'update' })

/** Once confirmed or due, separates the balance if owner, policies and balance still allow it, or else withdraws the request. */
const endIfConfirmedOrDue = async (tx: Tx, config: WithCurrency, actor: Actor, separation: Separation): Promise<void> => {
  const workspace = found(await findWorkspace(tx, separation.workspaceId))
  const { requestedBy, accountId, amountMinor, effectiveAt } = separation
  const guards = await guardsOf(tx, accountId, separation.id)
  const isDue = effectiveAt <= tx.at
  const allowed = guards.every((guard) => isConfirmed(guard, requestedBy) || (isDue && !guard.signed))
  if (!allowed && !isDue) return
  const isRequestersBalance =
    workspace.owningAccountId === requestedBy &&
    workspace.balanceAccountId === accountId &&
    workspaceStatus(workspace) === 'active'
  const { availableMinor } = await getBalance(tx, accountId)
  const isCovered = availableMinor >= amountMinor
  const reason = !allowed ? 'not_signed' : !isRequestersBalance ? 'workspace' : isCovered ? null : 'insufficient_funds'
  const outcome = reason === null ? 'separated' : 'withdrawn'
  const ended = updateRow(tx, balanceSeparations, separation, { outcome, endedAt: tx.at, endedBy: actor.accountId })
  if (reason === null) await separate(tx, config, actor, { separation: ended, guards })
  else await publish(tx, config, actor, 'workspace.separation_withdrawn', { workspace, separation: ended, guards, reason })
}

type SeparationConfirmation = Confirmation & { separation: Separation }

/** Null if nothing is pending, for example because the request repeats one that has confirmed the separation. */
export const proveSeparation = async (
  deps: Pick<Parts, 'config' | 'contractWallets' | 'db'>,
  { accountId, workspace }: Principal,
  body: ConfirmText,
): Promise<SeparationConfirmation | null> => {
  const separation = await findPendingSeparation(deps.db, workspace)
  if (!separation) return null
  return { separation, ...(await proveConfirmation(deps, accountId, separation.message, body)) }
}

/** Requires an approver who counts under the policies of the current workspace. The last confirmation separates the balance. */
export const confirmSeparation = async (
  tx: Tx,
  config: WithCurrency,
  principal: Principal,
  proven: SeparationConfirmation | null,
): Promise<void> => {
  const { accountId, workspace } = principal
  const confirmation = found(proven)
  const { id } = confirmation.separation
  const separation = found(await lockSeparation(tx, { id }))
  if (separation.outcome !== null) throw conflict(`The separation is ${separation.outcome} already.`, 'decided')
  if (!confirmation.isCurrentText) throw conflict('This is not the text of what waits: read it again.', 'message_changed')
  await requireNotFrozen(tx, separation.accountId)
  const guard = (await guardsOf(tx, separation.accountId, id)).find((one) => one.id === workspace.id)
  if (!guard) throw conflict('No rule of this workspace asks for a confirmation.', 'status', { status: 'pending' })
  const others = othersIn(guard, separation.requestedBy)
  if (accountId === separation.requestedBy && (others.length > 0 || !guard.signed)) throw ownRequestRefusal('a separation')
  if (accountId !== separation.requestedBy && !others.includes(accountId))
    throw new Refusal('forbidden', {
      message: 'Your role to approve is too young, or does not count, for a rule of this workspace.',
    })
  await requireCovered(tx, accountId, separation.accountId, separation.amountMinor)
  await requireConfirmed(tx, accountId, confirmation, { text: 'pending_separation.message', signed: guard.signed })
  const { proof } = confirmation
  const byWallet =
    proof && 'signer' in proof ? { signer: proof.signer ?? null, signature: proof.signature } : { signer: null, signature: null }
  const row = { separationId: id, workspaceId: workspace.id, accountId, signed: proof !== null, ...byWallet, confirmedAt: tx.at }
  // A signature replaces an earlier confirmation, which may be unsigned or by a wallet that was unlinked.
  if (proof !== null || !guard.confirmed.includes(accountId))
    await upsertRow(tx, separationConfirmations, row, {
      key: [separationConfirmations.separationId, separationConfirmations.workspaceId, separationConfirmations.accountId],
      replaced: ['signed', 'signer', 'signature', 'confirmedAt'],
    })
  audit(tx, principal, 'workspace.separation_confirm', { subject: separation.workspaceId })
  await lockFurtherAccounts(tx, separation.requestedBy)
  await endIfConfirmedOrDue(tx, config, principal, separation)
}

/** Allowed for the requester, and for every approver of a workspace on that balance. */
export const withdrawSeparation = async (tx: Tx, config: WithCurrency, principal: Principal): Promise<void> => {
  const { accountId, permissions } = principal
  const waiting = found(await findPendingSeparation(tx, principal.workspace))
  const separation = found(await lockSeparation(tx, { id: waiting.id }))
  if (separation.requestedBy !== accountId && !permissions.has('approval.decide')) throw permissionMissing('approval.decide')
  if (separation.outcome !== null) return
  const ended = updateRow(tx, balanceSeparations, separation, { outcome: 'withdrawn', endedAt: tx.at, endedBy: accountId })
  const workspace = found(await findWorkspace(tx, separation.workspaceId))
  const guards = await guardsOf(tx, separation.accountId, separation.id)
  await publish(tx, config, principal, 'workspace.separation_withdrawn', { workspace, separation: ended, guards })
}

/** Pending separations of a frozen balance stay pending, even if it was frozen after the sweep has read them. */
export const applyDueSeparations = sweepOf(
  'balances.separate',
  {
    id: balanceSeparations.id,
    due: balanceSeparations.effectiveAt,
    where: [
      sql`${balanceSeparations.outcome} is null`,
      sql`not exists (select from workspaces w join accounts o on o.id = w.owning_account_id
        where w.owning_account_id = ${balanceSeparations.accountId} and w.balance_account_id is null
          and (o.status <> 'active' or w.frozen_at is not null or w.suspended_at is not null))`,
    ],
    fields: { accountId: balanceSeparations.accountId },
  },
  ({ config, db }: SweepDeps & Pick<Parts, 'config'>, { id, accountId }) =>
    inTx(db, async (tx) => {
      await lockAccounts(tx, { exclusive: [accountId] })
      const separation = await lockSeparation(tx, { id })
      if (separation?.outcome === null && separation.effectiveAt <= tx.at && !(await isFrozen(tx, accountId)))
        await endIfConfirmedOrDue(tx, config, { accountId: null, origin: null, way: 'timer' }, separation)
    }),
)
