import { statement, type Tx } from '../../../../db/client.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import type { AttemptRecord } from './queries.ts'

/** A receipt is unique at its provider, over all of the provider's rails. */
const providerOf = (rail: AttemptRecord['rail']): 'MPESA' | 'PESALINK' => (rail === 'PESALINK' ? 'PESALINK' : 'MPESA')
const railsOf = { MPESA: ['MPESA_B2C', 'MPESA_B2B', 'MPESA_STK'], PESALINK: ['PESALINK'] } as const

const waitForClaim = statement('receipts.lock', 'select pg_advisory_xact_lock(hashtextextended($1, 0))')
const others = statement(
  'receipts.others',
  `select from payments where rail = any($1::text[]) and provider_receipt = $2 and id <> $3
   union all select from topups where method = any($1::text[]) and provider_receipt = $2 and id <> $3`,
)

/**
 * Whether a receipt stands for something else already. Two subjects that claim one receipt at the same moment may belong to
 * different accounts, so no other lock makes the second wait.
 */
export const isReceiptTaken = async (tx: Tx, rail: AttemptRecord['rail'], receipt: string, subjectId: Uuid): Promise<boolean> => {
  const provider = providerOf(rail)
  await tx.query(waitForClaim, [`receipt:${provider}:${receipt}`])
  return (await tx.query(others, [railsOf[provider], receipt, subjectId])).length > 0
}
