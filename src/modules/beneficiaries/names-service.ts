import { statement, type Tx } from '../../db/client.ts'
import { plainList, textList } from '../../db/lists.ts'
import type { Uuid } from '../../lib/ids.ts'

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
