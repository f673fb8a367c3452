/** What comes from outside is cut before it is normalised. */
const longest = 1000

/** What providers accept in free text. Accents go, all else becomes a space. */
const plain = (text: string): string =>
  text
    .slice(0, longest)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9 .,_/-]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/** Cut to `max`, or the fallback when a single character or nothing is left. */
export const freeText = (text: string | null, max: number, fallback: string): string => {
  const clean = plain(text ?? '')
    .slice(0, max)
    .trim()
  return clean.length < 2 ? fallback.slice(0, max) : clean
}

/** Statements print it: our reference and the payer first, so that a line leads to a payment or an account. */
export const remarks = (order: { reference: string; payer: string; narrative: string | null }, max: number): string =>
  freeText(`${order.reference} ${order.payer} ${order.narrative ?? ''}`, max, order.reference)

/** Decides who is paid: a shortened one would pay another person's account. */
export const exactReference = (text: string, max: number): string | undefined => {
  const trimmed = text.trim()
  return trimmed.length > 0 && trimmed.length <= max && plain(trimmed) === trimmed ? trimmed : undefined
}

/** Short, and without anything that could be a phone or account number. */
export const safeMessage = (text: string | undefined, fallback: string): string => {
  const clean = plain(text ?? '')
    .replace(/\d{5,}/g, '*****')
    .slice(0, 140)
    .trim()
  return clean === '' ? fallback : clean
}

/** Long digit runs are not codes. */
export const safeCode = (text: string | undefined): string => {
  const clean = (text ?? '')
    .replace(/[^A-Za-z0-9._-]/g, '')
    .replace(/\d{7,}/g, '*')
    .slice(0, 40)
  return clean === '' ? 'none' : clean
}

/** Makes a payment unique, so it is accepted unchanged or not at all. */
export const receiptOf = (text: string | undefined): string | undefined =>
  text !== undefined && /^[\w./-]{1,64}$/.test(text) ? text : undefined

/** "254722000111 - WANJIRU KAMAU": no number is stored or shown in full. */
export const withoutNumber = (text: string): string => text.replace(/\d{5,}/g, ' ').replace(/^[\s+-]+/, '')

/** Safe to store and show; null when nothing is left. */
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

/** In an environment variable, line breaks may be written as \n. */
export const pem = (text: string | undefined): string => (text ?? '').replaceAll('\\n', '\n')
