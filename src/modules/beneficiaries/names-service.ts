import type { Principal } from '../../auth/principal.ts'
import { statement, type Tx } from '../../db/client.ts'
import { plainList, textList } from '../../db/lists.ts'
import { prepareUpdate } from '../../db/prepare-write.ts'
import { beneficiaries } from '../../db/tables/beneficiaries.ts'
import { audit } from '../../events/audit.ts'
import { conflict, Refusal } from '../../lib/errors.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Deps } from './deps.ts'
import type { BeneficiaryRecord } from './queries.ts'
import { lockBeneficiary } from './service.ts'

const askForName = prepareUpdate('beneficiaries.ask_for_name', beneficiaries, ['nameCheckDueAt', 'nameChecks'])

/** Rails are asked about one payee at most this often, whoever asks. */
const checkEverySeconds = 60

/** Asks the rail again whose number it is. The answer comes with `beneficiary.updated`. */
export const requestNameCheck = async (
  tx: Tx,
  deps: Pick<Deps, 'jobs' | 'rails'>,
  principal: Principal,
  id: Uuid,
): Promise<BeneficiaryRecord> => {
  const { at } = tx
  const before = await lockBeneficiary(tx, principal, id)
  if (before.archivedAt) throw conflict('An archived beneficiary does not change.', 'archived')
  if (!deps.rails.payout[before.paymentRail]?.lookUp)
    throw new Refusal('provider_not_configured', {
      message: `${before.paymentRail} is not asked for names here: NAME_LOOKUPS does not name it.`,
    })
  const last = before.nameCheckedAt
  if (last && at.getTime() - last.getTime() < checkEverySeconds * 1000) return before
  askForName(tx, id, { nameCheckDueAt: at, nameChecks: 0 })
  await audit(tx, principal, at, { action: 'beneficiary.name_check', subject: { type: 'beneficiary', id } })
  tx.afterCommit(() => deps.jobs.wake('names'))
  return before
}

const noteResults = statement(
  'beneficiaries.note_result_names',
  `update beneficiaries b set result_name = n.name, name_check_due_at = $3
   from unnest($1::uuid[], $2::text[]) as n(id, name) where b.id = n.id and b.reported_name is distinct from n.name`,
)

/** The names that a rail reported with payments: one that differs from what is known is compared after the commit. */
export const noteResultNames = (tx: Tx, named: readonly { beneficiaryId: Uuid; name: string }[]): void => {
  const names = new Map(named.map(({ beneficiaryId, name }) => [beneficiaryId, name]))
  if (names.size === 0) return
  tx.defer(tx.query(noteResults, [plainList([...names.keys()]), textList([...names.values()]), tx.at]))
}
