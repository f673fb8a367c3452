import { type Logger, pino } from 'pino'
import type { Config } from '../config.ts'
import { describeError } from '../db/errors.ts'
import { traceFields } from '../lib/tracing.ts'

export const serializers = { err: describeError }

/** JSON lines; in colour at a terminal in development, where pino-pretty is installed. */
export const createLogger = async (config: Config): Promise<Logger> => {
  const options = { level: config.LOG_LEVEL, base: null, mixin: traceFields, serializers }
  if (config.NODE_ENV !== 'development') return pino(options)
  const pretty = await import('pino-pretty').catch(() => undefined)
  if (!pretty) return pino(options)
  return pino(
    options,
    pretty.PinoPretty({ colorize: process.stdout.isTTY, translateTime: 'SYS:HH:MM:ss.l', singleLine: true, sync: true }),
  )
}
