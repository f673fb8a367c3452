import type { Principal } from '../../auth/principal.ts'
import { lockAccounts } from '../../db/account-lock.ts'
import { first, inTx, statement, type Tx } from '../../db/client.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { selectRows } from '../../db/select-rows.ts'
import { beneficiaries, beneficiaryVerifications } from '../../db/tables/beneficiaries.ts'
import { paidPaymentsSql } from '../../db/transitions.ts'
import { appendEvents } from '../../events/append.ts'
import { audit } from '../../events/audit.ts'
import { wakeAfterCommit } from '../../jobs/jobs.ts'
import { createTurns, type DueRow, queueInTurn } from '../../jobs/turns.ts'
import type { Worker } from '../../jobs/worker.ts'
import { Refusal } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { fieldsOf, only } from '../../lib/lists.ts'
import { shortened, shortenName } from '../../lib/names/words.ts'
import type { NameSource } from '../../lib/verification.ts'
import { nairobiMidnight } from '../../rails/fields.ts'
import type { NameAnswer, Rails } from '../../rails/rail.ts'
import type { Parts } from '../parts.ts'
import { type DueCheck, lookUpName, newestCheck, readAccounts, readHasPaid, reserveLookup } from './name-lookup.ts'
import { presentBeneficiary } from './present.ts'
import { type BeneficiaryRecord, findBeneficiary, findForUpdate } from './queries.ts'
import { lockUnarchived, type OnNameChanged } from './service.ts'
import { findSimilar, markSimilar } from './similar-names.ts'
import { nextCheckAt, type Verification, verificationAfter } from './verification-rules.ts'

// A name check compares a beneficiary's name with the name that the rail reports, and looks for beneficiaries with a similar
// name. `name_check_due_at` queues a beneficiary for a check: after its creation or renaming, on request, or when a payment's
// result has another name (`result_name`). No payment waits for a check.

type NameCheckDeps = Pick<Parts, 'clock' | 'db' | 'rails' | 'vault'> & { onNameChanged: OnNameChanged }

const queue = queueInTurn('name_checks', {
  table: 'beneficiaries',
  tenant: 'workspace_id',
  due: 'name_check_due_at',
  leaseSeconds: 300,
})

type ReportedName = { id: Uuid; answer: NameAnswer; source: NameSource }

const resultNames = selectRows('beneficiaries.result_names', beneficiaryVerifications, ['beneficiaryId', 'source', 'status'])

const reportedByPayments = async (tx: Tx, beneficiaryId: Uuid): Promise<ReportedName[]> => {
  const rows = await resultNames(tx, { beneficiaryId, source: 'payment', status: 'unverified' })
  return rows.map(({ id, name }) => ({ id, answer: { kind: 'named', name: name ?? '' }, source: 'payment' }))
}

/** Compares the names in order. The verdict is based on the full name, even if the account sees a shortened one. */
const compare = async (tx: Tx, owner: Uuid, before: BeneficiaryRecord, found: readonly ReportedName[]): Promise<Verification> => {
  const { hasPaid } = only(await tx.query<{ hasPaid: boolean }>(readHasPaid, [owner]))
  const shown = (name: string): string => (hasPaid ? name : shortenName(name))
  const { verification, reportedName, nameSource, nameCheckedAt } = before
  let current: Verification = { verification, reportedName, nameSource, nameCheckedAt }
  for (const { id, answer, source } of found) {
    const next = verificationAfter({ ...before, ...current }, answer, source, tx.at)
    const [status, name] = answer.kind === 'named' ? [next.verification, shown(answer.name)] : ['unavailable' as const, null]
    updateRow(tx, beneficiaryVerifications, { id }, { status, name })
    const reportedName = next.reportedName && shown(next.reportedName)
    // A shortened name may equal the current name, which then keeps its source.
    current = { ...next, reportedName, nameSource: reportedName === current.reportedName ? current.nameSource : next.nameSource }
  }
  return current
}

/** `payee`: the row as read before the search for similar names. `lookup`: null if the rail was not queried. */
type CheckResult = { lookup: ReportedName | null; postponedTo: Date | null; payee: BeneficiaryRecord; similar: Uuid | null }

/** A check that was requested while this one ran stays due, unless this one queried the rail. */
const dueAfter = (before: BeneficiaryRecord, { lookup, postponedTo, payee }: CheckResult, at: Date, tries: number) => {
  if (postponedTo) return postponedTo
  if (tries > 0) return nextCheckAt(tries, at)
  const isRequestedAgain =
    before.resultName === payee.resultName && before.nameCheckDueAt?.getTime() !== payee.nameCheckDueAt?.getTime()
  return lookup === null && isRequestedAgain ? before.nameCheckDueAt : null
}

/** Reads the row again under its lock, to include names that payments reported during the lookup. */
const writeResult = async (tx: Tx, deps: NameCheckDeps, due: DueCheck, result: CheckResult): Promise<void> => {
  const { at } = tx
  const { lookup, payee, similar } = result
  await lockAccounts(tx, { exclusive: due.payers })
  const before = await findForUpdate(tx, due.workspaceId, due.id)
  if (!before) return
  const isUnchanged = before.displayName === payee.displayName && before.payeeId === payee.payeeId
  const similarToId = isUnchanged ? similar : await findSimilar(tx, before)
  if (similarToId !== before.similarToId) await tx.run(markSimilar, { id: before.id, similar: similarToId })
  const results = before.resultName === null ? [] : await reportedByPayments(tx, before.id)
  const hasNoNameYet = result.postponedTo !== null && before.reportedName === null
  const start: BeneficiaryRecord = hasNoNameYet
    ? { ...before, verification: 'unavailable', nameSource: 'daily_limit', nameCheckedAt: at }
    : before
  const tries = lookup?.answer.kind === 'unreachable' ? before.nameChecks + 1 : 0
  const found = await compare(tx, due.owner, start, lookup ? [lookup, ...results] : results)
  const isChanged = (['verification', 'reportedName', 'nameSource'] as const).some((name) => before[name] !== found[name])
  const changes = {
    ...found,
    ...(isChanged && { updatedAt: at }),
    nameChecks: tries,
    nameCheckDueAt: dueAfter(before, result, at, tries),
    resultName: null,
  }
  const after = { ...updateRow(tx, beneficiaries, before, changes), similarToId }
  if (!isChanged) return
  await deps.onNameChanged(tx, deps.rails, after)
  const data = presentBeneficiary(after)
  await appendEvents(tx, [{ type: 'beneficiary.updated', accountId: due.payer, workspaceId: due.workspaceId, data }])
}

const runCheck = async (deps: NameCheckDeps, { id, tenant: workspaceId }: DueRow): Promise<void> => {
  const [payee, [accounts]] = await Promise.all([
    findBeneficiary(deps.db, workspaceId, id),
    deps.db.query<Pick<DueCheck, 'owner' | 'payer' | 'payers'>>(readAccounts, [workspaceId]),
  ])
  if (!payee || !accounts) return
  const due = { id, workspaceId, ...accounts }
  const lookUp = deps.rails.payout[payee.paymentRail]?.lookUp
  const needsLookup = lookUp !== undefined && payee.resultName === null && payee.archivedAt === null
  const reserved = needsLookup ? await reserveLookup(deps.db, due) : { id: null, postponedTo: null }
  if (!reserved) return
  const { id: lookupId, postponedTo } = reserved
  const [similar, answer] = await Promise.all([
    findSimilar(deps.db, payee),
    lookupId && lookUp && lookUpName(deps.vault, payee, lookUp),
  ])
  const lookup = lookupId && answer ? { id: lookupId, answer, source: 'lookup' as const } : null
  await inTx(deps.db, (tx) => writeResult(tx, deps, due, { lookup, postponedTo, payee, similar }))
}

/** Maximum number of concurrent name lookups in this process. */
const maxConcurrent = 4

export const createNameCheckWorker = (deps: NameCheckDeps): Worker => {
  const claim = createTurns(deps, queue, (row) => runCheck(deps, row))
  return {
    name: 'names',
    limit: maxConcurrent,
    // Waits for several free slots, because searching for one due check costs as much as searching for several.
    claim: async (capacity) => (capacity.free < maxConcurrent / 2 ? { tasks: [], more: true } : claim(capacity)),
  }
}

/** Minimum time between two lookups of one beneficiary, regardless of their cause. */
const minSecondsBetweenChecks = 60

/** Queues a new lookup. A changed result is published as `beneficiary.updated`. */
export const requestNameCheck = async (tx: Tx, rails: Pick<Rails, 'payout'>, principal: Principal, id: Uuid) => {
  const before = await lockUnarchived(tx, principal, id)
  if (!rails.payout[before.paymentRail]?.lookUp)
    throw new Refusal('provider_not_configured', {
      message: `${before.paymentRail} is not asked for names here: NAME_LOOKUPS does not name it.`,
    })
  const last = (await first(tx, newestCheck, { beneficiaryId: id }))?.checkedAt
  if (last && tx.at.getTime() - last.getTime() < minSecondsBetweenChecks * 1000) return before
  updateRow(tx, beneficiaries, { id }, { nameCheckDueAt: tx.at, nameChecks: 0 })
  audit(tx, principal, 'beneficiary.name_check', { subject: id })
  wakeAfterCommit(tx, 'names')
  return before
}

const queueUnchecked = statement('beneficiaries.check_names_again')`
  update beneficiaries set name_check_due_at = $3, name_checks = 0 where id = any($1::uuid[]) and payment_rail = any($2::text[])
     and archived_at is null and verification in ('unverified', 'unavailable') and (name_check_due_at is null or name_check_due_at > $3)
     and (name_checked_at is null or name_checked_at < case when name_source = 'daily_limit' then $4::timestamptz else $5 end)
   returning id`

/**
 * Queues new checks of names that an approval needs and that have no verdict yet. The earliest time is one minute after the last
 * check, or the next day if the daily limit was reached. The caller has locked the account that pays.
 */
export const checkNamesAgain = async (tx: Tx, { payout }: Pick<Rails, 'payout'>, ids: readonly Uuid[]): Promise<void> => {
  const { at } = tx
  const railsWithLookup = Object.entries(payout).flatMap(([rail, { lookUp } = {}]) => (lookUp ? [rail] : []))
  const before = new Date(at.getTime() - minSecondsBetweenChecks * 1000)
  if ((await tx.query(queueUnchecked, [ids, railsWithLookup, at, nairobiMidnight(at), before])).length > 0)
    wakeAfterCommit(tx, 'names')
}

// A payee's first successful payment without a name queues another lookup: the shortened name may now be shown in full.
const insertReportedNames = statement('beneficiaries.note_result_names')`
  with results as (
     select n.*, b.workspace_id from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[]) as n(id, beneficiary_id, name, payment_id, account_id)
     join beneficiaries b on b.id = n.beneficiary_id
     where b.id = any($2::uuid[]) and case when n.name <> '' then b.reported_name is distinct from n.name
       else strpos(b.reported_name, '${shortened}') > 0 and (
         select true from payments p where p.payee_id = any(array[b.payee_id]) and p.status in ${paidPaymentsSql} and p.id <> all($4) limit 1) is null end),
   noted as (
     insert into beneficiary_verifications (id, workspace_id, account_id, beneficiary_id, status, name, source, payment_id, checked_at)
     select id, workspace_id, account_id, beneficiary_id, 'unverified', name, 'payment', payment_id, $6 from results where name <> '')
   update beneficiaries b set result_name = coalesce(nullif(r.name, ''), b.result_name), name_check_due_at = $6
   from results r where b.id = any($2::uuid[]) and b.id = r.beneficiary_id`

type Paid = { id: Uuid; accountId: Uuid; beneficiaryId: Uuid }

/** Records names that payments reported. A name that differs from the current one is compared after the commit. */
export const recordReportedNames = (tx: Tx, paid: readonly { payment: Paid; name: string | undefined }[]): void => {
  if (paid.length === 0) return
  const rows = paid.map(({ payment, name = '' }) => ({ ...payment, name, checkId: newId() }))
  tx.defer(tx.query(insertReportedNames, [...fieldsOf(rows, 'checkId', 'beneficiaryId', 'name', 'id', 'accountId'), tx.at]))
}
