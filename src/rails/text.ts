/** Outside text is cut to this length before it is normalised. */
const longest = 1000

/** The characters that providers accept in free text. Accents are dropped, all else becomes a space. */
const plain = (text: string): string =>
  text
    .slice(0, longest)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9 .,_/-]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/** The text, cut to `max`. The fallback if at most one character is left. */
export const freeText = (text: string | null, max: number, fallback: string): string => {
  const clean = plain(text ?? '')
    .slice(0, max)
    .trim()
  return clean.length < 2 ? fallback.slice(0, max) : clean
}

/** Statements print it. Our reference and the payer come first, so that a line leads to a payment or an account. */
export const remarks = (order: { reference: string; payer: string; narrative: string | null }, max: number): string =>
  freeText(`${order.reference} ${order.payer} ${order.narrative ?? ''}`, max, order.reference)

/** The reference decides the destination: a shortened one would pay another person's account. */
export const exactReference = (text: string, max: number): string | undefined => {
  const trimmed = text.trim()
  return trimmed.length > 0 && trimmed.length <= max && plain(trimmed) === trimmed ? trimmed : undefined
}

/** A short text, without anything that could be a phone or account number. */
export const safeMessage = (text: string | undefined, fallback: string): string => {
  const clean = plain(text ?? '')
    .replace(/\d{5,}/g, '*****')
    .slice(0, 140)
    .trim()
  return clean === '' ? fallback : clean
}

/** A code without long digit runs, which could be a number. */
export const safeCode = (text: string | undefined): string => {
  const clean = (text ?? '')
    .replace(/[^A-Za-z0-9._-]/g, '')
    .replace(/\d{7,}/g, '*')
    .slice(0, 40)
  return clean === '' ? 'none' : clean
}

/** A receipt makes a payment unique, so it is accepted unchanged or not at all. */
export const receiptOf = (text: string | undefined): string | undefined =>
  text !== undefined && /^[\w./-]{1,64}$/.test(text) ? text : undefined

/** From "254722000111 - WANJIRU KAMAU": no number is stored or shown in full. */
export const withoutNumber = (text: string): string => text.replace(/\d{5,}/g, ' ').replace(/^[\s+-]+/, '')

/** A name that is safe to store and show. Null if nothing is left. */
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

/** A PEM. In an environment variable, its line breaks may be written as \n. */
export const pem = (text: string | undefined): string => (text ?? '').replaceAll('\\n', '\n')
