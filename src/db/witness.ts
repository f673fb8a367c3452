import type { Logger } from 'pino'
import type { Database, Db } from './client.ts'
import { describeError } from './errors.ts'
import type { Remembered, RememberedLine } from './remembered.ts'
import { statement } from './statement.ts'

/**
 * Names the server that runs a statement, on its present course: a promoted standby has another timeline, and every server that was started
 * or restored has another start.
 */
export const serverSql = `substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '/' || extract(epoch from pg_postmaster_start_time())::text`

const look = statement(
  'witness.look',
  `select case when pg_is_in_recovery() then null else ${serverSql} end as server,
     exists(select from rail_pauses where cause = 'lost_writes') as lost`,
)
const missing = statement(
  'witness.missing',
  `select 'payment ' || id as what from unnest($1::uuid[]) as x(id) where not exists (select from payments p where p.id = x.id)
   union all select 'attempt ' || id from unnest($2::uuid[]) as x(id) where not exists (select from rail_attempts a where a.id = x.id)
   union all select 'key ' || left(scope, 8) from unnest($3::text[]) as x(scope)
     where not exists (select from idempotency_keys k where k.scope = decode(x.scope, 'hex'))
   union all select 'seal ' || sequence from unnest($4::bigint[], $5::text[]) as x(sequence, hash)
     where not exists (select from audit_seals s where s.sequence = x.sequence and s.hash = decode(x.hash, 'hex'))
   limit 100`,
)

export type WitnessState = 'looking' | 'trusted' | 'lost'

/** What is remembered between two lives of a process, and the last server that was trusted. */
export type Journal = {
  lines: readonly RememberedLine[]
  lastServer: string | undefined
  write: (lines: readonly RememberedLine[]) => void
  noteServer: (server: string) => void
  clear: () => Promise<void>
}

/**
 * Notices that a database lost what it had committed: a standby that lagged was promoted, a copy from an earlier moment was started. Rails
 * are called from a server only after everything remembered was found on it.
 */
export type Witness = {
  /** The server from which rails may be called; undefined while nothing may be sent. */
  trusted: () => string | undefined
  state: () => WitnessState
  /** A connection was lost, or a statement ran on another server: nothing is sent until `check` has looked. */
  doubt: () => void
  check: () => Promise<void>
  /** Proof from outside: a provider reports about an attempt that is not there. */
  reportLoss: (what: string) => void
  /** How a loss is declared: pauses the rails for all processes. Done by each process, and tried again until it succeeds. */
  declareWith: (declare: () => Promise<void>) => void
  /** Called once when this process learns of a loss. */
  onLoss: (listener: () => void) => void
  start: () => void
  stop: () => void
}

const checkEveryMs = 1_000
/** After a change of server, for the processes that remember something else: one of them may find a loss. */
const graceMs = 2_000

const findMissing = async (db: Db, remembered: Remembered): Promise<string[]> => {
  const seals = remembered.newest('seal').map((seal) => seal.split(':'))
  const rows = await db.query<{ what: string }>(missing, [
    remembered.newest('payment'),
    remembered.newest('attempt'),
    remembered.newest('key'),
    seals.map(([sequence]) => sequence),
    seals.map(([, hash]) => hash),
  ])
  return rows.map(({ what }) => what)
}

export const createWitness = (deps: { db: Database; logger: Logger }, journal?: Journal): Witness => {
  const { db, logger } = deps
  const { remembered } = db
  const listeners: (() => void)[] = []
  let state: WitnessState = 'looking'
  let trusted: string | undefined
  let last = journal?.lastServer
  let changedAtMs: number | undefined
  let declare: (() => Promise<void>) | undefined
  let isDeclared = false
  let checking: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const lose = (facts: Record<string, unknown>) => {
    if (state === 'lost') return
    state = 'lost'
    trusted = undefined
    logger.error(facts, 'the database lost writes that it had committed: nothing is sent until a person has looked')
    for (const listener of listeners) listener()
  }

  const trust = (server: string) => {
    // A provider may have proven a loss while this look was under way.
    if (state === 'lost') return
    if (last !== undefined && last !== server) logger.info({ from: last, to: server }, 'everything remembered is on this server')
    state = 'trusted'
    trusted = server
    changedAtMs = undefined
    if (last !== server) journal?.noteServer(server)
    last = server
  }

  const examine = async (server: string) => {
    const lost = await findMissing(db, remembered)
    if (lost.length > 0) return lose({ missing: lost.slice(0, 10), atLeast: lost.length })
    if (last === undefined || last === server) return trust(server)
    const now = performance.now()
    changedAtMs ??= now
    if (now - changedAtMs >= graceMs) trust(server)
  }

  const checkOnce = async (): Promise<void> => {
    const [row] = await db.query<{ server: string | null; lost: boolean }>(look)
    if (!row?.server) return
    if (row.lost) lose({ declaredBy: 'another process, or before this one started' })
    if (state === 'lost' && (row.lost || !isDeclared)) {
      if (!isDeclared) await declare?.()
      isDeclared = declare !== undefined
      return
    }
    if (state === 'lost') {
      // A person has looked, and resumed.
      remembered.forget()
      await journal?.clear()
      isDeclared = false
      state = 'looking'
      last = row.server
    }
    if (state !== 'trusted' || trusted !== row.server) {
      if (trusted !== row.server) trusted = undefined
      state = 'looking'
      await examine(row.server)
    }
  }

  const check = (): Promise<void> => {
    checking ??= checkOnce().finally(() => {
      checking = undefined
    })
    return checking
  }

  const doubt = () => {
    if (state === 'trusted') state = 'looking'
  }
  db.onLost(doubt)
  if (journal) {
    remembered.load(journal.lines)
    remembered.onNote(journal.write)
  }

  return {
    trusted: () => (state === 'trusted' ? trusted : undefined),
    state: () => state,
    doubt,
    check,
    reportLoss: (what) => lose({ what }),
    declareWith: (given) => {
      declare = given
    },
    onLoss: (listener) => void listeners.push(listener),
    start: () => {
      const tick = () => {
        // Without the database there is nothing to send, and the next look is a second away.
        check().catch((error: unknown) => logger.debug(describeError(error), 'the server could not be looked at'))
      }
      tick()
      timer = setInterval(tick, checkEveryMs).unref()
    },
    stop: () => clearInterval(timer),
  }
}
