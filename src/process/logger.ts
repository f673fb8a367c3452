import { destination, type Logger, pino } from 'pino'
import type { Config } from '../config.ts'
import { describeError } from '../db/errors.ts'
import { formatId, type IdKind, isIdKind } from '../lib/ids.ts'
import { traceFields } from '../lib/tracing.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The kind of id behind `payments.MPESA_B2C`, `policies.change` or `payment`. */
const kindOf = (text: unknown): IdKind | undefined => {
  const [name = ''] = typeof text === 'string' ? text.split('.') : []
  return [name, name.replace(/s$/, ''), name.replace(/ies$/, 'y')].find(isIdKind)
}

/**
 * Ids in the API's form, so that one search for `pay_…` finds a payment's request, sends and deliveries. A field is named after
 * its kind, or is the `id` or `key` of the kind in `subject`, `sweep` or `worker`. Other ids (attempts, deliveries) stay.
 */
const withPublicIds = (fields: Record<string, unknown>): Record<string, unknown> => {
  const subject = kindOf(fields.subject) ?? kindOf(fields.sweep) ?? kindOf(fields.worker)
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const kind = name === 'id' || name === 'key' ? subject : kindOf(name)
      return [name, kind && typeof value === 'string' && uuid.test(value) ? formatId(kind, value) : value]
    }),
  )
}

export const logOptions = { mixin: traceFields, serializers: { err: describeError }, formatters: { log: withPublicIds } }

/** Warnings and errors on standard error, for programs whose output is their result. */
export const warningLogger = (): Logger => pino({ level: 'warn', base: null, ...logOptions }, destination(2))

/** The most that waits in memory while standard output takes no line. */
const maxWaitingBytes = 1_048_576

/**
 * JSON lines. In development at a terminal, in colour if pino-pretty is installed. Without room on the disk of standard output the
 * service continues: lines wait, further ones are lost and counted. pino alone would end the process, and `flushSync` would never return.
 */
export const createLogger = async (config: Config): Promise<Logger> => {
  const options = { level: config.LOG_LEVEL, base: null, ...logOptions }
  const output = destination({ dest: 1, sync: true, maxLength: maxWaitingBytes })
  const pretty = config.NODE_ENV === 'development' ? await import('pino-pretty').catch(() => undefined) : undefined
  const format = pretty?.prettyFactory({ colorize: process.stdout.isTTY, translateTime: 'SYS:HH:MM:ss.l', singleLine: true })
  const logger = pino(options, { write: (line: string) => void output.write(format ? format(line) : line) })
  let lost = 0
  output.on('error', () => undefined)
  output.on('drop', () => {
    lost += 1
  })
  output.on('drain', () => {
    if (lost === 0) return
    const lines = lost
    lost = 0
    logger.warn({ lines }, 'lines of the log were lost: standard output took none')
  })
  return logger
}
