#!/usr/bin/env node
import { createInterface } from 'node:readline/promises'
import { ConnectionError, PaymentsError } from '../errors.ts'
import { WaitTimeoutError } from '../wait-for.ts'
import { commands, helpOf, usage } from './commands.ts'
import { AlreadyDoneError, UsageError } from './errors.ts'
import { entryOf } from './terminal.ts'
import { version } from './version.ts'

const [name = 'help', ...args] = process.argv.slice(2)
const command = entryOf(commands, name)
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(new UsageError('Stopped.')))
// The process that reads this output may exit first (`payments events --follow | head`).
process.stdout.on('error', () => stop.abort(new UsageError('The output was closed.')))

const hasKey = Boolean(process.env.PAYMENTS_API_KEY)

let inProgress = false
const endProgress = () => {
  if (inProgress) process.stderr.write('\n')
  inProgress = false
}
const say = (line: string) => {
  endProgress()
  process.stderr.write(`${line}\n`)
}
const out = (line: string) => {
  endProgress()
  process.stdout.write(`${line}\n`)
}
const progress = (line: string) => {
  if (!process.stderr.isTTY) return say(line)
  process.stderr.write(`\r\u001b[K${line}`)
  inProgress = true
}

const explain = (error: unknown): string => {
  if (error instanceof PaymentsError) {
    const details = Object.keys(error.details).length > 0 ? `\n${JSON.stringify(error.details, null, 2)}` : ''
    const scope = error.code === 'forbidden' ? (error.details as { required_permission?: string }).required_permission : undefined
    const remedy = hasKey ? 'Use an API key that has it.' : `Log in again with it: payments login --scope "… ${scope}"`
    const hint = error.status === 401 && !hasKey ? '\nLog in again: payments login' : scope === undefined ? '' : `\n${remedy}`
    return `${error.code}: ${error.message}${hint}${details}`
  }
  if (error instanceof ConnectionError && error.idempotencyKey !== undefined) {
    const advice = command?.arguments.includes('--key ')
      ? `Repeat the command with --key ${error.idempotencyKey}: it takes effect at most once.`
      : 'Look at what is there before you repeat the command.'
    return `${error.message}\nThe outcome is unknown. ${advice}`
  }
  return error instanceof Error ? error.message : String(error)
}

const askPerson = async (question: string): Promise<boolean> => {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.once('SIGINT', () => stop.abort(new UsageError('Stopped.')))
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `, { signal: stop.signal })).trim())
  } finally {
    lines.close()
  }
}
const isPersonThere = process.stdin.isTTY && process.stderr.isTTY

if (['--version', '-v', 'version'].includes(name)) out(version)
else if (command && args.some((arg) => arg === '--help' || arg === '-h')) out(helpOf(name, command))
else if (!command) {
  const help = ['help', '--help', '-h'].includes(name)
  if (help) out(usage)
  else say(`Unknown command "${name}". "payments help" lists the commands.`)
  process.exitCode = help ? 0 : 2
} else {
  try {
    await command.run({
      args,
      env: process.env,
      out,
      say,
      progress,
      signal: stop.signal,
      ...(isPersonThere && { ask: askPerson }),
    })
  } catch (error) {
    if (error instanceof UsageError && stop.signal.aborted) process.exitCode = 130
    else {
      say(explain(error))
      const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error)
      process.exitCode = isUsage ? 2 : error instanceof WaitTimeoutError || error instanceof AlreadyDoneError ? 3 : 1
    }
  }
}
