/** Text from providers is truncated to this length before it is normalised. */
const longest = 1000

/** Keeps characters that providers accept in free text. Accents are removed, and all other characters become spaces. */
const plain = (text: string): string =>
  text
    .slice(0, longest)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9 .,_/-]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/** Text of at most `max` characters, or the fallback if fewer than two characters remain. */
export const freeText = (text: string | null, max: number, fallback: string): string => {
  const clean = plain(text ?? '')
    .slice(0, max)
    .trim()
  return clean.length < 2 ? fallback.slice(0, max) : clean
}

/** Printed on statements. Our reference and the payer come first, so that a line can be traced to a payment or an account. */
export const remarks = (order: { reference: string; payer: string; narrative: string | null }, max: number): string =>
  freeText(`${order.reference} ${order.payer} ${order.narrative ?? ''}`, max, order.reference)

/** The reference determines the destination: a truncated one would pay another person's account. */
export const exactReference = (text: string, max: number): string | undefined => {
  const trimmed = text.trim()
  return trimmed.length > 0 && trimmed.length <= max && plain(trimmed) === trimmed ? trimmed : undefined
}

/** A short text without anything that could be a phone or account number. */
export const safeMessage = (text: string | undefined, fallback: string): string => {
  const clean = plain(text ?? '')
    .replace(/\d{5,}/g, '*****')
    .slice(0, 140)
    .trim()
  return clean === '' ? fallback : clean
}

/** A code without long runs of digits, which could be a phone or account number. */
export const safeCode = (text: string | undefined): string => {
  const clean = (text ?? '')
    .replace(/[^A-Za-z0-9._-]/g, '')
    .replace(/\d{7,}/g, '*')
    .slice(0, 40)
  return clean === '' ? 'none' : clean
}

/** A receipt identifies a payment, so it is either accepted unchanged or rejected. */
export const receiptOf = (text: string | undefined): string | undefined =>
  text !== undefined && /^[\w./-]{1,64}$/.test(text) ? text : undefined

/** Removes the number from "254722000111 - WANJIRU KAMAU", because no number is stored or shown in full. */
export const withoutNumber = (text: string): string => text.replace(/\d{5,}/g, ' ').replace(/^[\s+-]+/, '')

/** A name that is safe to store and show. Null if nothing remains. */
export const personName = (text: string): string | null => {
  const clean = text
    .slice(0, longest)
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N} .,'’*-]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 120)
  return clean === '' ? null : clean
}

/** A PEM. Converts the escaped line breaks that environment variables may have. */
export const pem = (text: string | undefined): string => (text ?? '').replaceAll('\\n', '\n')
