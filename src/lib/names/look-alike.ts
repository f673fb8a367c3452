import { editDistance } from '../closest.ts'
import { tellingWords, wordsOf } from './words.ts'

// Names that a person takes for one another. Not whether two names mean the same person: "John Kamau" and "Jane Kamau" do not look alike.

/** Letters and figures of other shapes and scripts, as the eye reads them: after Unicode's confusables (UTS #39), those that names use. */
const looksLike: Readonly<Record<string, string>> = {
  ...{ а: 'a', е: 'e', о: 'o', р: 'p', с: 'c', х: 'x', у: 'y', к: 'k', м: 'm', т: 't', н: 'h', в: 'b', і: 'l', ѕ: 's', ј: 'j' },
  ...{ ԁ: 'd', ӏ: 'l', ԛ: 'q', ԝ: 'w', г: 'r', п: 'n', ο: 'o', α: 'a', ν: 'v', ρ: 'p', τ: 't', ι: 'l', κ: 'k', υ: 'u', χ: 'x' },
  ...{ ε: 'e', η: 'n', ω: 'w', '0': 'o', '1': 'l', '3': 'e', '5': 's', '8': 'b', i: 'l' },
}

const shapeOf = (word: string): string =>
  [...word]
    .map((letter) => looksLike[letter] ?? letter)
    .join('')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')

/** A name as the eye reads it, computed once for many comparisons. */
export type Shape = { inOrder: string; sorted: string; numbers: string }

export const shapeOfName = (name: string): Shape => {
  const all = tellingWords(wordsOf(name.replaceAll('|', 'l').replaceAll('!', 'l')))
  const isNumber = (word: string) => /^\d+$/.test(word)
  const words = all.filter((word) => !isNumber(word)).map(shapeOf)
  return { inOrder: words.join(''), sorted: words.toSorted().join(''), numbers: all.filter(isNumber).join(' ') }
}

const slips = (length: number): number => (length >= 12 ? 2 : length >= 6 ? 1 : 0)

const near = (a: string, b: string): boolean => {
  const allowed = slips(Math.min(a.length, b.length))
  return a === b || (Math.abs(a.length - b.length) <= allowed && editDistance(a, b) <= allowed)
}

/** Equal to the eye, in another order, or but for a letter or two of a long name. "Branch 12" and "Branch 13" are told apart. */
export const looksAlike = (a: Shape, b: Shape): boolean =>
  a.numbers === b.numbers && (near(a.inOrder, b.inOrder) || near(a.sorted, b.sorted))
