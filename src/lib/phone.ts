import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { compactNumber } from './text.ts'

/** Operator prefixes are not checked, because people can keep their number when they change operators. */
const mobile = /^254[17]\d{8}$/

/** Allows spaces, dashes, dots, brackets, a `tel:` link, `00` for `+`, and a zero after the country code. */
const digitsOf = (text: string): string =>
  compactNumber(text)
    .replace(/^tel:/i, '')
    .replace(/[\p{Pd}\u2212().]/gu, '')
    .replace(/^00(?=[1-9])/, '+')
    .replace(/^(\+?254)0/, '$1')

/** Returns `254[17]########`. Requires a prefix, because a bare number could be from another country. */
export const parseKenyanMobile = (text: string): string | undefined => {
  const compact = digitsOf(text)
  if (!/^(\+?254|0)\d{9}$/.test(compact)) return undefined
  const parsed = parsePhoneNumberFromString(/^254\d{9}$/.test(compact) ? `+${compact}` : compact, 'KE')
  const digits = parsed?.countryCallingCode === '254' ? `254${parsed.nationalNumber}` : ''
  return mobile.test(digits) ? digits : undefined
}

/** Never repeats the number, because errors must not contain a destination. */
export const mobileProblem = (text: string): string => {
  const compact = digitsOf(text)
  if (/^[17]\d{8}$/.test(compact)) return 'has no country: begin it with +254, or with 0'
  if (/^\+(?!254)/.test(compact)) return 'is not of Kenya: send a Kenyan mobile number, which begins with +254'
  return 'must be a Kenyan mobile number: 07…, 01…, +254… or 254…, with all its digits'
}
