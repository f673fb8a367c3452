import type { Uuid } from './uuid.ts'

const digits = '0123456789abcdefghjkmnpqrstvwxyz'
const none = 255

const valuesOf = (alphabet: string): Uint8Array => {
  const values = new Uint8Array(128).fill(none)
  for (let value = 0; value < alphabet.length; value += 1) values[alphabet.charCodeAt(value)] = value
  return values
}
const digitCodes = Uint8Array.from(digits, (digit) => digit.charCodeAt(0))
const digitValues = valuesOf(digits)
const hexDigits = '0123456789abcdef'
const hexCodes = Uint8Array.from(hexDigits, (digit) => digit.charCodeAt(0))
const hexValues = valuesOf(hexDigits)

const suffixLength = 26

// A text that grows by one digit at a time leaves each step to the garbage collector. No Buffer: the verifier in a browser has this file too.
const written: number[] = Array.from({ length: suffixLength }, () => 0)
const dash = '-'.charCodeAt(0)
const decoded: number[] = Array.from({ length: 36 }, () => dash)

/** The 26 digits of Crockford's base 32 after a TypeID's prefix: two zero bits, then 128 bits. */
export const encodeUuid = (uuid: Uuid): string => {
  let length = 0
  let bits = 0
  let held = 2
  for (let at = 0; at < uuid.length; at += 1) {
    const value = hexValues[uuid.charCodeAt(at)] ?? none
    if (value === none) continue
    bits = (bits << 4) | value
    held += 4
    if (held >= 5) {
      held -= 5
      written[length] = digitCodes[(bits >>> held) & 31] ?? 0
      length += 1
      bits &= (1 << held) - 1
    }
  }
  return String.fromCharCode(...(length === suffixLength ? written : written.slice(0, length)))
}

/** The UUID of such digits, or undefined unless they are 26 lower-case digits of at most 128 bits. */
export const decodeUuid = (text: string): Uuid | undefined => {
  if (text.length !== suffixLength || text.charCodeAt(0) > 0x37) return undefined
  let length = 0
  let bits = 0
  let held = -2
  for (let at = 0; at < suffixLength; at += 1) {
    const value = digitValues[text.charCodeAt(at)] ?? none
    if (value === none) return undefined
    bits = (bits << 5) | value
    held += 5
    while (held >= 4) {
      held -= 4
      if (length === 8 || length === 13 || length === 18 || length === 23) length += 1
      decoded[length] = hexCodes[(bits >>> held) & 15] ?? 0
      length += 1
      bits &= (1 << held) - 1
    }
  }
  return String.fromCharCode(...decoded)
}
