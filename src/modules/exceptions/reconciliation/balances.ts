import { randomBytes } from 'node:crypto'
import { and, asc, desc, eq, gte } from 'drizzle-orm'
import { equalBytes, sha256 } from '../../../auth/secrets.ts'
import type { Config } from '../../../config.ts'
import { type Db, inTx, statement, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertRow, updateRow } from '../../../db/prepare-write.ts'
import { selectRow } from '../../../db/select-rows.ts'
import { balanceQueries } from '../../../db/tables/rails.ts'
import { paidPaymentsSql, underWayPaymentsSql } from '../../../db/transitions.ts'
import { advanceClearing, type Clearing, readClearing } from '../../../ledger/clearing.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import { only } from '../../../lib/lists.ts'
import { displayAmount, type Minor, sumOf } from '../../../lib/money.ts'
import { type Provider, providers, railsOf } from '../../../lib/rail-names.ts'
import { nairobiMidnight, parseJson } from '../../../rails/fields.ts'
import type { DeliveryKind } from '../../../rails/rail.ts'
import { timerOperator } from '../../operators.ts'
import type { Parts } from '../../parts.ts'
import { balanceSource, findComparison, recordComparison } from './differences.ts'
import { countIn, lockProvider, type MovementRecord, readUncounted } from './movements-service.ts'
import type { Match } from './rules.ts'

type Range = { low: Minor; high: Minor }
/** `chargesMinor`: the balance of the charges accounts. Null if an earlier release included it in the money. */
type Known = Range & { chargesMinor: Minor | null }

type Look = {
  statedMinor: Minor
  chargesMinor: Minor
  requested: Clearing
  answered: Clearing
  /** Money in transit when the answer arrives. It may have moved at the provider but is not booked. */
  mayComeInMinor: Minor
  mayGoOutMinor: Minor
}

/** The organisation's own money: the stated balance minus the money that our books account for. */
const ownMoney = ({ statedMinor, requested, answered, mayComeInMinor, mayGoOutMinor }: Look): Range => ({
  low: statedMinor - (answered.cameInMinor + mayComeInMinor - requested.wentOutMinor),
  high: statedMinor - (requested.cameInMinor - answered.wentOutMinor - mayGoOutMinor),
})

/** The range expected after the movements that a person has named. */
const expected = (known: Known, { chargesMinor }: Look, movedMinor: Minor): Range => ({
  low: known.low + movedMinor,
  // If the known amount includes the charges, they were between zero and their current balance.
  high: known.high + movedMinor - (known.chargesMinor === null && chargesMinor < 0n ? chargesMinor : 0n),
})

/** Charges since `known`: the fall of the charges accounts, before settlements, and charges taken from the money itself. */
const chargesOf = (known: Known | null, { chargesMinor }: Look, movements: readonly MovementRecord[]): Minor | undefined => {
  if (!known || known.chargesMinor === null) return undefined
  return chargesMinor - known.chargesMinor + sumOf(movements.filter(({ kind }) => kind !== 'bank_transfer'))
}

/** The first comparison establishes the organisation's money. A difference is reported once: the next one starts from it. */
const compareBalance = (known: Range | null, look: Look, accounts: number, currency: string): { own: Range; result: Match } => {
  const { statedMinor } = look
  const seen = ownMoney(look)
  const low = known && known.low > seen.low ? known.low : seen.low
  const high = known && known.high < seen.high ? known.high : seen.high
  if (low <= high)
    return { own: { low, high }, result: { matched: accounts, differences: [], bookedMinor: statedMinor, statedMinor } }
  const bookedMinor = known && seen.low > known.high ? statedMinor - (seen.low - known.high) : statedMinor + (low - high)
  const difference = {
    kind: 'balance_differs',
    receipt: null,
    subject: null,
    attemptId: null,
    bookedMinor,
    statedMinor,
    reason: `The provider's accounts hold ${displayAmount(statedMinor, currency)}, and ${displayAmount(bookedMinor, currency)} was expected from the last comparison and our books.`,
    action:
      "Look in the organisation's statement for transfers to or from the bank, a settlement of charges, and money that no payment here requested. Name a transfer or a settlement: comparisons know it from then on. For anything else import the statement: what the books lack becomes a difference of its own.",
  } as const
  return { own: seen, result: { matched: 0, differences: [difference], bookedMinor, statedMinor } }
}

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

const underWay = statement('reconciliation.under_way')`
  select ((select coalesce(sum(amount_minor), 0) from topups where method = any($1::text[]) and status = 'pending' and deposit_code is null)
     + (select coalesce(sum(amount_minor), 0) from deposits where rail = any($1::text[]) and state = 'received'))::bigint as "mayComeInMinor",
     (select coalesce(sum(amount_minor), 0)::bigint from payments where rail = any($1::text[]) and status in ${underWayPaymentsSql}) as "mayGoOutMinor"`

const readUnderWay = async (db: Db, rails: readonly string[]) =>
  only(await db.query<{ mayComeInMinor: Minor; mayGoOutMinor: Minor }>(underWay, [rails]))

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

const knownBy = (totals: Readonly<Record<string, string>>): Known | null => {
  const read = (low: string | undefined, high: string | undefined, chargesMinor: Minor | null): Known | null =>
    low === undefined || high === undefined ? null : { low: BigInt(low), high: BigInt(high), chargesMinor }
  const { money_low_minor: low, money_high_minor: high, charges_account_minor: charges = '0' } = totals
  return read(low, high, BigInt(charges)) ?? read(totals.own_low_minor, totals.own_high_minor, null)
}

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
  const known = knownBy(last?.totals ?? {})
  // In this order, a payment that ends between the two reads still counts as in transit.
  const underWay = await readUnderWay(tx, railsOf(provider))
  const answered = await readClearing(tx, provider)
  const lines = round.reduce((sum, { subAccounts }) => sum + (subAccounts ?? 0), 0)
  const statedMinor = round.reduce((sum, { statedMinor: stated }) => sum + (stated ?? 0n), 0n)
  const chargesMinor = round.reduce((sum, { chargesAccountMinor }) => sum + (chargesAccountMinor ?? 0n), 0n)
  const look = { statedMinor, chargesMinor, requested: oldest, answered, ...underWay }
  const compareWith = (movements: readonly MovementRecord[]) => ({
    movements,
    ...compareBalance(known && expected(known, look, sumOf(movements)), look, lines, config.CURRENCY),
  })
  const uncounted = await readUncounted(tx, provider, tx.at)
  const all = compareWith(uncounted)
  // Money that moved after the query was sent may appear only in the next answer.
  const asked = compareWith(uncounted.filter(({ movedAt }) => movedAt < oldest.requestedAt))
  const { own, result, movements } = all.result.matched === 0 && asked.result.matched > 0 ? asked : all
  const period = { start: last?.periodEnd ?? oldest.requestedAt, end: tx.at }
  const charges = chargesOf(known, look, movements)
  const run = await recordComparison(tx, timerOperator, {
    provider,
    source: balanceSource,
    content: `balance ${oldest.roundId}`,
    period,
    lines,
    result,
    totals: {
      money_low_minor: own.low.toString(),
      money_high_minor: own.high.toString(),
      charges_account_minor: chargesMinor.toString(),
    },
    ...(charges !== undefined && { chargesMinor: charges }),
    feesMinor: only(await tx.query<{ feesMinor: Minor }>(feesOf, [railsOf(provider), period.start, period.end])).feesMinor,
  })
  countIn(tx, run.id, movements)
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
    await compareRound(
      tx,
      deps.config,
      round.map((each) => (each.id === id ? answered : each)),
    )
  })
}
