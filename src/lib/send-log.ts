import type { Uuid } from './ids.ts'

/**
 * A finding in this machine's send logs about an attempt. `not_sent`: its sender did not record it, although it records each
 * attempt before the first byte. `elsewhere`: the sender's log is not on this machine.
 */
export type SendLogFinding = 'not_sent' | 'may_be_sent' | 'elsewhere'

/** One file, written by one process. `append` throws if the file cannot be written, in which case nothing may be sent. */
export type SendLogWriter = { id: Uuid; append: (attemptId: Uuid) => void }

export type SendLog = {
  /** Logs of processes that have ended on this machine. */
  found: readonly Uuid[]
  /** Logs that this process writes. Once a log is full, its successor is used only after `confirm`, when it is registered. */
  open: () => readonly Uuid[]
  confirm: () => void
  /** Undefined if no log can be written. */
  sender: () => SendLogWriter | undefined
  read: (sender: Uuid, attemptId: Uuid) => SendLogFinding
  close: () => void
}
