import { randomBytes } from 'node:crypto'
import { and, desc, eq, gte, sql } from 'drizzle-orm'
import { sha256 } from '../../../auth/secrets.ts'
import type { Config } from '../../../config.ts'
import { type Db, inTx, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertRow } from '../../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { balanceQueries } from '../../../db/tables/rails.ts'
import { advanceClearing, readClearing } from '../../../ledger/clearing.ts'
import { newId } from '../../../lib/ids.ts'
import { type Provider, providers } from '../../../lib/rail-names.ts'
import { nairobiMidnight } from '../../../rails/fields.ts'
import type { OrganisationAccount } from '../../../rails/rail.ts'
import type { Parts } from '../../parts.ts'
import { balanceSource, findComparison } from './differences.ts'

const requestTimes = prepare('balance_queries.request_times', { provider: 'text', since: 'timestamptz' }, (orm, param) =>
  orm
    .selectDistinct({ at: balanceQueries.requestedAt })
    .from(balanceQueries)
    .where(and(eq(balanceQueries.provider, param.provider), gte(balanceQueries.requestedAt, param.since)))
    .orderBy(desc(balanceQueries.requestedAt)),
)

/** Time of the daily balance query in ms after midnight: 03:00 in Nairobi, when few payments are in progress. */
const queryTimeOfDayMs = 3 * 3_600_000
/** A query without an answer is repeated after this time, and hourly once several have none. */
const answerWithinMs = 10 * 60_000
const silentRepeatMs = 60 * 60_000
const maxUnanswered = 3

const recordQueries = async (tx: Tx, config: Config, provider: Provider, numbers: readonly string[]) => {
  const { cameInMinor, wentOutMinor } = await readClearing(tx, provider)
  const round = { roundId: newId(), provider, cameInMinor, wentOutMinor, requestedAt: tx.at }
  return numbers.map((number) => {
    const id = newId()
    const secret = randomBytes(24).toString('hex')
    const url = `${config.operatorUrl}/callbacks/balances/${id}/${secret}`
    insertRow(tx, balanceQueries, { id, account: number, secretHash: sha256(secret), ...round })
    return { number, callbacks: { result: `${url}/result`, timeout: `${url}/timeout` } }
  })
}

const requestBalancesOf = async ({ clock, config, db }: Parts, provider: Provider, account: OrganisationAccount) => {
  const now = clock.now()
  const due = new Date(nairobiMidnight(new Date(now.getTime() - queryTimeOfDayMs)).getTime() + queryTimeOfDayMs)
  const last = await findComparison(db, provider, balanceSource)
  if (last && last.createdAt >= due) return
  const requests = await db.run(requestTimes, { provider, since: due })
  const isSilent = requests.length >= maxUnanswered
  const waitMs = isSilent ? silentRepeatMs : answerWithinMs
  if (!requests[0] || now.getTime() - requests[0].at.getTime() >= waitMs) {
    await advanceClearing(db, provider)
    const queries = await inTx(db, (tx) => recordQueries(tx, config, provider, account.numbers))
    const sent = await Promise.all(queries.map(({ number, callbacks }) => account.requestBalances(number, callbacks)))
    for (const { kind, ...answer } of sent)
      if (kind !== 'accepted') throw new Error(`${provider} did not accept the balance query: ${JSON.stringify(answer)}`)
  }
  if (isSilent) throw new Error(`${provider} has not answered several balance queries`)
}

/** A provider that fails does not delay the others. */
export const requestBalances = async (deps: Parts): Promise<void> => {
  const failures: unknown[] = []
  for (const provider of providers) {
    const account = deps.rails.accounts[provider]
    if (account) await requestBalancesOf(deps, provider, account).catch((error: unknown) => failures.push(error))
  }
  for (const failure of failures) throw failure
}

const removal = prepareRemoval('balance_queries.prune', balanceQueries.id, balanceQueries.requestedAt, {
  condition: sql`${balanceQueries.answeredAt} is null`,
})
/** Deletes queries that were never answered. An answer that arrives later is rejected. */
export const pruneBalanceQueries = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })
