import { and, asc, eq } from 'drizzle-orm'
import type { Vault } from '../../auth/vault.ts'
import { lockAccount } from '../../db/account-lock.ts'
import { type Database, inTx, statement, type Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRow, updateRow } from '../../db/prepare-write.ts'
import { beneficiaries, beneficiaryVerifications } from '../../db/tables/beneficiaries.ts'
import { paidPaymentsSql } from '../../db/transitions.ts'
import { appendEvents } from '../../events/append.ts'
import type { Lane, Task } from '../../jobs/lane.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { shortenName } from '../../lib/names/words.ts'
import type { RailName } from '../../lib/rail-names.ts'
import type { NameSource } from '../../lib/verification.ts'
import { nairobiMidnight } from '../../rails/nairobi-time.ts'
import type { NameAnswer, Rails } from '../../rails/rail.ts'
import type { Parts } from '../parts.ts'
import { destinationContext } from './destination-context.ts'
import { presentBeneficiary } from './present.ts'
import { type BeneficiaryRecord, findBeneficiary, findLocked } from './queries.ts'
import { findSimilar, noteSimilar } from './similar.ts'
import { nextCheckAt, type Verification, verified } from './verification-rules.ts'

// Checks of names: whose number a payee's is, and whose name it looks like. A payee whose check is due is its own queue entry
// (`name_check_due_at`): after its creation and its renaming, on request, and when a payment's result named somebody else
// (`result_name`). A payment never waits for one: it is decided by what is stored.

type NameCheckDeps = Pick<Parts, 'clock' | 'db' | 'rails' | 'vault'> & {
  /** Called in the transaction that writes another name or status: what names the payee says so too. */
  onNameChanged: (tx: Tx, payee: BeneficiaryRecord) => Promise<void>
}

type Due = { id: Uuid; workspaceId: Uuid; tenant: Uuid }

/** A process that dies during a check leaves it due again after this time. */
const leaseSeconds = 300

/** One of each workspace, then the next one of each: nobody's thousands delay another's. Those that another process takes are passed over. */
const claimDue = statement(
  'beneficiaries.claim_name_checks',
  `update beneficiaries b set name_check_due_at = $1::timestamptz + make_interval(secs => ${leaseSeconds}) from workspaces w
   where w.id = b.workspace_id and b.id in (
     select c.id from beneficiaries c join (
       select id, row_number() over (partition by workspace_id order by name_check_due_at) as place from (
         select id, workspace_id, name_check_due_at from beneficiaries
         where name_check_due_at <= $1 and id <> all($2::uuid[]) order by name_check_due_at limit 1000) as due
       order by place limit $3) as turn on turn.id = c.id
     where c.name_check_due_at <= $1 for update of c skip locked)
   returning b.id, b.workspace_id as "workspaceId", w.owning_account_id as tenant`,
)

/** Undefined for a destination that cannot be decrypted: its payments report that. */
const open = (vault: Vault, payee: BeneficiaryRecord): string | undefined => {
  const sealed = { ciphertext: payee.destinationCiphertext, keyId: payee.destinationKeyId }
  try {
    return vault.open(sealed, destinationContext(payee.id, payee.workspaceId))
  } catch {
    return undefined
  }
}

type LookUp = NonNullable<NonNullable<Rails['payout'][RailName]>['lookUp']>

const ask = async (vault: Vault, payee: BeneficiaryRecord, lookUp: LookUp): Promise<NameAnswer> => {
  const destination = open(vault, payee)
  if (destination === undefined) return { kind: 'unreachable' }
  const isPaybill = payee.accountReference !== null || payee.accountReferenceRequired
  return lookUp({ rail: payee.paymentRail, destination, bankCode: payee.bankCode, isPaybill })
}

/** Names that an account gets a day: first of one none of whose payments has succeeded, so that nobody learns who has which number. */
const mostNamesADay = { new: 20, paying: 500 }

const hasPaidSql = `coalesce((select true from workspaces w cross join lateral (
    select from payments p where p.workspace_id = any(array[w.id]) and p.status in ${paidPaymentsSql} limit 1) as paid
  where w.owning_account_id = $1 limit 1), false)`

const readHasPaid = statement('beneficiaries.account_has_paid', `select ${hasPaidSql} as "hasPaid"`)
const readDay = statement(
  'beneficiaries.names_of_day',
  `select ${hasPaidSql} as "hasPaid", count(distinct beneficiary_id)::int as others from beneficiary_verifications
   where account_id = $1 and checked_at >= $2 and source = 'lookup' and beneficiary_id <> $3`,
)

/**
 * Notes a query before it is sent, under the account's lock, so that queries under way count. Returns its id; null, and a check that says so, where
 * the day's names are used up.
 */
const reserve = (db: Database, due: Due): Promise<Uuid | null> =>
  inTx(db, async (tx) => {
    await lockAccount(tx, due.tenant)
    const { at } = tx
    const [day] = await tx.query<{ hasPaid: boolean; others: number }>(readDay, [due.tenant, nairobiMidnight(at), due.id])
    const isLeft = day !== undefined && day.others < (day.hasPaid ? mostNamesADay.paying : mostNamesADay.new)
    const id = newId()
    insertRow(tx, beneficiaryVerifications, {
      id,
      workspaceId: due.workspaceId,
      accountId: due.tenant,
      beneficiaryId: due.id,
      status: isLeft ? 'unverified' : 'unavailable',
      source: isLeft ? 'lookup' : 'daily_limit',
      checkedAt: at,
    })
    return isLeft ? id : null
  })

type Found = { id: Uuid; answer: NameAnswer; source: NameSource }

const resultNames = prepare(
  'beneficiaries.result_names',
  { id: 'uuid' },
  (orm, at) =>
    orm
      .select({ id: beneficiaryVerifications.id, name: beneficiaryVerifications.name })
      .from(beneficiaryVerifications)
      .where(
        and(
          eq(beneficiaryVerifications.beneficiaryId, at.id),
          eq(beneficiaryVerifications.source, 'payment'),
          eq(beneficiaryVerifications.status, 'unverified'),
        ),
      )
      .orderBy(asc(beneficiaryVerifications.id)),
  'pool',
)

const resultsOf = async (tx: Tx, { id }: BeneficiaryRecord): Promise<Found[]> => {
  const rows = await tx.run(resultNames, { id })
  return rows.map(({ id: check, name }) => ({ id: check, answer: { kind: 'named', name: name ?? '' }, source: 'payment' }))
}

/** Compares each name in its order. A payee's verdict is about the whole name, also where it is shown shortened. */
const compareAll = async (tx: Tx, due: Due, before: BeneficiaryRecord, found: readonly Found[]): Promise<Verification> => {
  const [account] = await tx.query<{ hasPaid: boolean }>(readHasPaid, [due.tenant])
  const shown = (name: string): string => (account?.hasPaid ? name : shortenName(name))
  const { verification, reportedName, nameSource, nameCheckedAt } = before
  let known: Verification = { verification, reportedName, nameSource, nameCheckedAt }
  for (const { id, answer, source } of found) {
    const next = verified({ ...before, ...known }, answer, source, tx.at)
    const isNamed = answer.kind === 'named'
    updateRow(
      tx,
      beneficiaryVerifications,
      { id },
      {
        status: isNamed ? next.verification : 'unavailable',
        name: isNamed ? shown(answer.name) : null,
      },
    )
    const reportedName = next.reportedName && shown(next.reportedName)
    // Shortened it may be the name that is known already: then its source is too.
    known = { ...next, reportedName, nameSource: reportedName === known.reportedName ? known.nameSource : next.nameSource }
  }
  return known
}

/** `similar`: the other payee whose name looks like that of `payee`, as it was read. `lookup`: null where the rail was not asked. */
type Result = { lookup: Found | null; isOverLimit: boolean; payee: BeneficiaryRecord; similar: Uuid | null }

/** Beyond the day's names a payee is as one without a name, and is asked for on the next day. */
const overLimit = (before: BeneficiaryRecord, at: Date): BeneficiaryRecord =>
  before.reportedName === null ? { ...before, verification: 'unavailable', nameSource: 'daily_limit', nameCheckedAt: at } : before

const isNews = (before: BeneficiaryRecord, after: Pick<BeneficiaryRecord, 'verification' | 'reportedName'>): boolean =>
  before.verification !== after.verification || before.reportedName !== after.reportedName

/** When it is checked next. A check that was asked for while results alone were compared stays due. */
const dueAfter = (before: BeneficiaryRecord, { lookup, isOverLimit, payee }: Result, at: Date, tries: number): Date | null => {
  if (isOverLimit) return new Date(nairobiMidnight(at).getTime() + 86_400_000)
  if (tries > 0) return nextCheckAt(tries, at)
  const isAskedAgain =
    before.resultName === payee.resultName && before.nameCheckDueAt?.getTime() !== payee.nameCheckDueAt?.getTime()
  return lookup === null && isAskedAgain ? before.nameCheckDueAt : null
}

/**
 * Writes what was found, and publishes it where it says something new. The row is read under its lock: names that payments reported while the rail
 * was asked are compared too.
 */
const record = async (tx: Tx, deps: NameCheckDeps, due: Due, result: Result): Promise<void> => {
  const { at } = tx
  const { lookup, payee, similar } = result
  await lockAccount(tx, due.tenant)
  const before = await findLocked(tx, due.workspaceId, due.id)
  if (!before) return
  const isUnchanged = before.displayName === payee.displayName && before.payeeId === payee.payeeId
  const similarToId = isUnchanged ? similar : await findSimilar(tx, before)
  await noteSimilar(tx, before, similarToId)
  const results = before.resultName === null ? [] : await resultsOf(tx, before)
  const start = result.isOverLimit ? overLimit(before, at) : before
  const tries = lookup?.answer.kind === 'unreachable' ? before.nameChecks + 1 : 0
  const changes = {
    ...(await compareAll(tx, due, start, lookup ? [lookup, ...results] : results)),
    nameChecks: tries,
    nameCheckDueAt: dueAfter(before, result, at, tries),
    resultName: null,
  }
  const after = { ...updateRow(tx, beneficiaries, before, changes), similarToId }
  if (!isNews(before, after)) return
  await deps.onNameChanged(tx, after)
  const data = presentBeneficiary(after)
  await appendEvents(tx, [{ type: 'beneficiary.updated', accountId: due.tenant, workspaceId: due.workspaceId, data }])
}

const check = async (deps: NameCheckDeps, due: Due): Promise<void> => {
  const payee = await findBeneficiary(deps.db, due.workspaceId, due.id)
  if (!payee) return
  const lookUp = deps.rails.payout[payee.paymentRail]?.lookUp
  const isAsked = lookUp !== undefined && payee.resultName === null && payee.archivedAt === null
  const id = isAsked ? await reserve(deps.db, due) : null
  const [similar, answer] = await Promise.all([findSimilar(deps.db, payee), id && lookUp && ask(deps.vault, payee, lookUp)])
  const lookup = id && answer ? { id, answer, source: 'lookup' as const } : null
  await inTx(deps.db, (tx) => record(tx, deps, due, { lookup, isOverLimit: isAsked && id === null, payee, similar }))
}

/** As many queries for names as are under way at once in this process. */
const mostAtOnce = 4

export const createNamesLane = (deps: NameCheckDeps): Lane => ({
  name: 'names',
  limit: mostAtOnce,
  claim: async ({ free, except }) => {
    // To look for what is due costs as much for one as for several.
    if (free < mostAtOnce / 2) return { tasks: [], more: true }
    const due = await deps.db.query<Due>(claimDue, [deps.clock.now(), except, free])
    const tasks = due.map((each): Task => ({ key: each.id, tenant: each.tenant, run: () => check(deps, each) }))
    return { tasks, more: due.length === free }
  },
})
