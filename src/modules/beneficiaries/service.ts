import { isDeepStrictEqual } from 'node:util'
import { and, eq, isNull } from 'drizzle-orm'
import { type Principal, requireActiveAccount, requireFreshProof } from '../../auth/principal.ts'
import type { Derivations, Vault } from '../../auth/vault.ts'
import { statement, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRow, updateRow, updateRows } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { beneficiaries, payees } from '../../db/tables/beneficiaries.ts'
import { balanceAccountSql, workspaces } from '../../db/tables/workspaces.ts'
import { appendEvents } from '../../events/append.ts'
import { type Actor, audit } from '../../events/audit.ts'
import type { AuditAction } from '../../events/audit-actions.ts'
import type { EventType } from '../../events/types.ts'
import { camelFields } from '../../http/pagination.ts'
import { wakeAfterCommit } from '../../jobs/jobs.ts'
import { referenceKey } from '../../lib/account-reference.ts'
import { conflict, found, invalidFields, Refusal } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { assertPresent } from '../../lib/lists.ts'
import { hasAccounts, type RailName } from '../../lib/rail-names.ts'
import type { Rails } from '../../rails/rail.ts'
import { type Creator, changedBy, createdBy, readCreator } from '../creators.ts'
import type { Parts } from '../parts.ts'
import { beneficiaryStatus, presentBeneficiary } from './present.ts'
import { type BeneficiaryRecord, destinationContext, findForUpdate, othersUnderFreeze } from './queries.ts'
import { fingerprintText, maskOf, normalisePayee, type Payee } from './rules.ts'
import type { CreateBeneficiary, UpdateBeneficiary } from './schema.ts'
import { verdictAfterRename } from './verification-rules.ts'

type Change = {
  type: Extract<EventType & AuditAction, `beneficiary.${string}`>
  action?: AuditAction
  after: BeneficiaryRecord
  before?: BeneficiaryRecord
}

/** `accountId`: the account that holds the workspace's balance. */
const recordChange = async (tx: Tx, actor: Actor, accountId: Uuid, { type, action = type, after, before }: Change) => {
  const { id, workspaceId } = after
  const data = presentBeneficiary(after)
  await appendEvents(tx, [{ type, accountId, workspaceId, data }])
  audit(tx, actor, action, { workspaceId, subject: id, before: before && presentBeneficiary(before), after: data })
}

const markConfirmed = async (tx: Tx, actor: Actor, accountId: Uuid, before: BeneficiaryRecord): Promise<BeneficiaryRecord> => {
  const after = updateRow(tx, beneficiaries, before, { confirmedAt: tx.at, changedAt: null, updatedAt: tx.at })
  await recordChange(tx, actor, accountId, { type: 'beneficiary.updated', action: 'beneficiary.confirmed', after })
  return after
}

type PayeeRow = { id: Uuid; frozenAt: Date | null }

const findPayee = selectRow('payees.by_fingerprint', payees, ['workspaceId', 'fingerprint'])
/** Returns no row if a concurrent transaction creates the payee. */
const findOrInsertPayee = statement('payees.ensure')`
  with known as (
     select id, frozen_at from payees where workspace_id = $2 and fingerprint = any($3::bytea[])
   ), made as (
     insert into payees (id, workspace_id, fingerprint, fingerprint_key_id, paybill_id, reference_key, created_at)
     select $1, $2, $4, $5, $6, $7, $8 where not exists (select from known)
     on conflict do nothing returning id, frozen_at
   )
   select id, frozen_at as "frozenAt" from known union all select id, frozen_at from made`

type PayeeKey = { derivations: Derivations; workspaceId: Uuid; rail: RailName }

/** Looks a payee up under every key of the ring, so that a key rotation does not create it a second time. */
const ensurePayeeRow = async (tx: Tx, key: PayeeKey, to: Payee, paybill?: PayeeRow): Promise<PayeeRow> => {
  const { derivations, workspaceId, rail } = key
  const macs = derivations.macs('fingerprint', fingerprintText(workspaceId, rail, to))
  const current = assertPresent(macs[0], 'the ring of token secrets is empty')
  const [payee] = await tx.query<PayeeRow>(findOrInsertPayee, [
    newId(),
    workspaceId,
    macs.map(({ mac }) => mac),
    current.mac,
    current.keyId,
    paybill?.id ?? null,
    to.accountReference === null ? null : referenceKey(to.accountReference),
    tx.at,
  ])
  if (payee) return payee
  // A concurrent transaction created the payee after the search and has committed.
  return assertPresent(await findPayee(tx, { workspaceId, fingerprint: current.mac }), 'a payee that exists cannot be read')
}

/** Creates the payee of a destination if it is missing, and first the payee of its paybill, whose freeze applies to it. */
const ensurePayee = async (tx: Tx, key: PayeeKey, to: Payee): Promise<PayeeRow & { paybillFrozenAt: Date | null }> => {
  const paybill = to.accountReference === null ? undefined : await ensurePayeeRow(tx, key, { ...to, accountReference: null })
  return { ...(await ensurePayeeRow(tx, key, to, paybill)), paybillFrozenAt: paybill?.frozenAt ?? null }
}

export type CreationDeps = Pick<Parts, 'derivations' | 'rails' | 'vault'>

export const createBeneficiary = async (tx: Tx, deps: CreationDeps, principal: Principal, input: CreateBeneficiary) => {
  const { at } = tx
  const workspaceId = principal.workspace.id
  const to = normalisePayee(deps.rails, input)
  const [payee, creator] = await Promise.all([
    ensurePayee(tx, { derivations: deps.derivations, workspaceId, rail: input.payment_rail }, to),
    readCreator(tx, principal),
  ])
  const id = newId()
  const sealed = deps.vault.seal(to.destination, destinationContext(id, workspaceId))
  const row: typeof beneficiaries.$inferSelect = {
    id,
    workspaceId,
    payeeId: payee.id,
    type: input.type,
    displayName: input.display_name,
    legalName: input.legal_name ?? null,
    paymentRail: input.payment_rail,
    destinationCiphertext: sealed.ciphertext,
    destinationKeyId: sealed.keyId,
    destinationMask: maskOf(to),
    accountReferenceRequired: input.account_reference_required ?? false,
    accountReference: to.accountReference,
    metadata: input.metadata ?? {},
    bankCode: to.bankCode,
    ...createdBy(creator),
    changedAt: null,
    verification: 'unverified',
    reportedName: null,
    nameSource: null,
    nameCheckedAt: null,
    nameChecks: 0,
    resultName: null,
    similarToId: null,
    nameCheckDueAt: at,
    confirmedAt: principal.originGrantId ? null : at,
    createdAt: at,
    updatedAt: at,
    archivedAt: null,
  }
  insertRow(tx, beneficiaries, row)
  const record = { ...row, frozenAt: payee.frozenAt, paybillFrozenAt: payee.paybillFrozenAt }
  await recordChange(tx, principal, principal.workspace.balanceAccountId, { type: 'beneficiary.created', after: record })
  wakeAfterCommit(tx, 'names')
  return record
}

const lockBeneficiary = async (tx: Tx, principal: Principal, id: Uuid): Promise<BeneficiaryRecord> =>
  found(await findForUpdate(tx, principal.workspace.id, id))

export const lockUnarchived = async (tx: Tx, principal: Principal, id: Uuid): Promise<BeneficiaryRecord> => {
  const record = await lockBeneficiary(tx, principal, id)
  if (record.archivedAt) throw conflict('An archived beneficiary does not change.', 'archived')
  return record
}

const refuseWhileFrozen = (principal: Principal, change: UpdateBeneficiary): void => {
  const onlyStops = change.status === 'frozen' && Object.keys(change).length === 1
  if (!onlyStops) requireActiveAccount(principal)
  const { frozen, closed } = principal.workspace
  if ((frozen || closed) && !onlyStops) throw new Refusal('workspace_frozen')
}

/** At a paybill, this field decides who is paid. A change would make allow lists with this beneficiary allow another payee. */
const refuseOtherPayee = (before: BeneficiaryRecord, { account_reference_required: required }: UpdateBeneficiary): void => {
  if (hasAccounts(before.paymentRail) && required !== undefined && required !== before.accountReferenceRequired)
    throw invalidFields({
      path: 'account_reference_required',
      message: 'cannot change for this payment_rail, where it decides who is paid: archive the beneficiary and create another',
    })
}

const refuseUnderFrozenPaybill = (before: BeneficiaryRecord, { status }: UpdateBeneficiary): void => {
  if (status === 'active' && before.paybillFrozenAt)
    throw conflict('The whole paybill is frozen: unfreeze the beneficiary that names it without an account.', 'paybill_frozen')
}

/** After a key or an agent renames a beneficiary, a person has to confirm it before the next payment. */
const renamedBy = (creator: Creator, renamed: BeneficiaryRecord, at: Date) => ({
  ...changedBy(creator),
  changedAt: at,
  verification: verdictAfterRename(renamed),
  nameCheckDueAt: at,
  ...(creator.grantId !== null && { confirmedAt: null }),
})

/** Freezes or unfreezes a payee, and publishes an event for every other beneficiary whose status changes with it. */
const freezePayee = async (tx: Tx, accountId: Uuid, changed: BeneficiaryRecord, frozenAt: Date | null): Promise<void> => {
  const { id, payeeId } = changed
  const others = await tx.run(othersUnderFreeze, { id, payeeId })
  updateRow(tx, payees, { id: payeeId }, { frozenAt })
  const events = others.flatMap((before) => {
    const after = { ...before, ...(before.payeeId === payeeId ? { frozenAt } : { paybillFrozenAt: frozenAt }) }
    if (beneficiaryStatus(after) === beneficiaryStatus(before)) return []
    return [{ type: 'beneficiary.updated', accountId, workspaceId: before.workspaceId, data: presentBeneficiary(after) } as const]
  })
  await appendEvents(tx, events)
}

/** Called in the transaction that changes the reported name or the verification status, and has locked the paying account. */
export type OnNameChanged = (tx: Tx, rails: Rails, payee: BeneficiaryRecord, actor?: Actor) => Promise<void>

export const updateBeneficiary = async (
  tx: Tx,
  { rails, onNameChanged }: { rails: Rails; onNameChanged: OnNameChanged },
  principal: Principal,
  id: Uuid,
  change: UpdateBeneficiary,
) => {
  refuseWhileFrozen(principal, change)
  const hasNames = change.display_name !== undefined || change.legal_name !== undefined
  const [before, creator] = await Promise.all([
    lockUnarchived(tx, principal, id),
    hasNames ? readCreator(tx, principal) : undefined,
  ])
  const { at } = tx
  if (principal.originGrantId && beneficiaryStatus(before) === 'frozen' && change.status === 'active')
    throw new Refusal('forbidden', {
      message: 'Only a person, signed in with a method of their own, can unfreeze a beneficiary. An API key or an agent cannot.',
    })
  // Checks `frozenAt`, because a frozen paybill also makes the status `frozen`, and its freeze is lifted at the paybill.
  if (before.frozenAt && change.status === 'active') requireFreshProof(principal, at)
  refuseOtherPayee(before, change)
  refuseUnderFrozenPaybill(before, change)
  // All fields of the request except the status, which belongs to the payee. Fields added to the schema are included.
  const { status: _, ...rest } = change
  const named = camelFields(rest)
  const fields = { ...before, ...named }
  const frozenAt = change.status === undefined ? before.frozenAt : change.status === 'frozen' ? (before.frozenAt ?? at) : null
  if (frozenAt === before.frozenAt && isDeepStrictEqual(fields, before)) return before
  const renamed = fields.displayName !== before.displayName || fields.legalName !== before.legalName
  const written = updateRow(tx, beneficiaries, before, {
    ...named,
    ...(creator && renamed && renamedBy(creator, fields, at)),
    updatedAt: at,
  })
  if (frozenAt !== before.frozenAt) await freezePayee(tx, principal.workspace.balanceAccountId, before, frozenAt)
  const after = { ...written, frozenAt }
  if (renamed) wakeAfterCommit(tx, 'names')
  // A text to sign names the payee as it was, so a rename takes no warning from it.
  const isWorse = before.verification === 'match' || after.verification === 'no_match'
  if (before.verification !== after.verification && isWorse) await onNameChanged(tx, rails, after, principal)
  await recordChange(tx, principal, principal.workspace.balanceAccountId, { type: 'beneficiary.updated', after, before })
  return after
}

export const confirmBeneficiary = async (tx: Tx, principal: Principal, id: Uuid): Promise<BeneficiaryRecord> => {
  if (principal.originGrantId)
    throw new Refusal('forbidden', { message: 'A person confirms a beneficiary, not a key or an agent.' })
  const before = await lockUnarchived(tx, principal, id)
  return before.confirmedAt ? before : markConfirmed(tx, principal, principal.workspace.balanceAccountId, before)
}

/** An approval of a payment also confirms the beneficiary, unless one of its names changed after the approval was requested. */
export const confirmByApproval = async (
  tx: Tx,
  actor: Actor,
  { workspaceId, id, requestedAt }: { workspaceId: Uuid; id: Uuid; requestedAt: Date },
): Promise<void> => {
  const before = await findForUpdate(tx, workspaceId, id)
  if (!before || before.confirmedAt || (before.changedAt && before.changedAt >= requestedAt)) return
  const [workspace] = await tx.query<{ payer: Uuid }>(
    `select ${balanceAccountSql('w')} as payer from workspaces w where w.id = $1`,
    [workspaceId],
  )
  await markConfirmed(tx, actor, found(workspace).payer, before)
}

/** Archiving an archived beneficiary changes nothing. A freeze of its payee remains. */
export const archiveBeneficiary = async (tx: Tx, principal: Principal, id: Uuid): Promise<BeneficiaryRecord> => {
  const before = await lockBeneficiary(tx, principal, id)
  if (before.archivedAt) return before
  const after = updateRow(tx, beneficiaries, before, { archivedAt: tx.at, updatedAt: tx.at })
  await recordChange(tx, principal, principal.workspace.balanceAccountId, { type: 'beneficiary.archived', after, before })
  return after
}

const paidByOwnersBalance = prepare('beneficiaries.of_owner', { owner: 'uuid' }, 'pool', (orm, param) =>
  orm
    .select({ id: beneficiaries.id, workspaceId: beneficiaries.workspaceId })
    .from(workspaces)
    .innerJoin(beneficiaries, eq(beneficiaries.workspaceId, workspaces.id))
    .where(and(eq(workspaces.owningAccountId, param.owner), isNull(workspaces.balanceAccountId))),
)

/** Overwrites the destinations that a closed account's balance paid. Teams with a balance of their own keep theirs. */
export const forgetDestinations = async (tx: Tx, { vault }: { vault: Vault }, owner: Uuid): Promise<void> => {
  const rows = await tx.run(paidByOwnersBalance, { owner })
  const overwritten = rows.map(({ id, workspaceId }) => {
    const { ciphertext, keyId } = vault.seal('', destinationContext(id, workspaceId))
    return { id, destinationCiphertext: ciphertext, destinationKeyId: keyId, nameCheckDueAt: null }
  })
  await updateRows(tx, beneficiaries, ['destinationCiphertext', 'destinationKeyId', 'nameCheckDueAt'], overwritten)
}
