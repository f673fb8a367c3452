import { asc, eq } from 'drizzle-orm'
import { equalBytes, sha256 } from '../../auth/secrets.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { balanceQuestions } from '../../db/tables/rails.ts'
import { readClearing } from '../../ledger/reports.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { providerRails } from '../../lib/rail-names.ts'
import { nairobiMidnight } from '../../rails/nairobi-time.ts'
import type { CallbackUrls, DeliveryKind } from '../../rails/rail.ts'
import type { Deps } from '../deps.ts'
import { timerOperator } from '../operators.ts'
import { newCallbackSecret } from '../payments/lifecycle/attempts/callback-secret.ts'
import { compareBalance } from './balance-rules.ts'
import { balanceSource, findComparison, listAsked, readUnderWay } from './queries.ts'
import { recordComparison } from './record.ts'

const provider = 'MPESA'
/** What is put in suspense from a statement has the provider's name for a rail. */
const booksOf = [provider, ...providerRails[provider]]

/** Asked once a day at this time in Nairobi, when little is under way. */
const hourMs = 3 * 3_600_000
/** An answer comes within seconds, or not at all. */
const answerWithinMs = 600_000
const silencesBorne = 3

type Question = { id: Uuid; number: string; callbacks: CallbackUrls }

const recordQuestions = async (tx: Tx, deps: Pick<Deps, 'config'>, numbers: readonly string[]): Promise<Question[]> => {
  const { cameInMinor, wentOutMinor } = await readClearing(tx, booksOf)
  const roundId = newId()
  const questions: Question[] = []
  for (const number of numbers) {
    const id = newId()
    const secret = newCallbackSecret()
    const url = `${deps.config.operatorUrl}/callbacks/balances/${id}/${secret}`
    questions.push({ id, number, callbacks: { result: `${url}/result`, timeout: `${url}/timeout` } })
    await tx.orm
      .insert(balanceQuestions)
      .values({ id, roundId, provider, account: number, secretHash: sha256(secret), cameInMinor, wentOutMinor, askedAt: tx.at })
  }
  return questions
}

/** Asks once a day what each of the organisation's accounts holds, and again when no answer came. The answers come as deliveries. */
export const askBalances = async (deps: Pick<Deps, 'clock' | 'config' | 'db' | 'rails'>): Promise<void> => {
  const { account } = deps.rails
  if (!account) return
  const now = deps.clock.now()
  const due = new Date(nairobiMidnight(new Date(now.getTime() - hourMs)).getTime() + hourMs)
  const last = await findComparison(deps.db, provider, balanceSource)
  if (last && last.createdAt >= due) return
  const asked = await listAsked(deps.db, provider, due)
  if (asked[0] && now.getTime() - asked[0].getTime() < answerWithinMs) return
  const questions = await inTx(deps.db, (tx) => recordQuestions(tx, deps, account.numbers))
  const sent = await Promise.all(questions.map(({ number, callbacks }) => account.askBalances(number, callbacks)))
  if (sent.some(({ kind }) => kind !== 'accepted'))
    throw new Error('the provider did not take the question what its accounts hold')
  if (asked.length >= silencesBorne)
    throw new Error('the provider was asked several times what its accounts hold, and did not say')
}

type Answer = { id: Uuid; secret: string; kind: DeliveryKind; body: string; allowedSource: boolean }

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Compares when the last account of a round has answered. */
const compareRound = async (
  tx: Tx,
  deps: Pick<Deps, 'alerts' | 'config'>,
  round: readonly (typeof balanceQuestions.$inferSelect)[],
): Promise<void> => {
  const [first] = round
  if (!first || round.some(({ answeredAt }) => answeredAt === null)) return
  const last = await findComparison(tx, provider, balanceSource)
  // Of several rounds that are answered late one is enough.
  if (last && last.createdAt >= first.askedAt) return
  const { own_low_minor: low, own_high_minor: high } = last?.totals ?? {}
  const known = low === undefined || high === undefined ? null : { low: BigInt(low), high: BigInt(high) }
  const answered = await readClearing(tx, booksOf)
  const underWay = await readUnderWay(tx, providerRails[provider])
  const lines = round.reduce((sum, { subAccounts }) => sum + (subAccounts ?? 0), 0)
  const statedMinor = round.reduce((sum, question) => sum + (question.statedMinor ?? 0n), 0n)
  const look = { statedMinor, asked: first, answered, ...underWay }
  const { own, result } = compareBalance(known, look, lines, deps.config.CURRENCY)
  await recordComparison(tx, deps, timerOperator, {
    provider,
    source: balanceSource,
    content: `balance ${first.roundId}`,
    period: { start: last?.periodEnd ?? first.askedAt, end: tx.at },
    lines,
    result,
    totals: { own_low_minor: own.low.toString(), own_high_minor: own.high.toString() },
  })
}

/** What a provider says an account holds. A stranger's word, or one that cannot be read, changes nothing: it is asked again. */
export const receiveBalance = async (
  deps: Pick<Deps, 'alerts' | 'config' | 'db' | 'logger' | 'rails'>,
  { id, secret, kind, body, allowedSource }: Answer,
): Promise<void> => {
  const [asked] = await deps.db.orm.select().from(balanceQuestions).where(eq(balanceQuestions.id, id))
  const isAuthentic = equalBytes(sha256(secret), asked?.secretHash ?? sha256(''))
  if (!asked || !isAuthentic || !allowedSource || kind !== 'result') {
    deps.logger.warn({ question: asked?.id, kind }, 'an answer about a balance was turned away')
    return
  }
  const balances = deps.rails.account?.readBalances(parsed(body))
  if (!balances) {
    deps.logger.warn({ question: id }, 'an answer about a balance could not be read')
    return
  }
  const ours = balances.filter(({ currency }) => currency === deps.config.CURRENCY)
  const statedMinor = ours.reduce((sum, { availableMinor }) => sum + availableMinor, 0n)
  await inTx(deps.db, async (tx) => {
    const where = eq(balanceQuestions.roundId, asked.roundId)
    const round = await tx.orm.select().from(balanceQuestions).where(where).orderBy(asc(balanceQuestions.id)).for('update')
    if (round.find((question) => question.id === id)?.answeredAt !== null) return
    const answer = { statedMinor, subAccounts: ours.length, answeredAt: tx.at }
    await tx.orm.update(balanceQuestions).set(answer).where(eq(balanceQuestions.id, id))
    await compareRound(
      tx,
      deps,
      round.map((question) => (question.id === id ? { ...question, ...answer } : question)),
    )
  })
}
