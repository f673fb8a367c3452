import { readJson } from '../../http/request-syntax.ts'
import { type FieldError, invalidFields } from '../../lib/errors.ts'
import type { Minor } from '../../lib/money.ts'
import { type DuplicateAnswer, duplicateAnswers, type NewPayeeAnswer, newPayeeAnswers } from '../../lib/policy-answers.ts'
import { controlContradictions } from '../../policy/limits.ts'
import type { Limits } from '../../policy/types.ts'
import { type Controls, noControls } from '../delegation/control-rules.ts'
import { presentControls } from '../delegation/present.ts'
import { type SpendingControls, SpendingControlsIn } from '../delegation/schema.ts'
import { OAuthError } from './errors.ts'
import { isSubset } from './scopes.ts'

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

const limitPaths = {
  perPaymentLimitMinor: 'per_payment_limit_minor',
  dailyLimitMinor: 'daily_limit_minor',
  monthlyLimitMinor: 'monthly_limit_minor',
  approvalThresholdMinor: 'approval_threshold_minor',
} as const satisfies Record<keyof Limits, string>
/** Every other control, but those that are narrowed by a rule of their own: a new one does not compile until it is narrowed. */
const listPaths = { paymentTypes: 'payment_types', beneficiaryIds: 'beneficiary_ids' } as const satisfies Record<
  Exclude<keyof Controls, keyof Limits | 'newPayees' | 'onDuplicate'>,
  string
>

const narrowLimit = (requested: Minor | null, decided: Minor | null): Minor | null | 'wider' => {
  if (decided === null || requested === null) return decided ?? requested
  return decided > requested ? 'wider' : decided
}

const narrowList = (requested: string[] | null, decided: string[] | null): string[] | null | 'wider' => {
  if (decided === null || requested === null) return decided ?? requested
  return isSubset(decided, requested) ? decided : 'wider'
}

/**
 * Only a person lets an agent's new payees go unconfirmed: a client that asks for it does not get it unless the decision says so. One that
 * asked for less does not get more.
 */
const decideNewPayees = (requested: NewPayeeAnswer | null, decided: NewPayeeAnswer | null): NewPayeeAnswer | null | 'wider' => {
  const asked = requested === 'allow' ? null : requested
  if (decided === null) return asked
  const strictness = (answer: NewPayeeAnswer) => newPayeeAnswers.indexOf(answer)
  return asked !== null && strictness(decided) < strictness(asked) ? 'wider' : decided
}

/** An agent repeats calls: without a choice of the person it must say that a second payment is meant, whatever the client asked for. */
const decideOnDuplicate = (requested: DuplicateAnswer | null, decided: DuplicateAnswer | null): DuplicateAnswer | 'wider' => {
  const strictness = (answer: DuplicateAnswer) => duplicateAnswers.indexOf(answer)
  const asked = requested === null || strictness(requested) < strictness('confirm') ? 'confirm' : requested
  if (decided === null) return asked
  return requested !== null && strictness(decided) < strictness(requested) ? 'wider' : decided
}

/** The limits that will apply: those requested, narrowed by the person's choices. Wider ones are refused, never reduced. */
export const narrowControls = (requested: Controls, decided: Controls = noControls, under: string): Controls => {
  const fields: FieldError[] = []
  const narrowed = { ...requested }
  for (const [name, path] of Object.entries(limitPaths) as [keyof typeof limitPaths, string][]) {
    const value = narrowLimit(requested[name], decided[name])
    if (value === 'wider')
      fields.push({ path: under + path, message: `must not be more than the client asked for, ${requested[name]}` })
    else narrowed[name] = value
  }
  for (const [name, path] of Object.entries(listPaths) as [keyof typeof listPaths, string][]) {
    const value = narrowList(requested[name], decided[name])
    if (value === 'wider') fields.push({ path: under + path, message: 'must name nothing that the client did not ask for' })
    else narrowed[name] = value
  }
  const newPayees = decideNewPayees(requested.newPayees, decided.newPayees)
  if (newPayees === 'wider')
    fields.push({ path: `${under}new_payees`, message: `must not allow more than the client asked for, ${requested.newPayees}` })
  else narrowed.newPayees = newPayees
  const onDuplicate = decideOnDuplicate(requested.onDuplicate, decided.onDuplicate)
  if (onDuplicate === 'wider')
    fields.push({
      path: `${under}on_duplicate`,
      message: `must not allow more than the client asked for, ${requested.onDuplicate}`,
    })
  else narrowed.onDuplicate = onDuplicate
  fields.push(...controlContradictions(narrowed, under))
  if (fields.length > 0) throw invalidFields(...fields)
  return narrowed
}
