import type { Principal } from '../../auth/principal.ts'
import { statement, type Tx } from '../../db/client.ts'
import { updateRow } from '../../db/prepare-write.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import { paidPaymentsSql } from '../../db/transitions.ts'
import { audit } from '../../events/audit.ts'
import { wakeAfterCommit } from '../../jobs/jobs.ts'
import { conflict, Refusal } from '../../lib/errors.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { fieldsOf } from '../../lib/lists.ts'
import { shortened } from '../../lib/names/words.ts'
import type { Rails } from '../../rails/rail.ts'
import type { BeneficiaryRecord } from './queries.ts'
import { lockBeneficiary } from './service.ts'

/** Rails are asked about one payee at most this often, whoever asks. */
const checkEverySeconds = 60

/** Asks the rail again whose number it is. The answer comes with `beneficiary.updated`. */
export const requestNameCheck = async (
  tx: Tx,
  rails: Pick<Rails, 'payout'>,
  principal: Principal,
  id: Uuid,
): Promise<BeneficiaryRecord> => {
  const { at } = tx
  const before = await lockBeneficiary(tx, principal, id)
  if (before.archivedAt) throw conflict('An archived beneficiary does not change.', 'archived')
  if (!rails.payout[before.paymentRail]?.lookUp)
    throw new Refusal('provider_not_configured', {
      message: `${before.paymentRail} is not asked for names here: NAME_LOOKUPS does not name it.`,
    })
  const last = before.nameCheckedAt
  if (last && at.getTime() - last.getTime() < checkEverySeconds * 1000) return before
  updateRow(tx, beneficiaries, { id }, { nameCheckDueAt: at, nameChecks: 0 })
  audit(tx, principal, 'beneficiary.name_check', { subject: id })
  wakeAfterCommit(tx, 'names')
  return before
}

// A result without a name asks the rail again, once: from the first success on the whole name may be shown.
const noteResults = statement(
  'beneficiaries.note_result_names',
  `with results as (
     select n.*, b.workspace_id from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[]) as n(id, beneficiary_id, name, payment_id, account_id)
     join beneficiaries b on b.id = n.beneficiary_id
     where b.id = any($2::uuid[]) and case when n.name <> '' then b.reported_name is distinct from n.name
       else strpos(b.reported_name, '${shortened}') > 0 and (
         select true from payments p where p.payee_id = any(array[b.payee_id]) and p.status in ${paidPaymentsSql} and p.id <> all($4) limit 1) is null end),
   noted as (
     insert into beneficiary_verifications (id, workspace_id, account_id, beneficiary_id, status, name, source, payment_id, checked_at)
     select id, workspace_id, account_id, beneficiary_id, 'unverified', name, 'payment', payment_id, $6 from results where name <> '')
   update beneficiaries b set result_name = coalesce(nullif(r.name, ''), b.result_name), name_check_due_at = $6
   from results r where b.id = any($2::uuid[]) and b.id = r.beneficiary_id`,
)

type Paid = { id: Uuid; accountId: Uuid; beneficiaryId: Uuid }

/** The names that a rail reported with payments: each that differs from what is known is compared after the commit. */
export const noteResultNames = (tx: Tx, paid: readonly { payment: Paid; name: string | undefined }[]): void => {
  if (paid.length === 0) return
  const rows = paid.map(({ payment, name = '' }) => ({ ...payment, name, checkId: newId() }))
  tx.defer(tx.query(noteResults, [...fieldsOf(rows, 'checkId', 'beneficiaryId', 'name', 'id', 'accountId'), tx.at]))
}
