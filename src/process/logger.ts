import { destination, type Logger, pino } from 'pino'
import type { Config } from '../config.ts'
import { describeError } from '../db/errors.ts'
import { formatId, type IdKind, isIdKind } from '../lib/ids.ts'
import { traceFields } from '../lib/tracing.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The kind of id that `payments.MPESA_B2C`, `policies.change` or `payment` refers to. */
const kindOf = (text: unknown): IdKind | undefined => {
  const [name = ''] = typeof text === 'string' ? text.split('.') : []
  return [name, name.replace(/s$/, ''), name.replace(/ies$/, 'y')].find(isIdKind)
}

/**
 * Converts ids to the API's form, so that one search for `pay_…` finds a payment's request, sends and callbacks. The kind of an
 * id is the name of its field or, for `id` and `key`, the kind in `subject`, `sweep` or `worker`. Other ids are unchanged.
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

/** Logs warnings and errors to standard error, for programs whose standard output is their result. */
export const warningLogger = (): Logger => pino({ level: 'warn', base: null, ...logOptions }, destination(2))

/** Maximum buffer while standard output accepts no lines. */
const maxWaitingBytes = 1_048_576

/**
 * Logs JSON lines, or coloured text at a development terminal with pino-pretty. If the disk behind standard output is full, the
 * service continues: lines are buffered, further ones dropped and counted. pino alone would exit or hang in `flushSync`.
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
