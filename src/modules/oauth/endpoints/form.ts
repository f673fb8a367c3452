import { isStorable } from '../../../http/json-text.ts'
import { invalidFields } from '../../../lib/errors.ts'

export type Form = Record<string, string | string[]>

/** A form's body: a repeated name becomes a list, which only fields that may repeat accept. Never throws: a parser must not. */
export const parseForm = (text: string): Form => {
  const form = Object.create(null) as Form
  for (const [name, value] of new URLSearchParams(text)) {
    const before = form[name]
    form[name] = before === undefined ? value : [...(typeof before === 'string' ? [before] : before), value]
  }
  return form
}

/** Text that no database can store. JSON bodies are checked where they are parsed; forms and queries are checked here. */
export const requireStorable = (values: unknown): void => {
  if (typeof values !== 'object' || values === null) return
  for (const [name, value] of Object.entries(values))
    for (const text of [name, value].flat())
      if (typeof text === 'string' && !isStorable(text))
        throw invalidFields({
          path: name.replaceAll('\u0000', '').toWellFormed(),
          message: 'has characters that cannot be stored',
        })
}
