import { parsePhoneNumberFromString } from 'libphonenumber-js/max'

/** A Kenyan mobile number as the rails want it; never a table of operator prefixes, which change hands. */
const mobile = /^254[17]\d{8}$/

/** `07…`, `01…`, `+254…`, `254…`, spaces and dashes allowed → `254[17]########`; undefined for anything else. */
export const parseKenyanMobile = (text: string): string | undefined => {
  const compact = text.replace(/[\s()-]/g, '')
  if (!/^\+?\d{9,13}$/.test(compact)) return undefined
  const parsed = parsePhoneNumberFromString(/^254\d{9}$/.test(compact) ? `+${compact}` : compact, 'KE')
  const digits = parsed?.countryCallingCode === '254' ? `254${parsed.nationalNumber}` : ''
  return mobile.test(digits) ? digits : undefined
}
