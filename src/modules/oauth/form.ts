import { invalidFields } from '../../lib/errors.ts'
import type { Minor } from '../../lib/money.ts'
import type { Controls } from '../grants/controls.ts'
import { noControls } from '../grants/controls.ts'

export type Form = Record<string, string | string[]>

/** A form's body: a name that comes twice is a list, which only the fields that may repeat accept. Never throws: the parser may not. */
export const parseForm = (text: string): Form => {
  const form = Object.create(null) as Form
  for (const [name, value] of new URLSearchParams(text)) {
    const before = form[name]
    form[name] = before === undefined ? value : [...(typeof before === 'string' ? [before] : before), value]
  }
  return form
}

/** Text that no database can hold as it is. JSON bodies are looked at where they are parsed; forms and queries are here. */
export const requireStorable = (values: unknown): void => {
  if (typeof values !== 'object' || values === null) return
  for (const [name, value] of Object.entries(values))
    for (const text of [name, value].flat())
      if (typeof text === 'string' && text.includes('\u0000'))
        throw invalidFields({ path: name.replaceAll('\u0000', ''), message: 'has characters that can not be stored' })
}

export const limitFields = {
  per_payment_limit: ['perPaymentLimitMinor', 'per_payment_limit_minor', 'One payment, at most'],
  daily_limit: ['dailyLimitMinor', 'daily_limit_minor', 'A day, at most'],
  monthly_limit: ['monthlyLimitMinor', 'monthly_limit_minor', 'A month, at most'],
  approval_threshold: ['approvalThresholdMinor', 'approval_threshold_minor', 'Ask for approval from'],
} as const
export type LimitField = keyof typeof limitFields

/** An amount as a person writes it, in whole units with up to two decimals; nothing = no limit of this kind. */
const readAmount = (name: LimitField, text: string): Minor | null => {
  const plain = text.replace(/[\s,]/g, '')
  if (plain === '') return null
  const [, whole, cents = ''] = /^(\d{1,15})(?:\.(\d{1,2}))?$/.exec(plain) ?? []
  if (whole === undefined) throw invalidFields({ path: name, message: 'must be an amount like 1,500 or 1500.50' })
  return BigInt(whole) * 100n + BigInt(cents.padEnd(2, '0'))
}

export const readLimits = (form: { [Name in LimitField]?: string | undefined }): Controls => {
  const controls = { ...noControls }
  for (const name of Object.keys(limitFields) as LimitField[]) controls[limitFields[name][0]] = readAmount(name, form[name] ?? '')
  return controls
}

export const writeAmount = (minor: string): string => {
  const cents = BigInt(minor) % 100n
  const whole = (BigInt(minor) / 100n).toString()
  return cents === 0n ? whole : `${whole}.${cents.toString().padStart(2, '0')}`
}
