import type { z } from 'zod'
import { type IdKind, idPrefixes, parseId, type Uuid } from '../../src/lib/ids.ts'

/** A command line that can't be meant; printed with how it is used. */
export class UsageError extends Error {}

export type Options = Readonly<Record<string, string | undefined>>
export type Arguments = { words: readonly string[]; options: Options }

export const word = ({ words }: Arguments, index: number, name: string): string => {
  const argument = words[index]
  if (argument === undefined) throw new UsageError(`<${name}> is missing`)
  return argument
}

export const idOf = (kind: IdKind, text: string): Uuid => {
  const id = parseId(kind, text)
  if (!id) throw new UsageError(`"${text}" is no id that begins with ${idPrefixes[kind]}_`)
  return id
}

/** Held against the schema that the API's request is held against: what one refuses, the other does. */
export const fieldsOf = <Schema extends z.ZodType>(schema: Schema, fields: Record<string, unknown>): z.output<Schema> => {
  const input = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  throw new UsageError(
    parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the command'}: ${issue.message}`).join('; '),
  )
}
