import { randomBytes } from 'node:crypto'
import { and, asc, desc, eq, gte } from 'drizzle-orm'
import { equalBytes, sha256 } from '../../../auth/secrets.ts'
import type { Config } from '../../../config.ts'
import { inTx, statement, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertRow, updateRow } from '../../../db/prepare-write.ts'
import { selectRow } from '../../../db/select-rows.ts'
import { balanceQueries } from '../../../db/tables/rails.ts'
import { paidPaymentsSql, underWayPaymentsSql } from '../../../db/transitions.ts'
import { advanceClearing, readClearing } from '../../../ledger/clearing.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/lists.ts'
import { type Minor, sumOf } from '../../../lib/money.ts'
import { type Provider, providers, railsOf } from '../../../lib/rail-names.ts'
import { nairobiMidnight, parseJson } from '../../../rails/fields.ts'
import type { DeliveryKind } from '../../../rails/rail.ts'
import { timerOperator } from '../../operators.ts'
import type { Parts } from '../../parts.ts'
import { type BalanceReading, baselineIn, chargesSince, compareBalance, expectedMoney } from './compare-balance.ts'
import { balanceSource, findComparison, recordComparison } from './differences.ts'
import { lockProvider, type MovementRecord, markCounted, readUncounted } from './movements-service.ts'

const findQuery = selectRow('balance_queries.by_id', balanceQueries, ['id'])
const requestTimes = prepare('balance_queries.request_times', { provider: 'text', since: 'timestamptz' }, (orm, param) =>
  orm
    .selectDistinct({ at: balanceQueries.requestedAt })
    .from(balanceQueries)
    .where(and(eq(balanceQueries.provider, param.provider), gte(balanceQueries.requestedAt, param.since)))
    .orderBy(desc(balanceQueries.requestedAt)),
)
const lockRound = prepare('balance_queries.lock_round', { roundId: 'uuid' }, (orm, param) =>
  orm
    .select()
    .from(balanceQueries)
    .where(eq(balanceQueries.roundId, param.roundId))
    .orderBy(asc(balanceQueries.id))
    .for('update'),
)

const transit = statement('reconciliation.under_way')`
  select ((select coalesce(sum(amount_minor), 0) from topups where method = any($1::text[]) and status = 'pending' and deposit_code is null)
     + (select coalesce(sum(amount_minor), 0) from deposits where rail = any($1::text[]) and state = 'received'))::bigint as "mayComeInMinor",
     (select coalesce(sum(amount_minor), 0)::bigint from payments where rail = any($1::text[]) and status in ${underWayPaymentsSql}) as "mayGoOutMinor"`

/** Time of the daily balance query in ms after midnight: 03:00 in Nairobi, when few payments are in progress. */
const queryTimeOfDayMs = 3 * 3_600_000
const answerWithinMs = 600_000
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

export const requestBalances = async ({ clock, config, db, rails }: Parts): Promise<void> => {
  for (const provider of providers) {
    const account = rails.accounts[provider]
    const now = clock.now()
    const due = new Date(nairobiMidnight(new Date(now.getTime() - queryTimeOfDayMs)).getTime() + queryTimeOfDayMs)
    const last = account && (await findComparison(db, provider, balanceSource))
    if (!account || (last && last.createdAt >= due)) continue
    const requests = await db.run(requestTimes, { provider, since: due })
    if (requests[0] && now.getTime() - requests[0].at.getTime() < answerWithinMs) continue
    await advanceClearing(db, provider)
    const queries = await inTx(db, (tx) => recordQueries(tx, config, provider, account.numbers))
    const sent = await Promise.all(queries.map(({ number, callbacks }) => account.requestBalances(number, callbacks)))
    if (sent.some(({ kind }) => kind !== 'accepted')) throw new Error('the provider did not accept the balance query')
    if (requests.length >= maxUnanswered) throw new Error('the provider has not answered several balance queries')
  }
}

type BalanceDelivery = { id: Uuid; secret: string; kind: DeliveryKind; body: string; allowedSource: boolean }

const feesOf = statement('reconciliation.fees')`
  select coalesce(sum(fee_minor), 0)::bigint as "feesMinor" from payments
   where rail = any($1::text[]) and status in ${paidPaymentsSql} and completed_at > $2 and completed_at <= $3`

const compareRound = async (tx: Tx, config: Config, round: readonly (typeof balanceQueries.$inferSelect)[]): Promise<void> => {
  const [oldest] = round
  if (!oldest || round.some(({ answeredAt }) => answeredAt === null)) return
  const { provider } = oldest
  await lockProvider(tx, provider)
  const last = await findComparison(tx, provider, balanceSource)
  // Results of several rounds may arrive late. One comparison is enough.
  if (last && last.createdAt >= oldest.requestedAt) return
  // A process of an earlier release received some of the answers with the charges included. The query is sent again.
  if (round.some(({ chargesAccountMinor }) => chargesAccountMinor === null)) return
  const baseline = baselineIn(last?.totals ?? {})
  // In this order, a payment that ends between the two reads still counts as in transit.
  const inTransit = only(await tx.query<Pick<BalanceReading, 'mayComeInMinor' | 'mayGoOutMinor'>>(transit, [railsOf(provider)]))
  const answered = await readClearing(tx, provider)
  const lines = round.reduce((sum, { subAccounts }) => sum + (subAccounts ?? 0), 0)
  const statedMinor = round.reduce((sum, { statedMinor: stated }) => sum + (stated ?? 0n), 0n)
  const chargesMinor = round.reduce((sum, { chargesAccountMinor }) => sum + (chargesAccountMinor ?? 0n), 0n)
  const reading = { statedMinor, chargesMinor, requested: oldest, answered, ...inTransit }
  const compareWith = (movements: readonly MovementRecord[]) => {
    const expected = baseline && expectedMoney(baseline, reading, sumOf(movements))
    return { movements, ...compareBalance(expected, reading, lines, config.CURRENCY) }
  }
  const uncounted = await readUncounted(tx, provider, tx.at)
  const withAll = compareWith(uncounted)
  // Money that moved after the query was sent may appear only in the next answer.
  const withEarlier = compareWith(uncounted.filter(({ movedAt }) => movedAt < oldest.requestedAt))
  const { money, result, movements } = withAll.result.matched === 0 && withEarlier.result.matched > 0 ? withEarlier : withAll
  const period = { start: last?.periodEnd ?? oldest.requestedAt, end: tx.at }
  const charges = chargesSince(baseline, reading, movements)
  const run = await recordComparison(tx, timerOperator, {
    provider,
    source: balanceSource,
    content: `balance ${oldest.roundId}`,
    period,
    lines,
    result,
    totals: {
      money_low_minor: money.low.toString(),
      money_high_minor: money.high.toString(),
      charges_account_minor: chargesMinor.toString(),
    },
    ...(charges !== undefined && { chargesMinor: charges }),
    feesMinor: only(await tx.query<{ feesMinor: Minor }>(feesOf, [railsOf(provider), period.start, period.end])).feesMinor,
  })
  markCounted(tx, run.id, movements)
}

/** A result that is not authentic or cannot be read changes nothing. The query is then sent again. */
export const receiveBalance = async (deps: Parts, { id, secret, kind, body, allowedSource }: BalanceDelivery): Promise<void> => {
  const query = await findQuery(deps.db, { id })
  const isAuthentic = equalBytes(sha256(secret), query?.secretHash ?? sha256(''))
  if (!query || !isAuthentic || !allowedSource || kind !== 'result') {
    deps.logger.warn({ query: query?.id, kind }, 'balance result rejected')
    return
  }
  const balances = deps.rails.accounts[query.provider]?.readBalances(parseJson(body))
  if (!balances) {
    deps.logger.warn({ query: id }, 'balance result could not be read')
    return
  }
  const ours = balances.filter(({ currency }) => currency === deps.config.CURRENCY)
  const { charges = [], money = [] } = Object.groupBy(ours, ({ holdsCharges }) => (holdsCharges ? 'charges' : 'money'))
  const [statedMinor, chargesAccountMinor] = [money, charges].map((held) =>
    held.reduce((sum, { availableMinor }) => sum + availableMinor, 0n),
  )
  await inTx(deps.db, async (tx) => {
    const round = await tx.run(lockRound, { roundId: query.roundId })
    if (round.find((each) => each.id === id)?.answeredAt !== null) return
    const answered = updateRow(tx, balanceQueries, query, {
      ...{ statedMinor, chargesAccountMinor, subAccounts: ours.length },
      answeredAt: tx.at,
    })
    const known = round.map((each) => (each.id === id ? answered : each))
    await compareRound(tx, deps.config, known)
  })
}
