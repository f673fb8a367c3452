import { readJson } from '../../http/request-syntax.ts'
import { type FieldError, invalidFields } from '../../lib/errors.ts'
import { duplicateAnswers } from '../../lib/policy-answers.ts'
import { wireName } from '../../policy/fields.ts'
import { controlContradictions, isMilder } from '../../policy/limits.ts'
import { type Controls, controlNames, isWider, noControls } from '../delegation/control-rules.ts'
import { presentControls } from '../delegation/present.ts'
import { type SpendingControls, SpendingControlsIn } from '../delegation/schema.ts'
import { OAuthError } from './errors.ts'

const refused = (why: string) => new OAuthError('invalid_authorization_details', `authorization_details ${why}.`)

const maxLength = 20_000

const parseJson = (text: string): unknown => {
  if (text.length > maxLength) throw refused(`must be at most ${maxLength} characters`)
  try {
    return readJson(text)
  } catch {
    throw refused('must be JSON without repeated names, deep nesting or characters that cannot be stored')
  }
}

/** RFC 9396: one object of our one type. An unknown member is refused, because a limit with a typing error would be no limit. */
export const parseDetails = (text: string | undefined): SpendingControls | null => {
  if (text === undefined) return null
  const list = parseJson(text)
  if (!Array.isArray(list) || list.length !== 1) throw refused('must be a list of one object')
  const [first]: unknown[] = list
  if (typeof first !== 'object' || first === null || !('type' in first) || first.type !== 'payment')
    throw refused('must be of the type "payment"')
  const { type: _type, ...members } = first
  const parsed = SpendingControlsIn.safeParse(members)
  if (parsed.success) return presentControls(parsed.data)
  const [issue] = parsed.error.issues
  const where = issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue?.path.join('.')
  throw refused(`cannot be understood: ${where}: ${issue?.code === 'unrecognized_keys' ? 'is not known' : issue?.message}`)
}

export const storedControls = (stored: unknown): Controls => (stored === null ? noControls : SpendingControlsIn.parse(stored))

/**
 * What applies where the person decides nothing. Only a person lets an agent's new payees go unconfirmed: a client that asks for it does not get it.
 * An agent repeats calls: it must say that a second payment is meant, whatever the client asked for.
 */
const undecided = (requested: Controls): Controls => ({
  ...requested,
  newPayees: requested.newPayees === 'allow' ? null : requested.newPayees,
  onDuplicate: isMilder(duplicateAnswers, 'confirm', requested.onDuplicate, 'warn') ? 'confirm' : requested.onDuplicate,
})

const tooWide = (requested: NonNullable<Controls[keyof Controls]>): string =>
  Array.isArray(requested)
    ? 'must name nothing that the client did not ask for'
    : `must not ${typeof requested === 'bigint' ? 'be' : 'allow'} more than the client asked for, ${requested}`

/** The limits that will apply: those requested, narrowed by the person's choices. Wider ones are refused, never reduced. */
export const narrowControls = (requested: Controls, decided: Controls = noControls, under: string): Controls => {
  const fields: FieldError[] = []
  let narrowed = undecided(requested)
  for (const name of controlNames) {
    const [asked, chosen] = [requested[name], decided[name]]
    if (chosen === null) continue
    if (asked !== null && isWider(name, requested, decided))
      fields.push({ path: under + wireName(name), message: tooWide(asked) })
    else narrowed = { ...narrowed, [name]: chosen }
  }
  fields.push(...controlContradictions(narrowed, under))
  if (fields.length > 0) throw invalidFields(...fields)
  return narrowed
}
