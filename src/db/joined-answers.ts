import pg from 'pg'
import { RowConnection } from './data-row.ts'

/*
 * After each statement the driver asks the server to synchronise: the server then sends what it has to say by a system call of its own, sets its
 * timers, and wakes this process. The statements of a transaction that leave together are answered together: only the last one has a Sync behind
 * it. The client is told that each of them has ended, as if each had its own, so the driver notices nothing.
 *
 * After an error the server skips what follows until the next Sync. Those statements fail here with the code that they would have failed with
 * there. A commit has a Sync before it: in a transaction that failed it is then the rollback that the server makes of it, and is not skipped.
 */

declare module 'pg' {
  // Of pg's connection, what its types leave out.
  interface Connection {
    _send(message: Buffer): void
  }
}

const begin = 'begin'

/** What the server says to a statement after one that failed, in the same transaction. */
const skipped = () =>
  Object.assign(
    new pg.DatabaseError('current transaction is aborted, commands are ignored until end of transaction block', 0, 'error'),
    {
      severity: 'ERROR',
      code: '25P02',
    },
  )

// Its fields are not `#` ones: a statement that is described already is sent by an object that inherits from the connection (`named-query.ts`).
export class JoiningConnection extends RowConnection {
  /** Of each statement that was sent and has not ended, in their order: whether it has no Sync of its own behind it. */
  private readonly open: boolean[] = []
  private isJoining = false
  private knowsBegin = false

  /** What is sent from now on is answered together, until `answerJoined`. The caller holds it back until then. */
  joinAnswers(): void {
    this.isJoining = true
  }

  answerJoined(): void {
    this.isJoining = false
    this.syncLast()
  }

  private syncLast(): void {
    const last = this.open.length - 1
    if (this.open[last] !== true) return
    this.open[last] = false
    super.sync()
  }

  override sync(): void {
    this.open.push(this.isJoining)
    if (!this.isJoining) super.sync()
  }

  override query(text: string): void {
    if (this.isJoining && text === begin) {
      if (!this.knowsBegin) this.parse({ name: begin, text, types: [] }, false)
      this.knowsBegin = true
      this.bind({ statement: begin }, false)
      this.execute({}, false)
      this.sync()
      return
    }
    this.syncLast()
    super.query(text)
    this.open.push(false)
  }

  override emit(event: string, ...values: unknown[]): boolean {
    switch (event) {
      case 'commandComplete':
      case 'emptyQuery': {
        const isHeard = super.emit(event, ...values)
        if (this.open[0] === true) this.emit('readyForQuery', { status: 'T' })
        return isHeard
      }
      case 'errorMessage': {
        const isHeard = super.emit(event, ...values)
        while (this.open[0] === true) {
          this.emit('readyForQuery', { status: 'E' })
          super.emit('errorMessage', skipped())
        }
        return isHeard
      }
      case 'readyForQuery':
        this.open.shift()
    }
    return super.emit(event, ...values)
  }
}
