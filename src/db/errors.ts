import { DrizzleQueryError } from 'drizzle-orm'
import { Refusal } from '../lib/errors.ts'

type PgLike = { code?: unknown; severity?: unknown; cause?: unknown }

const pgError = (error: unknown): PgLike | undefined => {
  for (let current = error; typeof current === 'object' && current !== null; current = (current as PgLike).cause) {
    const code = (current as PgLike).code
    if (typeof code === 'string' && (/^[0-9A-Z]{5}$/.test(code) || connectionCodes.has(code))) return current as PgLike
  }
  return undefined
}

/** The SQLSTATE of an error, at any depth of wrapping. Never its message: drizzle's contains the bound parameters. */
export const sqlState = (error: unknown): string | undefined => {
  const code = pgError(error)?.code
  return typeof code === 'string' ? code : undefined
}

export const isRetryable = (error: unknown): boolean => ['40001', '40P01'].includes(sqlState(error) ?? '')

const connectionCodes = new Set([
  ...[
    'ECONNREFUSED',
    'ECONNRESET',
    'ECONNABORTED',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENETDOWN',
    'EADDRNOTAVAIL',
  ],
  ...['ENOTFOUND', 'EAI_AGAIN', 'ENOENT'],
  // Written to a socket that was closed a moment before.
  ...['ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'],
])

/** The server takes no writes any more: it was demoted, or a person made it read-only. Another server may take them. */
export const isReadOnly = (error: unknown): boolean => sqlState(error) === '25006'

// Shut down, crashed, starting up, too many connections, statement or lock time-out, disk full, out of memory, cancelled, read-only.
const unavailableStates = /^(08|53|57P|57014|55P03|25006|25P0[2-4]|58)/

/** A connection that was lost has no SQLSTATE; whether a COMMIT on it took effect is not known. */
const isConnectionLost = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  return /Connection terminated|connection timeout|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool|not queryable|Query read timeout/i.test(
    error.message,
  )
}

/** A server that accepted the connection and lost it, or that is starting: it is running, or will be soon. */
export const isInterrupted = (error: unknown): boolean => {
  const state = sqlState(error)
  return state === undefined ? isConnectionLost(error) : ['ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03'].includes(state)
}

export const isUnavailable = (error: unknown): boolean => {
  const databaseError = pgError(error)
  // FATAL: the server ended the session, or never started it.
  if (databaseError?.severity === 'FATAL' || databaseError?.severity === 'PANIC') return true
  const state = sqlState(error)
  if (state !== undefined) return connectionCodes.has(state) || unavailableStates.test(state)
  return isConnectionLost(error) || (error instanceof Error && error.cause instanceof Error && isConnectionLost(error.cause))
}

/** A temporary failure of the database becomes 503 with `Retry-After`, never "failed"; every other error stays as it is. */
export const translateDatabaseError = (error: unknown): unknown => {
  if (error instanceof Refusal || !(isUnavailable(error) || isRetryable(error))) return error
  return new Refusal('unavailable', { headers: { 'retry-after': '1' }, cause: error })
}

/** Where an error was created. Its stack begins with its message, which can have several lines: that part is removed first. */
const placesOf = ({ message, stack = '' }: Error): string => {
  const begin = message === '' ? 0 : stack.indexOf(message) + message.length
  return stack
    .slice(begin)
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .slice(0, 8)
    .join('\n')
}

/**
 * What may be logged of an error: never the message of a database error, which contains the bound values. Drizzle puts them into the
 * message of its own error even where the database never answered; the reason is in its cause.
 */
export const describeError = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof Error)) return { error: typeof error }
  const state = sqlState(error)
  const holdsValues = state !== undefined || error instanceof DrizzleQueryError
  const cause = error.cause instanceof Error && error.cause !== error ? describeError(error.cause) : undefined
  return {
    error: error.name,
    ...(state !== undefined && { sqlstate: state }),
    ...(!holdsValues && { reason: error.message }),
    stack: placesOf(error),
    ...(cause && { cause }),
  }
}
