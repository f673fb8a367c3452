import { asc, eq } from 'drizzle-orm'
import { equalBytes, sha256 } from '../../../auth/secrets.ts'
import type { Config } from '../../../config.ts'
import { inTx, statement, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { updateRow } from '../../../db/prepare-write.ts'
import { selectRow } from '../../../db/select-rows.ts'
import { balanceQueries } from '../../../db/tables/rails.ts'
import { paidPaymentsSql, underWayPaymentsSql } from '../../../db/transitions.ts'
import { readClearing } from '../../../ledger/clearing.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/lists.ts'
import { type Minor, sumOf } from '../../../lib/money.ts'
import { railsOf } from '../../../lib/rail-names.ts'
import { parseJson } from '../../../rails/fields.ts'
import type { DeliveryKind } from '../../../rails/rail.ts'
import { timerOperator } from '../../operators.ts'
import type { Parts } from '../../parts.ts'
import { type BalanceReading, baselineIn, chargesSince, compareBalance, expectedMoney } from './compare-balance.ts'
import { balanceSource, findComparison, recordComparison } from './differences.ts'
import { lockProvider, type MovementRecord, markCounted, readUncounted } from './movements-service.ts'

const findQuery = selectRow('balance_queries.by_id', balanceQueries, ['id'])
const lockRound = prepare('balance_queries.lock_round', { roundId: 'uuid' }, (orm, param) =>
  orm
    .select()
    .from(balanceQueries)
    .where(eq(balanceQueries.roundId, param.roundId))
    .orderBy(asc(balanceQueries.id))
    .for('update'),
)

/** Amounts that may have moved at the provider but are not booked. */
const moneyInTransit = statement('reconciliation.in_transit')`
  select ((select coalesce(sum(amount_minor), 0) from topups
       where method = any($1::text[]) and status = 'pending' and deposit_code is null)
     + (select coalesce(sum(amount_minor), 0) from deposits where rail = any($1::text[]) and state = 'received'))::bigint as "mayComeInMinor",
   (select coalesce(sum(amount_minor), 0)::bigint from payments
       where rail = any($1::text[]) and status in ${underWayPaymentsSql}) as "mayGoOutMinor"`

const feesOf = statement('reconciliation.fees')`
  select coalesce(sum(fee_minor), 0)::bigint as "feesMinor" from payments
   where rail = any($1::text[]) and status in ${paidPaymentsSql} and completed_at > $2 and completed_at <= $3`

type Round = readonly (typeof balanceQueries.$inferSelect)[]

const total = (amounts: readonly (Minor | null)[]): Minor => amounts.reduce<Minor>((sum, amount) => sum + (amount ?? 0n), 0n)

const compareRound = async (tx: Tx, config: Config, round: Round): Promise<void> => {
  const [oldest] = round
  if (!oldest || round.some(({ answeredAt }) => answeredAt === null)) return
  const { provider } = oldest
  await lockProvider(tx, provider)
  const last = await findComparison(tx, provider, balanceSource)
  // Results of several rounds may arrive late. One comparison is enough.
  if (last && last.createdAt >= oldest.requestedAt) return
  // A process of an earlier release stored an answer without separating the charges. The next sweep queries again.
  if (round.some(({ chargesAccountMinor }) => chargesAccountMinor === null)) return
  const baseline = baselineIn(last?.totals ?? {})
  // A payment that ends between the two reads counts in both, which only widens the range. In the other order it would be missed.
  const inTransit = only(
    await tx.query<Pick<BalanceReading, 'mayComeInMinor' | 'mayGoOutMinor'>>(moneyInTransit, [railsOf(provider)]),
  )
  const answered = await readClearing(tx, provider)
  const accountsCount = round.reduce((sum, { subAccounts }) => sum + (subAccounts ?? 0), 0)
  const statedMinor = total(round.map((query) => query.statedMinor))
  const chargesMinor = total(round.map((query) => query.chargesAccountMinor))
  const reading = { statedMinor, chargesMinor, requested: oldest, answered, ...inTransit }
  const compareWith = (movements: readonly MovementRecord[]) => {
    const expected = baseline && expectedMoney(baseline, reading, sumOf(movements))
    return { movements, ...compareBalance(expected, reading, accountsCount, config.CURRENCY) }
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
    lines: accountsCount,
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

type BalanceDelivery = { id: Uuid; secret: string; kind: DeliveryKind; body: string; allowedSource: boolean }

/** A result that is not authentic or cannot be read changes nothing. The query is then sent again. */
export const receiveBalance = async (deps: Parts, { id, secret, kind, body, allowedSource }: BalanceDelivery): Promise<void> => {
  const query = await findQuery(deps.db, { id })
  const isAuthentic = equalBytes(sha256(secret), query?.secretHash ?? sha256(''))
  if (!query || !isAuthentic || !allowedSource || kind !== 'result') {
    deps.logger.warn({ query: query?.id, kind }, 'balance result rejected')
    return
  }
  const balances = deps.rails.accounts[query.provider]?.readBalances(parseJson(body))
  if (!balances || 'refused' in balances) {
    deps.logger.warn({ query: id }, 'balance result could not be read')
    if (balances) deps.alerts.raise('balance_refused', { subject: query.account, id, code: balances.refused })
    return
  }
  const ours = balances.filter(({ currency }) => currency === deps.config.CURRENCY)
  const { charges = [], money = [] } = Object.groupBy(ours, ({ holdsCharges }) => (holdsCharges ? 'charges' : 'money'))
  await inTx(deps.db, async (tx) => {
    const round = await tx.run(lockRound, { roundId: query.roundId })
    if (round.find((each) => each.id === id)?.answeredAt !== null) return
    const answered = updateRow(tx, balanceQueries, query, {
      statedMinor: total(money.map(({ availableMinor }) => availableMinor)),
      chargesAccountMinor: total(charges.map(({ availableMinor }) => availableMinor)),
      subAccounts: ours.length,
      answeredAt: tx.at,
    })
    const roundNow = round.map((each) => (each.id === id ? answered : each))
    await compareRound(tx, deps.config, roundNow)
  })
}
