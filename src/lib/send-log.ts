import type { Uuid } from './ids.ts'

/**
 * What this machine's send log shows about an attempt. `not_sent`: its sender never wrote it down, which it does before the first byte. `elsewhere`:
 * that sender's send log is not on this machine.
 */
export type SendLogFinding = 'not_sent' | 'may_be_sent' | 'elsewhere'

/** One file, that one process writes. `note` throws where it cannot be written: then nothing may be sent. */
export type SendLogWriter = { id: Uuid; note: (attemptId: Uuid) => void }

export type SendLog = {
  /** Logs of processes that ended on this machine. */
  found: readonly Uuid[]
  /** The logs that this process writes. A full one gets a successor, which is used after `confirm`: once it is registered. */
  open: () => readonly Uuid[]
  confirm: () => void
  /** Undefined where nothing can be written. */
  sender: () => SendLogWriter | undefined
  read: (sender: Uuid, attemptId: Uuid) => SendLogFinding
  close: () => void
}
