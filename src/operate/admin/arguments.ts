import type { z } from 'zod'
import type { PageRequest } from '../../http/pagination.ts'
import { fieldErrors, sentences } from '../../http/sentences.ts'
import { type IdKind, idPrefixes, parseId, type Uuid } from '../../lib/ids.ts'
import type { Console } from './console.ts'

/** An invalid command line, printed with the correct usage. */
export class UsageError extends Error {}

/** `<account> a|b --reason <text> [--limit <n>]`: the words after a command's name (`<item>…`: several), then its options. */
type WordsOf<Syntax> = Syntax extends '' | `--${string}` | `[${string}`
  ? []
  : Syntax extends `${string} ${infer Rest}`
    ? [string, ...WordsOf<Rest>]
    : [string]
type OptionsOf<Syntax> = Syntax extends `${string}--${infer Name} ${infer Rest}`
  ? { [Option in Name]?: string } & OptionsOf<Rest>
  : unknown

type Options = Readonly<Record<string, string | undefined>>
type Run<Words, Given> = (at: Console, words: Words, options: Given) => Promise<unknown>
/** `runAlone`: runs without the service's parts, on a database of any release. */
export type Command = { syntax: string; help: string } & (
  | { run: Run<readonly string[], Options> }
  | { runAlone: (options: Options) => Promise<unknown> }
)
export type Commands = Readonly<Record<string, Command>>

/** A command, whose code reads only the words and options of its syntax. */
export const command = <const Syntax extends string>(
  syntax: Syntax,
  help: string,
  run: Run<WordsOf<Syntax>, OptionsOf<Syntax>>,
) => ({ syntax, help, run: run as Run<readonly string[], Options> })

export const maxRows = 1000

/** Reads as many rows as a person can look through, newest first, and says so if there are more. */
export const readList = async <Row>(read: (page: PageRequest) => Promise<Row[]>, most = maxRows): Promise<Row[]> => {
  const rows = await read({ before: null, take: most + 1 })
  if (rows.length > most) console.error(`There are more than ${most} rows. Only the newest ${most} are shown.`)
  return rows.slice(0, most)
}

export const idOf = (kind: IdKind, text: string): Uuid => {
  const id = parseId(kind, text)
  if (!id) throw new UsageError(`invalid id "${text}": expected one that begins with ${idPrefixes[kind]}_`)
  return id
}

/** Validates fields with the API's schema, so that a command rejects the same input as the API. */
export const parseFields = <Schema extends z.ZodType>(schema: Schema, fields: Record<string, unknown>): z.output<Schema> => {
  const input = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const parsed = schema.safeParse(input, { error: sentences() })
  if (parsed.success) return parsed.data
  const problems = fieldErrors(parsed.error.issues)
  throw new UsageError(problems.map(({ path, message }) => `${path === 'body' ? 'the command' : path}: ${message}`).join('; '))
}

/** Writes output of any length, waiting for a slow reader. */
export const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(error) : resolve())))
