import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { connectionLost, type Database, type Db, emit, onSignal, signal } from './client.ts'
import { describeError } from './errors.ts'
import type { RecoveryPoint, RecoveryPointFile, ServerPosition } from './recovery-point.ts'
import { createSendLogRegistry, type SendLogRegistry } from './send-log-registry.ts'
import { statement } from './statement.ts'

/** Identifies the current server. A promoted standby has another timeline, and a restored server another start time. */
export const serverSql = `substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '/' || extract(epoch from pg_postmaster_start_time())::text`

const readServer = statement('loss_detection.look')`
  select clock_timestamp() as now, exists(select from rail_pauses where cause = 'lost_writes') as lost,
     (select max(noticed_at) from write_losses where ended_at is not null) as reconciled,
     array(select rail from rail_pauses where cause = 'unknown_sender') as held, case when pg_is_in_recovery() then null else ${serverSql} end as server,
     (select system_identifier::text from pg_control_system()) as system,
     case when not pg_is_in_recovery() then pg_current_wal_insert_lsn() - '0/0' end as position`
const missing = statement('loss_detection.missing')`
  select 'audit row ' || x.id as what from unnest($1::uuid[], $2::uuid[]) as x(account, id)
     where not exists (select from audit_log l where l.account_id = x.account and l.id = x.id)
   union all select 'order ' || id from unnest($3::uuid[]) as x(id) where not exists (select from rail_attempts a where a.id = x.id
     and (exists (select from payments p where p.id = a.subject_id) or exists (select from topups t where t.id = a.subject_id)))
   union all select 'seal ' || sequence from unnest($4::bigint[], $5::text[]) as x(sequence, hash)
     where not exists (select from audit_seals s where s.sequence = x.sequence and s.hash = decode(x.hash, 'hex'))
   limit 100`

/** Sent once, when this process detects lost writes. */
export const lossDetected = signal<null>('loss')

/** looking ⇄ trusted; both → lost; lost → looking when an operator has reconciled and resumed the rails. */
type LossState = 'looking' | 'trusted' | 'lost'

export type LossDetection = ReturnType<typeof createLossDetection>

const checkEveryMs = 1_000
const warnOfClockMs = 1_000
/** Grace period after the server changes, because another process may remember newer writes and detect a loss. */
const graceMs = 2_000

const findMissing = async (db: Db, recoveryPoint: RecoveryPoint): Promise<string[]> => {
  const [audits, seals] = [recoveryPoint.newest('audit'), recoveryPoint.newest('seal')].map((all) =>
    all.map((one) => one.split(':')),
  )
  const rows = await db.query<{ what: string }>(missing, [
    audits?.map(([account]) => account),
    audits?.map(([, id]) => id),
    recoveryPoint.newest('sent'),
    seals?.map(([sequence]) => sequence),
    seals?.map(([, hash]) => hash),
  ])
  return rows.map(({ what }) => what)
}

type ServerState = {
  now: Date
  lost: boolean
  reconciled: Date | null
  held: string[]
  server: string | null
  system: string
  position: string | null
}

type LossDetectionDeps = { clock: Clock; db: Database; logger: Logger; sendLogs?: SendLogRegistry }

/** Why the service paused rails. `unknown_sender`: an unregistered process has payments in progress. */
export type LossCause = 'lost_writes' | 'unknown_sender'
/** `detectedAt`: null if this process only read that another one had declared the loss. */
type Declare = (cause: LossCause, detectedAt: Date | null) => Promise<void>

/**
 * Detects that the database lost committed writes, because a lagging standby was promoted or an old copy was started. Payments
 * are sent only once the server has this process's newest commits, orders and seal, and its WAL is not behind.
 */
export const createLossDetection = (
  { clock, db, logger, sendLogs = createSendLogRegistry({ db, logger }) }: LossDetectionDeps,
  file?: RecoveryPointFile,
) => {
  const { recoveryPoint } = db
  if (file) recoveryPoint.loadFrom(file)
  /** Whether no other process can be sending payments from the original of this database. */
  let sendersKnown = recoveryPoint.serverPosition() !== undefined
  let held: readonly string[] = []
  let state: LossState = 'looking'
  let trusted: string | undefined
  let changedAtMs: number | undefined
  let doubts = 0
  let clockDiffersByMs = 0
  let declare: Declare | undefined
  let isDeclared = false
  let detectedAt: Date | null = null
  let checking: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const lose = (facts: Record<string, unknown>, detected: Date | null = clock.now()) => {
    if (state === 'lost') return
    state = 'lost'
    detectedAt = detected
    trusted = undefined
    logger.error(facts, 'the database lost committed writes: nothing is sent until an operator has reconciled')
    emit(db, lossDetected, null)
  }

  const trust = (position: ServerPosition) => {
    // A provider may have proven a loss during this check.
    if (state === 'lost') return
    const from = recoveryPoint.serverPosition()?.server
    if (from !== undefined && from !== position.server)
      logger.info({ from, to: position.server }, 'all remembered writes are on this server')
    state = 'trusted'
    trusted = position.server
    changedAtMs = undefined
    if (from !== position.server) recoveryPoint.trust(position)
  }

  /** Before anything is sent, pauses (in the database) all rails on which an order might be paid twice. */
  const knowsSenders = async (): Promise<boolean> => {
    if (sendersKnown) return true
    const unknown = await sendLogs.findUnknown()
    if (unknown === undefined || (unknown.length > 0 && !declare)) return false
    if (unknown.length > 0) {
      logger.error(
        { sendLogs: unknown },
        'payments are in progress whose process is gone and whose send log is not on this disk: this may be a copy of the database, so rails that might pay twice are paused until an operator has reconciled and run after-restore',
      )
      await declare?.('unknown_sender', clock.now())
      await sendLogs.end(unknown)
    }
    sendersKnown = true
    return true
  }

  /** `doubtsBefore`: the number of doubts at the start of this check. */
  const verifyServer = async (position: ServerPosition, doubtsBefore: number) => {
    const last = recoveryPoint.serverPosition()
    if (last?.system === position.system && position.position < last.position)
      return lose({ position: position.position.toString(), was: last.position.toString() })
    const lost = await findMissing(db, recoveryPoint)
    if (lost.length > 0) return lose({ missing: lost.slice(0, 10), atLeast: lost.length })
    if (!(await knowsSenders())) return
    // The send log must be registered before the first attempt refers to it.
    await sendLogs.renew(true)
    if (doubtsBefore !== doubts) return
    if (last === undefined || last.server === position.server) return trust(position)
    const now = performance.now()
    changedAtMs ??= now
    if (now - changedAtMs >= graceMs) trust(position)
  }

  const checkOnce = async (): Promise<void> => {
    const doubtsBefore = doubts
    const adopt = clock.follow?.()
    const [row] = await db.query<ServerState>(readServer)
    if (!row?.server || row.position === null) return
    held = row.held
    const differed = clockDiffersByMs
    clockDiffersByMs = adopt?.(row.now) ?? 0
    if (Math.abs(clockDiffersByMs) > warnOfClockMs && Math.abs(clockDiffersByMs - differed) > warnOfClockMs)
      logger.warn({ differs_by_ms: clockDiffersByMs }, "this machine's clock differs from the database's, which the service uses")
    const position = { system: row.system, server: row.server, position: BigInt(row.position) }
    if (row.lost) lose({ declaredBy: 'another process, or before this one started' }, null)
    if (state === 'lost' && (row.lost || !isDeclared)) {
      if (!isDeclared) await declare?.('lost_writes', detectedAt)
      isDeclared = declare !== undefined
      return
    }
    if (state === 'lost') {
      // An operator has reconciled and resumed the rails.
      recoveryPoint.forget()
      isDeclared = false
      state = 'looking'
    }
    if (state !== 'trusted' || trusted !== position.server) {
      if (trusted !== position.server) trusted = undefined
      state = 'looking'
      if (row.reconciled) recoveryPoint.forgetUntil(row.reconciled.getTime())
      await verifyServer(position, doubtsBefore)
    }
    if (trusted === undefined) return
    recoveryPoint.advance(position.position)
    await sendLogs.renew()
  }

  const check = (): Promise<void> => {
    checking ??= checkOnce().finally(() => {
      checking = undefined
    })
    return checking
  }

  const doubt = () => {
    doubts += 1
    if (state === 'trusted') state = 'looking'
  }
  onSignal(db, connectionLost, doubt)

  return {
    /** The server on which payments may be sent. Undefined while sending is blocked. */
    trusted: (): string | undefined => (state === 'trusted' ? trusted : undefined),
    state: (): LossState => state,
    /** Difference between this machine's clock and the database's at the last check. The service uses the database's clock. */
    clockDiffersByMs: () => clockDiffersByMs,
    /** Blocks sending until the next successful `check`. */
    doubt,
    check,
    /** Reports external proof: a provider knows an attempt that the database does not have. */
    reportLoss: (what: string): void => lose({ what }),
    /** Rails that are paused because of an unregistered process. */
    held: (): readonly string[] => held,
    /** Whether writes may be lost. True until an operator has reconciled and resumed the rails. */
    mayHaveLost: (): boolean => state === 'lost' || held.length > 0,
    /** Sets the function that pauses rails for all processes. Every process calls it, and retries until it succeeds. */
    declareWith: (given: Declare): void => {
      declare = given
    },
    start: (): void => {
      const tick = () => {
        // A failure needs no action, because nothing is sent without the database.
        check().catch((error: unknown) => logger.debug(describeError(error), 'the database server could not be checked'))
      }
      tick()
      timer = setInterval(tick, checkEveryMs).unref()
    },
    stop: async (): Promise<void> => {
      clearInterval(timer)
      await checking?.catch(() => undefined)
      await sendLogs
        .stop()
        .catch((error: unknown) => logger.warn(describeError(error), 'the end of the send log was not recorded'))
    },
  }
}
