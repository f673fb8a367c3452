import { DrizzleQueryError } from 'drizzle-orm'
import { Refusal, type Shortage, unavailable } from '../lib/errors.ts'

type DatabaseError = Error & { code: string; severity?: unknown }

const isDatabaseError = (error: Error): error is DatabaseError =>
  'code' in error && typeof error.code === 'string' && (/^[0-9A-Z]{5}$/.test(error.code) || connectionCodes.has(error.code))

/** Finds the database or connection error at any depth of causes. */
const pgError = (error: unknown): DatabaseError | undefined => {
  if (!(error instanceof Error)) return undefined
  return isDatabaseError(error) ? error : pgError(error.cause)
}

export const sqlState = (error: unknown): string | undefined => pgError(error)?.code

export const isRetryable = (error: unknown): boolean => ['40001', '40P01'].includes(sqlState(error) ?? '')

const connectionCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN'],
  ...['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT'],
  // A write to a socket that has just closed.
  ...['ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'],
])

/** The server no longer accepts writes: it was demoted or made read-only. */
export const isReadOnly = (error: unknown): boolean => sqlState(error) === '25006'

// Connection lost, no resources, shutdown, crash or startup, statement or lock timeout, cancelled, read-only, system error.
const unavailableStates = /^(08|53|57P|57014|55P03|25006|25P0[2-4]|58)/

/** A lost connection has no SQLSTATE. If it was lost during COMMIT, the outcome is unknown. */
const isConnectionLost = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  return /Connection terminated|connection timeout|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool|not queryable|Query read timeout/i.test(
    error.message,
  )
}

/** The server accepted the connection and then lost it, or is starting. It is running or will be soon. */
export const isInterrupted = (error: unknown): boolean => {
  const state = sqlState(error)
  return state === undefined ? isConnectionLost(error) : ['ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03'].includes(state)
}

export const isUnavailable = (error: unknown): boolean => {
  const databaseError = pgError(error)
  // FATAL means that the server ended the session or never started it.
  if (databaseError?.severity === 'FATAL' || databaseError?.severity === 'PANIC') return true
  const state = sqlState(error)
  if (state !== undefined) return connectionCodes.has(state) || unavailableStates.test(state)
  return isConnectionLost(error) || (error instanceof Error && error.cause instanceof Error && isConnectionLost(error.cause))
}

const shortageOf = (error: unknown): Shortage => {
  const state = sqlState(error)
  if (state === '55P03') return 'lock_timeout'
  if (state === '57014') return 'statement_timeout'
  if (isRetryable(error)) return 'contention'
  const noneIsFree = state === '53300' || (error instanceof Error && error.message === 'timeout exceeded when trying to connect')
  return noneIsFree ? 'connection_timeout' : 'database'
}

/** Turns a temporary failure into 503 with `Retry-After`, because "failed" would be wrong for an unknown outcome. */
export const translateDatabaseError = (error: unknown): unknown => {
  if (error instanceof Refusal || !(isUnavailable(error) || isRetryable(error))) return error
  return unavailable({ shortage: shortageOf(error), cause: error })
}

/** The stack frames, without the message at the start of the stack, which can span several lines. */
const placesOf = ({ message, stack = '' }: Error): string => {
  const begin = message === '' ? 0 : stack.indexOf(message) + message.length
  return stack
    .slice(begin)
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .slice(0, 8)
    .join('\n')
}

/** Omits the message of a database error, which contains bound values. Drizzle copies these values into its own message. */
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
