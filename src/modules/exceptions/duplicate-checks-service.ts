import type { Db, Tx } from '../../db/client.ts'
import { prepare } from '../../db/prepare.ts'
import { upsertRow } from '../../db/prepare-write.ts'
import { duplicateChecks } from '../../db/tables/rails.ts'
import { audit } from '../../events/audit.ts'
import { newId } from '../../lib/ids.ts'
import { type RailName, railNames } from '../../lib/rail-names.ts'
import { payouts } from '../../rails/definitions.ts'
import type { Rails } from '../../rails/rail.ts'
import { nameOfOperator, type Operator } from '../operators.ts'
import type { Parts } from '../parts.ts'

const all = prepare('duplicate_checks.all', {}, (orm) => orm.select().from(duplicateChecks))

export const rememberDuplicateCheck = async (
  tx: Tx,
  operator: Operator,
  { rail, account }: { rail: RailName; account: string },
): Promise<void> => {
  const row = { rail, account, passedBy: nameOfOperator(operator), passedAt: tx.at }
  const key = [duplicateChecks.rail, duplicateChecks.account]
  await upsertRow(tx, duplicateChecks, row, { key, replaced: ['passedBy', 'passedAt'] })
  audit(tx, operator, 'admin.pass_duplicate_check', { subject: newId(), after: { rail, account } })
}

export const untestedRepeats = async (db: Db, { payout }: Pick<Rails, 'payout'>): Promise<RailName[]> => {
  const passed = await db.run(all, {})
  return railNames.filter((rail) => {
    const account = payout[rail]?.repeats?.provenFor ?? null
    return account !== null && !passed.some((each) => each.rail === rail && each.account === account)
  })
}

export const warnOfUntestedRepeats = async ({ db, logger, rails }: Pick<Parts, 'db' | 'logger' | 'rails'>): Promise<void> => {
  for (const rail of await untestedRepeats(db, rails)) {
    const { repeat } = payouts[rail]
    if (repeat !== 'pays_again')
      logger.warn({ rail }, `${repeat.setting} has no effect yet: run npm run admin -- rails check --duplicate <your phone>`)
  }
}
