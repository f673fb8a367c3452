import type { Uuid } from './ids.ts'

/**
 * What the journal of this machine shows about an attempt that a sender took the right to send. `not_sent`: that sender never wrote it
 * down, and it writes down every attempt right before the first byte. `elsewhere`: that sender's journal is not on this machine.
 */
export type JournalFinding = 'not_sent' | 'may_be_sent' | 'elsewhere'

/** One file of the journal, that one process writes. `note` throws where it cannot be written: then nothing may be sent. */
export type JournalSender = { id: Uuid; note: (attemptId: Uuid) => void }

/** Where each process writes down what it sends, on its own machine. */
export type SendJournal = {
  /** Undefined where nothing can be written. */
  sender: () => JournalSender | undefined
  read: (sender: Uuid, attemptId: Uuid) => JournalFinding
  close: () => void
}
