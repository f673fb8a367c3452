import type { Uuid } from './ids.ts'

/**
 * The evidence of this machine's send logs about an attempt. `not_sent`: its sender did not note it, as it does before the first
 * byte. `elsewhere`: the sender's send log is not on this machine.
 */
export type SendLogFinding = 'not_sent' | 'may_be_sent' | 'elsewhere'

/** One file, written by one process. `note` throws if it cannot be written: then nothing may be sent. */
export type SendLogWriter = { id: Uuid; append: (attemptId: Uuid) => void }

export type SendLog = {
  /** Logs of processes that ended on this machine. */
  found: readonly Uuid[]
  /** The logs that this process writes. The successor of a full log is used after `confirm`, once it is registered. */
  open: () => readonly Uuid[]
  confirm: () => void
  /** Undefined if nothing can be written. */
  sender: () => SendLogWriter | undefined
  read: (sender: Uuid, attemptId: Uuid) => SendLogFinding
  close: () => void
}
