/** Letters that Unicode does not decompose into a base letter and a mark. */
const letters: Readonly<Record<string, string>> = { ø: 'o', ß: 'ss', æ: 'ae', œ: 'oe', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' }

const titles = new Set(
  'mr mrs ms miss mx dr prof professor eng engineer hon rev reverend sir madam mama pastor bishop fr sr capt captain col colonel maj gen bw bi bwana ndugu mzee mwalimu cpa adv advocate'.split(
    ' ',
  ),
)
const legalForms = new Set(
  'ltd limited plc llp llc inc incorporated co company corp corporation pty gmbh sarl cbo ngo'.split(' '),
)
const fillers = new Set(['and', 'the', 'of', 'na', 'ya', 'wa'])

/** The character that replaces hidden letters. */
export const maskCharacter = '*'
const masks = /[*•●▪#_×]+/g

const simplified = (name: string): string =>
  name
    .slice(0, maxLength)
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[øßæœłđðþı]/g, (letter) => letters[letter] ?? letter)
    .replace(masks, maskCharacter)
    .replace(/(?<=\p{L})x{3,}/gu, maskCharacter)
    .replace(/[.…]{2,}/g, maskCharacter)
    .replace(/['’‘`ʼ´]/g, '')
    .replace(/&|\+/g, ' and ')

const maxWords = 12
const maxLength = 1000

/** Lowercase words, without diacritics and punctuation. */
export const wordsOf = (name: string): string[] =>
  simplified(name)
    .match(/[\p{L}\p{N}*]+/gu)
    ?.slice(0, maxWords) ?? []

/** The distinctive words of a name. A name that consists only of words such as "Ltd", "Mr" and "the" keeps them. */
export const distinctiveWords = (words: readonly string[]): readonly string[] => {
  const telling = words.filter((word) => !titles.has(word) && !legalForms.has(word) && !fillers.has(word))
  return telling.length > 0 ? telling : words
}

const noNames = new Set(
  'ok okay yes no na null none nil undefined nan unknown success successful accepted approved valid verified active registered customer subscriber beneficiary name test error failed'.split(
    ' ',
  ),
)
const noNamePhrases = new Set(['not available', 'not found', 'n a', 'no name', 'not applicable', 'to be confirmed'])

/** False for placeholders in place of a name: nothing, "OK", "N/A", "null", the number itself, a mask without letters. */
export const isName = (text: string): boolean => {
  const words = wordsOf(text)
  const shown = words.map((word) => word.replaceAll(maskCharacter, '')).filter(Boolean)
  if (!shown.some((word) => /\p{L}/u.test(word)) || shown.join('').length < 2) return false
  return !noNamePhrases.has(words.join(' ')) && !words.every((word) => noNames.has(word))
}

// The part of a name that a new account may see: enough to notice a wrong number, but not enough to find a number's owner.

/** Replaces the letters after an initial, as M-PESA does, so that masked names compare equally. */
export const shortened = maskCharacter.repeat(4)

const isHidden = (word: string): boolean => word.includes(maskCharacter)

/** Words that the provider has masked are unchanged. */
export const shortenName = (name: string): string =>
  name
    .trim()
    .split(/\s+/)
    .map((word, index) => {
      if (index === 0 || isHidden(word)) return word
      const [initial = ''] = word.match(/[\p{L}\p{N}]/u) ?? []
      return initial + shortened
    })
    .join(' ')
