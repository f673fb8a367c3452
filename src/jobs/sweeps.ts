import { type Db, statement } from '../db/client.ts'
import type { Lane } from './lane.ts'

/** Finds what is due and does it; idempotent, and harmless when nothing is due. May answer how many rows that were. */
export type Sweep = { name: string; everySeconds: number; run: () => Promise<unknown> }

/** A sweep that has ended. `rows`: undefined where it does not count them. */
export type Swept = { name: string; seconds: number; rows: number | undefined }

const announce = statement(
  'schedules.announce',
  `insert into schedules (name, every_seconds, next_run_at) select *, now() from unnest($1::text[], $2::int[])
   on conflict (name) do update set every_seconds = excluded.every_seconds,
     next_run_at = least(schedules.next_run_at, now() + make_interval(secs => excluded.every_seconds))`,
)
/**
 * By the database's clock, so processes need not agree about the time. The process that moves the time of the next run has this run for
 * itself.
 */
const take = statement(
  'schedules.take',
  `update schedules set next_run_at = now() + make_interval(secs => every_seconds)
   where name in (select name from schedules where name = any($1::text[]) and next_run_at <= now() for update skip locked)
   returning name`,
)

export const announceSweeps = (db: Db, sweeps: readonly Sweep[]): Promise<unknown> =>
  db.query(announce, [sweeps.map(({ name }) => name), sweeps.map(({ everySeconds }) => everySeconds)])

/** One run of a sweep: the key by which the runner of its lane knows it, and the work. */
export const sweepTask = ({ name, run }: Sweep, onSwept: (swept: Swept) => void) => ({
  key: name,
  tenant: name,
  run: async () => {
    const start = performance.now()
    const rows = await run()
    onSwept({ name, seconds: (performance.now() - start) / 1000, rows: typeof rows === 'number' ? rows : undefined })
  },
})

/** Runs each sweep once every `everySeconds` over all processes. When a process dies in a sweep, the next run does its work. */
export const sweepsLane = (db: Db, sweeps: readonly Sweep[], onSwept: (swept: Swept) => void): Lane => ({
  name: 'sweeps',
  limit: sweeps.length,
  claim: async ({ except }) => {
    const idle = sweeps.filter(({ name }) => !except.includes(name))
    const taken = await db.query<{ name: string }>(take, [idle.map(({ name }) => name)])
    const due = idle.filter(({ name }) => taken.some((one) => one.name === name))
    return { tasks: due.map((sweep) => sweepTask(sweep, onSwept)), more: false }
  },
})
