import { statement, type Tx } from '../../../../db/client.ts'
import type { Uuid } from '../../../../lib/ids.ts'
import { type AnyRail, providerOf, railsOf } from '../../../../lib/rail-names.ts'
import { receiptKey } from '../../../../lib/text.ts'

const waitForClaims = statement(
  'receipts.lock',
  'select pg_advisory_xact_lock(hashtextextended(name, 0)) from unnest($1::text[]) as name',
)
const others = statement(
  'receipts.others',
  `select c.subject from unnest($2::text[], $3::uuid[]) as c(receipt, subject)
   where exists (select from payments where rail = any($1::text[]) and provider_receipt in (c.receipt, upper(c.receipt), lower(c.receipt)) and id <> c.subject)
      or exists (select from topups where method = any($1::text[]) and provider_receipt in (c.receipt, upper(c.receipt), lower(c.receipt)) and id <> c.subject)
      or exists (select from deposits where rail = any($1::text[]) and receipt in (c.receipt, upper(c.receipt), lower(c.receipt)) and state = 'credited' and topup_id <> c.subject)`,
)

export type ReceiptClaim = { rail: AnyRail; receipt: string; subjectId: Uuid }

/**
 * The subjects whose receipt already belongs to something else, at the provider of its rail. Two subjects that claim one receipt at the same
 * moment may belong to different accounts, so only these locks make the second one wait; they are taken in order, so that two transactions
 * never wait for each other. Claims of one call name different receipts.
 */
export const takenReceipts = async (tx: Tx, claims: readonly ReceiptClaim[]): Promise<Set<Uuid>> => {
  if (claims.length === 0) return new Set()
  const byProvider = Map.groupBy(claims, ({ rail }) => providerOf(rail))
  const names = claims.map(({ rail, receipt }) => `receipt:${providerOf(rail)}:${receiptKey(receipt)}`).sort()
  const [, ...taken] = await Promise.all([
    tx.query(waitForClaims, [names]),
    ...[...byProvider].map(([provider, own]) =>
      tx.query<{ subject: Uuid }>(others, [
        railsOf(provider),
        own.map(({ receipt }) => receipt),
        own.map(({ subjectId }) => subjectId),
      ]),
    ),
  ])
  return new Set(taken.flat().map(({ subject }) => subject))
}
