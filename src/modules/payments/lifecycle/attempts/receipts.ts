import { statement, type Tx } from '../../../../db/client.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import { providerOf, providerRails } from '../../../../lib/rail-names.ts'
import type { AttemptRecord } from './queries.ts'

const waitForClaim = statement('receipts.lock', 'select pg_advisory_xact_lock(hashtextextended($1, 0))')
const others = statement(
  'receipts.others',
  `select from payments where rail = any($1::text[]) and provider_receipt = $2 and id <> $3
   union all select from topups where method = any($1::text[]) and provider_receipt = $2 and id <> $3`,
)

/**
 * Whether a receipt already belongs to something else, at the provider of this rail. Two subjects that claim one receipt at the same moment
 * may belong to different accounts, so only this lock makes the second one wait.
 */
export const isReceiptTaken = async (tx: Tx, rail: AttemptRecord['rail'], receipt: string, subjectId: Uuid): Promise<boolean> => {
  const provider = providerOf(rail)
  await tx.query(waitForClaim, [`receipt:${provider}:${receipt}`])
  return (await tx.query(others, [providerRails[provider], receipt, subjectId])).length > 0
}
