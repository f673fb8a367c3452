import { editDistance } from '../closest.ts'
import { distinctiveWords, wordsOf } from './words.ts'

// Finds names that a person could confuse. Similarity is visual only: "John Kamau" and "Jane Kamau" do not look alike.

/** Look-alike letters and digits, mapped to one form: the confusables of Unicode (UTS #39) that occur in names. */
const looksLike: Readonly<Record<string, string>> = {
  // Cyrillic.
  ...{ а: 'a', е: 'e', о: 'o', р: 'p', с: 'c', х: 'x', у: 'y', к: 'k', м: 'm', т: 't', н: 'h', в: 'b', і: 'l', ѕ: 's', ј: 'j' },
  ...{ ԁ: 'd', ӏ: 'l', ԛ: 'q', ԝ: 'w', г: 'r', п: 'n' },
  // Greek.
  ...{ ο: 'o', α: 'a', ν: 'v', ρ: 'p', τ: 't', ι: 'l', κ: 'k', υ: 'u', χ: 'x', ε: 'e', η: 'n', ω: 'w' },
  ...{ '0': 'o', '1': 'l', '3': 'e', '5': 's', '8': 'b', i: 'l' },
}

const shapeOf = (word: string): string =>
  [...word]
    .map((letter) => looksLike[letter] ?? letter)
    .join('')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')

/** A name's visual form, computed once for many comparisons. `letters`: a lossy bit set of its letters. */
export type Shape = { inOrder: string; sorted: string; numbers: string; letters: number }

const lettersOf = (word: string): number => {
  let letters = 0
  for (let index = 0; index < word.length; index += 1) letters |= 1 << (word.charCodeAt(index) & 31)
  return letters
}

export const shapeOfName = (name: string): Shape => {
  const all = distinctiveWords(wordsOf(name.replaceAll('|', 'l').replaceAll('!', 'l')))
  const isNumber = (word: string) => /^\d+$/.test(word)
  const words = all.filter((word) => !isNumber(word)).map(shapeOf)
  const inOrder = words.join('')
  const numbers = all.filter(isNumber).join(' ')
  return { inOrder, sorted: words.toSorted().join(''), numbers, letters: lettersOf(inOrder) }
}

const slips = (length: number): number => (length >= 12 ? 2 : length >= 6 ? 1 : 0)

const bitsIn = (bits: number): number => {
  let count = 0
  for (let left = bits; left !== 0; left &= left - 1) count += 1
  return count
}

/** Whether two names look equal in any word order, or differ by a letter or two in a long name. Numbers must be equal. */
export const looksAlike = (a: Shape, b: Shape): boolean => {
  const [length, other] = [a.inOrder.length, b.inOrder.length]
  const allowed = slips(Math.min(length, other))
  // Rejects most pairs without computing their distance, because one substitution changes at most two letters.
  if (a.numbers !== b.numbers || Math.abs(length - other) > allowed || bitsIn(a.letters ^ b.letters) > 2 * allowed) return false
  const near = (one: string, another: string) =>
    one === another || (allowed > 0 && editDistance(one, another, allowed) <= allowed)
  return near(a.inOrder, b.inOrder) || near(a.sorted, b.sorted)
}
