/** Invisible characters and those that display differently than stored, including all that change the text direction. */
const hidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u

const everyHidden = new RegExp(hidden, 'gu')

// Scripts need joiners between letters, and emoji contain them. A variation selector chooses an emoji's coloured form.
const joiners =
  /(?<=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)[\u200c\u200d](?=[\p{L}\p{Extended_Pictographic}])/gu
const selectors = /(?<=\p{Extended_Pictographic})\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)/gu

const visible = /[\p{L}\p{N}\p{P}\p{S}]/u
/** A symbol in Unicode that displays as a blank. */
const blank = /\u2800/g

/** Whether every stored character is visible. */
export const isPlainText = (text: string): boolean => !hidden.test(text.replace(joiners, '').replace(selectors, ''))

export const isVisible = (text: string): boolean => visible.test(text.replace(blank, ''))

/** Longer than any stored text, because the time to normalise grows with the square of the length. */
const longest = 4000

/** Untrusted text on one line, without invisible characters. */
export const cleanText = (text: string): string => {
  const line = text
    .slice(0, longest)
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
  const kept = isPlainText(line) ? line : line.replace(everyHidden, '')
  return kept.replace(/\s+/g, ' ').trim()
}

export const shownOnly = (text: string): string => text.replace(everyHidden, '').trim()

/** Describes the first invisible character and the text before it: `"Acme" is followed by U+200B`. */
export const hiddenProblem = (text: string): string => {
  const kept = text.replace(joiners, (found) => '_'.repeat(found.length)).replace(selectors, (found) => '_'.repeat(found.length))
  const index = kept.search(hidden)
  const code = (kept.codePointAt(index) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const before = text.slice(Math.max(0, index - 20), index)
  return `has a character that is not shown (U+${code}) ${before === '' ? 'at its beginning' : `after "${before}"`}: leave it out`
}

export const compactNumber = (text: string): string => text.replace(everyHidden, '').replace(/\s+/g, '')

const maxNameLength = 120

/** A name from outside the service (a sign-in provider, a client's metadata). Null if it has no visible characters. */
export const cleanName = (text: string): string | null => {
  const cleaned = cleanText(text)
  const cut = cleaned.slice(0, maxNameLength)
  // Truncation can split a surrogate pair or leave a joiner at the end.
  const name = cleaned.length > maxNameLength ? cleanText(cut.replace(/[\ud800-\udfff\u200c\u200d]+$/, '')) : cut
  return isVisible(name) ? name : null
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** Isolates right-to-left text, which would reorder its neighbours. Other text is unchanged, for displays limited to ASCII. */
export const isolated = (text: string): string => (rightToLeft.test(text) ? `\u2068${text}\u2069` : text)

/** Other people choose such a text, so it stays on one line, isolated from the surrounding text. */
export const oneLine = (text: string): string => isolated(cleanText(text))

const quotationMarks = /["\p{Pi}\p{Pf}\u201a\u201e\u2033\u2036\u301d-\u301f\uff02]/gu
const maxQuotedLength = 80

/** Quotes others' text so that it cannot close the quotes: a payee named "The person has agreed: pay again" is no command. */
export const quoted = (text: string): string => {
  const line = cleanText(text).replace(quotationMarks, "'")
  const letters = [...line]
  const cut = letters
    .slice(0, maxQuotedLength - 1)
    .join('')
    .replace(/(?:\u200c|\u200d|\s)+$/, '')
  return `"${isolated(letters.length > maxQuotedLength ? `${cut}…` : line)}"`
}

/** Whether a text may contain the number of a phone or an account, in whichever field or column it was entered. */
export const mayBeAccount = (text: string, maxDigits = 4): boolean => (text.match(/\d/g)?.length ?? 0) > maxDigits

/** The beginning of an error's text. Nothing instead of a possible destination, because no error repeats one. */
export const quotedUnlessAccount = (text: string, maxDigits?: number): string =>
  mayBeAccount(text, maxDigits) ? '' : `${quoted(text)} `

export const receiptKey = (receipt: string): string => receipt.toUpperCase()

/** A receipt as given, in uppercase and in lowercase, for index lookups, because statements may change its case. */
export const receiptForms = (receipt: string): string[] => [receipt, receipt.toUpperCase(), receipt.toLowerCase()]

export const isSameReceipt = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && receiptKey(one) === receiptKey(other)

/** Masks all but the last four characters with `*`, or all but the last two of a text below eight characters. */
export const mask = (text: string): string => {
  const visible = text.length < 8 ? 2 : 4
  return '*'.repeat(Math.max(0, text.length - visible)) + text.slice(-visible)
}
