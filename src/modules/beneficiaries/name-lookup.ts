import { desc, eq } from 'drizzle-orm'
import type { Vault } from '../../auth/vault.ts'
import { lockAccount } from '../../db/account-lock.ts'
import { type Database, first, inTx, statement } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRow, updateRow } from '../../db/prepare-write.ts'
import { beneficiaries, beneficiaryVerifications } from '../../db/tables/beneficiaries.ts'
import { balanceAccountSql, balanceAccountsSql } from '../../db/tables/workspaces.ts'
import { paidPaymentsSql } from '../../db/transitions.ts'
import { daysAfter } from '../../lib/clock.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { only } from '../../lib/lists.ts'
import type { RailName } from '../../lib/rail-names.ts'
import { nairobiMidnight } from '../../rails/fields.ts'
import type { NameAnswer, Rails } from '../../rails/rail.ts'
import { type BeneficiaryRecord, destinationContext, findForUpdate } from './queries.ts'

// A lookup asks a rail for the registered name. The owning account's lookups are limited per day, over all of its workspaces.

/**
 * `owner`: the owning account, whose daily limit on name lookups applies. `payer`: the account that holds the balance. `payers`:
 * with the account on which payments from before a separation hold money, because their approvals may get a new text.
 */
export type DueCheck = { id: Uuid; workspaceId: Uuid; owner: Uuid; payer: Uuid; payers: Uuid[] }
export const readAccounts = statement('beneficiaries.accounts_of_check')`
  select w.owning_account_id as owner, ${balanceAccountSql('w')} as payer, array(select * from ${balanceAccountsSql('w')}) as payers
   from workspaces w where w.id = $1`

type LookUp = NonNullable<NonNullable<Rails['payout'][RailName]>['lookUp']>

/** Does not look up a destination that cannot be decrypted. Payments to it report the failure. */
export const lookUpName = async (vault: Vault, payee: BeneficiaryRecord, lookUp: LookUp): Promise<NameAnswer> => {
  const sealed = { ciphertext: payee.destinationCiphertext, keyId: payee.destinationKeyId }
  let destination: string
  try {
    destination = vault.open(sealed, destinationContext(payee.id, payee.workspaceId))
  } catch {
    return { kind: 'unreachable' }
  }
  const isPaybill = payee.accountReference !== null || payee.accountReferenceRequired
  return lookUp({ rail: payee.paymentRail, destination, bankCode: payee.bankCode, isPaybill })
}

/** Beneficiaries that an account may look up per day. New accounts get few, because a lookup reveals a number's owner. */
const maxNamesADay = { new: 20, paying: 500 }

const hasPaidSql = `coalesce((select true from workspaces w cross join lateral (
    select from payments p where p.workspace_id = any(array[w.id]) and p.status in ${paidPaymentsSql} limit 1) as paid
  where w.owning_account_id = $1 limit 1), false)`

export const readHasPaid = statement('beneficiaries.account_has_paid')`select ${hasPaidSql} as "hasPaid"`
const readLookupsOfDay = statement('beneficiaries.names_of_day')`
  select ${hasPaidSql} as "hasPaid", count(distinct beneficiary_id)::int as "lookedUp" from beneficiary_verifications
   where account_id = $1 and checked_at >= $2 and source = 'lookup' and beneficiary_id <> $3`

/** The first day from $2 on for which the account $1 has fewer than $3 checks queued. */
const readNextDay = statement('beneficiaries.next_day_for_names')`
  with day as (
     select greatest($2::timestamptz, date_trunc('day', max(last.due), 'Africa/Nairobi')) as at
     from workspaces w cross join lateral (select name_check_due_at as due from beneficiaries
       where workspace_id = w.id and name_check_due_at is not null order by name_check_due_at desc limit 1) as last
     where w.owning_account_id = $1)
  select case when count(b.id) < $3 then day.at else day.at + interval '24 hours' end as at
   from day left join (workspaces w join beneficiaries b on b.workspace_id = w.id)
     on w.owning_account_id = $1 and b.name_check_due_at = day.at
   group by day.at`

export const newestCheck = prepare('beneficiaries.newest_name_check', { beneficiaryId: 'uuid' }, (orm, param) =>
  orm
    .select()
    .from(beneficiaryVerifications)
    .where(eq(beneficiaryVerifications.beneficiaryId, param.beneficiaryId))
    .orderBy(desc(beneficiaryVerifications.id))
    .limit(1),
)

/** Whether the daily limit postponed the previous check, and there is nothing else to compare since. */
const waitsForLookup = ({ nameSource, nameCheckedAt, resultName, updatedAt }: BeneficiaryRecord): boolean =>
  nameSource === 'daily_limit' && resultName === null && nameCheckedAt !== null && updatedAt <= nameCheckedAt

/** `id`: the lookup's record. `postponedTo`: the daily limit is reached, and the lookup is due then. */
type Reserved = { id: Uuid; postponedTo: null } | { id: null; postponedTo: Date }

/**
 * Records a lookup before it is sent. The account's lock makes concurrent lookups count toward the daily limit. If the limit is
 * reached, it records that, once until the next lookup. Returns null if nothing else is left to do.
 */
export const reserveLookup = (db: Database, due: DueCheck): Promise<Reserved | null> =>
  inTx(db, async (tx) => {
    await lockAccount(tx, due.owner)
    const { at } = tx
    const { id: beneficiaryId, workspaceId, owner: accountId } = due
    const values = [accountId, nairobiMidnight(at), beneficiaryId]
    const { hasPaid, lookedUp } = only(await tx.query<{ hasPaid: boolean; lookedUp: number }>(readLookupsOfDay, values))
    const row = { id: newId(), workspaceId, accountId, beneficiaryId, checkedAt: at }
    if (lookedUp < (hasPaid ? maxNamesADay.paying : maxNamesADay.new)) {
      insertRow(tx, beneficiaryVerifications, { ...row, status: 'unverified', source: 'lookup' })
      return { id: row.id, postponedTo: null }
    }
    const newest = await first(tx, newestCheck, { beneficiaryId })
    if (newest?.source === 'daily_limit') updateRow(tx, beneficiaryVerifications, { id: newest.id }, { checkedAt: at })
    else insertRow(tx, beneficiaryVerifications, { ...row, status: 'unavailable', source: 'daily_limit' })
    const next = await tx.query<{ at: Date }>(readNextDay, [accountId, daysAfter(nairobiMidnight(at), 1), maxNamesADay.paying])
    const { at: postponedTo } = only(next)
    const payee = await findForUpdate(tx, workspaceId, beneficiaryId)
    if (!payee || !waitsForLookup(payee)) return { id: null, postponedTo }
    updateRow(tx, beneficiaries, { id: beneficiaryId }, { nameCheckDueAt: postponedTo, nameCheckedAt: at })
    return null
  })
