import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import type { Check, CheckFacts, Progress } from '../../db/check.ts'
import { type Database, type Db, inTx } from '../../db/client.ts'
import { connect } from '../../db/connect.ts'
import { upsertRow } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { verifyPoints } from '../../db/tables/rails.ts'
import { readLastSealBefore, sealPurpose } from '../../events/seal.ts'
import { ledgerChecks } from '../../ledger/checks.ts'
import { type Clock, daysAfter, secondsAfter } from '../../lib/clock.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Parts } from '../../modules/parts.ts'
import { accessChecks } from './access.ts'
import { auditChainChecks, headCheck } from './audit-chain.ts'
import { counterChecks } from './counters.ts'
import { eventChecks } from './events.ts'
import { evidenceChecks } from './evidence.ts'
import { logEntryChecks } from './log-entries.ts'
import { receiptChecks } from './receipts.ts'
import { stateChecks } from './states.ts'

export const factsOf = (parts: Pick<Parts, 'config' | 'clock' | 'derivations' | 'orderNames' | 'vault'>): CheckFacts => {
  const { config, clock, derivations, orderNames, vault } = parts
  return {
    ...orderNames,
    now: clock.now(),
    since: null,
    eventRetentionDays: config.EVENT_RETENTION_DAYS,
    paymentWaitMinutes: config.PAYMENT_WAIT_MINUTES,
    encryptionKeyIds: [...(config.ENCRYPTION_KEYS?.all.keys() ?? [])],
    tokenSecretIds: [...(config.TOKEN_SECRETS?.all.keys() ?? [])],
    open: (sealed, context) => {
      try {
        return vault.openBytes(sealed, context)
      } catch {
        return undefined
      }
    },
    fingerprints: (text) => derivations.macs('fingerprint', text).map(({ mac }) => mac),
    sealMac: (keyId, digest) => derivations.macUnder(keyId, sealPurpose, digest),
  }
}

/** Checks that read pages come first, so that the queries of other checks run in the meantime. */
const orderOf = ({ invariant, isQuery }: Check): number => (isQuery ? 100 : 0) + Number(invariant.slice(1))

export const checks: readonly Check[] = [
  ...ledgerChecks,
  ...stateChecks,
  ...counterChecks,
  ...accessChecks,
  ...eventChecks,
  ...logEntryChecks,
  ...receiptChecks,
  ...evidenceChecks,
  ...auditChainChecks,
].sort((a, b) => orderOf(a) - orderOf(b))

type Result = Pick<Check, 'invariant' | 'promise'> & { breaches: string[] }

/** Identifies the list of checks: with other checks or another order, a stored position would skip some. */
const namesDigest = createHash('sha256')
  .update(JSON.stringify(checks.map(({ promise }) => promise)))
  .digest('hex')

/** The position from which to resume: after promise `kept`, and after row `row` of the next promise. */
type ResumePoint = { kept: string; row?: Uuid | undefined }

/**
 * Checks the data against every promise while the service runs. Queries run one after another while pages are read, on a second
 * connection if the pool has one. A resumed check repeats queries whose results were not yet reported.
 */
export async function* verify(
  db: Db,
  facts: CheckFacts,
  { kept, row: lastChecked }: ResumePoint = { kept: '' },
  onProgress?: Progress['onProgress'],
): AsyncGenerator<Result> {
  const sealed = facts.since === null ? undefined : await readLastSealBefore(db, facts.since)
  const period = { ...facts, sealedThrough: sealed?.transaction ?? '0', ...(onProgress && { onProgress }) }
  const startIndex = checks.findIndex(({ promise }) => promise === kept) + 1
  // The part that was already checked may have been checked without a head.
  const remaining = [...checks.slice(startIndex), ...(facts.head && startIndex > checks.indexOf(headCheck) ? [headCheck] : [])]
  let isStopped = false
  let previous: Promise<string[]> = Promise.resolve([])
  const queries = new Map<Check, Promise<string[]>>()
  for (const check of remaining.filter(({ isQuery }) => isQuery)) {
    previous = previous.then((none) => (isStopped ? none : check.find(db, period)))
    // The failure is thrown when this check's turn comes.
    previous.catch(() => undefined)
    queries.set(check, previous)
  }
  try {
    for (const [index, check] of remaining.entries()) {
      const { invariant, promise } = check
      const from = index === 0 && startIndex > 0 ? { ...period, lastChecked } : period
      yield { invariant, promise, breaches: await (queries.get(check) ?? check.find(db, from)) }
    }
  } finally {
    isStopped = true
  }
}

/** All data is checked once a week. In between, only rows created or changed since the last check. */
const fullCheckDays = 7
/** How far a check reaches back beyond the last one, for transactions that were open then and for slow transitions. */
const overlapHours = 24
/** Long, because a check may read every row. It takes no locks that payments wait for. */
const statementTimeoutMs = 600_000

export type DailyOptions = {
  /** The address of Postgres itself, because a pooler would apply its own timeouts and plans. */
  directUrl: string
  clock: Clock
  logger: Logger
  facts: () => CheckFacts
  onBroken: (broken: { invariant: string; promise: string }) => void
}

const findPoint = selectRow('verify.point', verifyPoints, ['name'])
/** The result that is published as a metric. */
const publishedPoint = 'last'

/** Start of the unchecked period. Null if everything must be checked. `now` determines whether a week has passed. */
export const unverifiedSince = async (db: Db, now: Date): Promise<Date | null> => {
  const [whole, recent] = await Promise.all([findPoint(db, { name: 'whole' }), findPoint(db, { name: 'recent' })])
  if (!whole || whole.at < daysAfter(now, -fullCheckDays)) return null
  const last = recent && recent.at > whole.at ? recent.at : whole.at
  return secondsAfter(last, -overlapHours * 3600)
}

type Summary = { kept: number; broken: number; seconds: number }

/**
 * Advances the start of the next period only if no promise was broken, so that a breach is reported again. Broken promises stay
 * published until a check of at least the same period finds none: a narrower one may not read the row.
 */
export const saveCheckPoint = (
  db: Database,
  { now, since }: Pick<CheckFacts, 'now' | 'since'>,
  summary: Summary,
): Promise<void> =>
  inTx(db, async (tx) => {
    const last = await findPoint(tx, { name: publishedPoint })
    const period = since?.toISOString() ?? ''
    const open = Number(last?.totals.broken ?? 0)
    const isNarrower = open > 0 && period > (last?.totals.since ?? '')
    const found = isNarrower ? { broken: Math.max(open, summary.broken), since: last?.totals.since ?? '' } : { since: period }
    const save = (name: string, values: Record<string, string | number>) => {
      const totals = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]))
      const point = { name, through: now.toISOString(), totals, at: now }
      return upsertRow(tx, verifyPoints, point, { key: [verifyPoints.name], replaced: ['through', 'totals', 'at'] })
    }
    if (since === null) await tx.query(`delete from verify_points where name = 'unfinished'`)
    await save(publishedPoint, { ...summary, ...found })
    if (summary.broken === 0) await save(since === null ? 'whole' : 'recent', summary)
  })

type Unfinished = ResumePoint & { now: Date }

/** An interrupted full check, if it had the same promises. It continues with its original start time. */
export const findUnfinished = async (db: Db): Promise<Unfinished | undefined> => {
  const point = await findPoint(db, { name: 'unfinished' })
  if (point?.totals.checks !== namesDigest) return undefined
  return { kept: point.through, row: point.totals.row as Uuid | undefined, now: point.at }
}

/** Saves the position only while no breach was found, so that breaches are found again. */
const saveResumePoint = (db: Database, { kept, row, now }: Unfinished): Promise<void> =>
  inTx(db, async (tx) => {
    const totals = { checks: namesDigest, ...(row && { row }) }
    const point = { name: 'unfinished', through: kept, totals, at: now }
    await upsertRow(tx, verifyPoints, point, { key: [verifyPoints.name], replaced: ['through', 'totals', 'at'] })
  })

type Reporting = { onResult: (result: Result) => void; from?: ResumePoint | undefined; onRows?: (rows: number) => void }

/** With `onRows`, saves the progress of a full check, so that a later run can resume it. */
export const verifyAll = async (
  db: Database,
  facts: CheckFacts,
  { onResult, from: resumed, onRows }: Reporting,
): Promise<Summary> => {
  const startedAt = performance.now()
  const summary = { kept: 0, broken: 0, seconds: 0 }
  let { kept } = resumed ?? { kept: '' }
  const isResumable = () => onRows !== undefined && facts.since === null && summary.broken === 0
  const onProgress = async (row: Uuid, rows: number) => {
    onRows?.(rows)
    if (isResumable()) await saveResumePoint(db, { kept, row, now: facts.now })
  }
  for await (const result of verify(db, facts, resumed, onProgress)) {
    onResult(result)
    summary[result.breaches.length === 0 ? 'kept' : 'broken'] += 1
    kept = result.promise
    if (isResumable()) await saveResumePoint(db, { kept, now: facts.now })
  }
  summary.seconds = Math.round((performance.now() - startedAt) / 100) / 10
  await saveCheckPoint(db, facts, summary)
  return summary
}

/** Runs the daily check on a separate connection. */
export const verifyDaily = async ({ directUrl, clock, logger, facts, onBroken }: DailyOptions): Promise<void> => {
  const db = connect({ url: directUrl, poolSize: 1, clock, logger, statementTimeoutMs, reads: 'whole_tables' })
  try {
    const [session] = await db.query<{ setting: string }>(`select setting from pg_settings where name = 'statement_timeout'`)
    if (session?.setting !== String(statementTimeoutMs))
      throw new Error('the data cannot be checked through a pooler: set DATABASE_DIRECT_URL to Postgres itself')
    const at = { ...facts(), since: await unverifiedSince(db, clock.now()) }
    const onResult = ({ invariant, promise, breaches }: Result) => {
      if (breaches.length === 0) return
      logger.error({ invariant, promise, breaches: breaches.slice(0, 5) }, 'a promise is broken')
      onBroken({ invariant, promise })
    }
    const summary = await verifyAll(db, at, { onResult })
    logger.info({ ...summary, since: at.since }, 'data checked against every promise')
  } finally {
    await db.close()
  }
}
