import { editDistance } from '../closest.ts'
import { distinctiveWords, isName, maskCharacter, wordsOf } from './words.ts'

// Providers write names uppercase, reordered, with initials, truncated or masked: "KAMAU WANJIRU N", "WANJIRU K****".

export type NameVerdict = 'match' | 'close_match' | 'no_match'

/** `same`: identifies the person. `fits`: no contradiction. `similar`: may be a typo. */
type Likeness = 'same' | 'fits' | 'similar' | 'none'
const weights: Readonly<Record<Likeness, number>> = { same: 100, fits: 10, similar: 1, none: 0 }

/** Whether a masked word may be the other word. */
const fitsMask = (masked: string, word: string): boolean => {
  const parts = masked.split(maskCharacter)
  const [head = '', ...rest] = parts
  const tail = rest.pop() ?? ''
  if (word.length < head.length + tail.length || !word.startsWith(head) || !word.endsWith(tail)) return false
  let from = head.length
  for (const part of rest) {
    const found = word.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return from <= word.length - tail.length
}

const slips = (length: number): number => (length >= 8 ? 2 : length >= 4 ? 1 : 0)

const visible = (word: string): number => word.replaceAll(maskCharacter, '').length

const likenessOf = (a: string, b: string): Likeness => {
  if (a === b) return visible(a) > 1 ? 'same' : 'fits'
  const [hides, shows] = a.includes(maskCharacter) ? [a, b] : [b, a]
  if (hides.includes(maskCharacter)) {
    if (shows.includes(maskCharacter)) return visible(a) === 0 || visible(b) === 0 || a[0] === b[0] ? 'fits' : 'none'
    return fitsMask(hides, shows) ? 'fits' : 'none'
  }
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (short.length === 1) return long.startsWith(short) ? 'fits' : 'none'
  return editDistance(a, b) <= slips(short.length) ? 'similar' : 'none'
}

type Pair = { given: number; reported: number; likeness: Likeness }

/** Pairs each word with at most one word of the other name, best pairs first. */
const pairsOf = (given: readonly string[], reported: readonly string[]): Pair[] => {
  const all = given
    .flatMap((a, g) => reported.map((b, r): Pair => ({ given: g, reported: r, likeness: likenessOf(a, b) })))
    .filter(({ likeness }) => likeness !== 'none')
    .sort((a, b) => weights[b.likeness] - weights[a.likeness])
  // Maximises the number of pairs with augmenting paths (bipartite matching, at most twelve words per side).
  const partnerOf = new Map<number, Pair>()
  const improve = (word: number, seen: Set<number>, candidates: readonly Pair[]): boolean => {
    for (const pair of candidates) {
      if (pair.given !== word || seen.has(pair.reported)) continue
      seen.add(pair.reported)
      const taken = partnerOf.get(pair.reported)
      if (!taken || improve(taken.given, seen, candidates)) {
        partnerOf.set(pair.reported, pair)
        return true
      }
    }
    return false
  }
  for (const least of ['same', 'fits', 'similar'] as const) {
    const candidates = all.filter(({ likeness }) => weights[likeness] >= weights[least])
    const free = given.map((_, index) => index).filter((index) => ![...partnerOf.values()].some((pair) => pair.given === index))
    for (const word of free) improve(word, new Set(), candidates)
  }
  return [...partnerOf.values()]
}

/** Providers truncate long names: in a name of this length, the last word may be incomplete. */
const fieldEnds = 18

const joined = (words: readonly string[]): string => words.join('')

const completed = (reported: readonly string[], given: readonly string[]): readonly string[] => {
  const last = reported.at(-1)
  if (last === undefined || last.length < 3 || given.includes(last) || reported.join(' ').length < fieldEnds) return reported
  const whole = given.find((word) => word.length > last.length && word.startsWith(last) && !reported.includes(word))
  return whole === undefined ? reported : [...reported.slice(0, -1), whole]
}

/** How many words either name may omit. People have further names, but every word of an organisation's name identifies it. */
const mayLeaveOut = (kind: PayeeKind, same: number, fits: number): number =>
  kind === 'person' && same >= 1 && same + fits >= 2 ? 2 : 0

export type PayeeKind = 'person' | 'organisation'

const verdictOf = (given: readonly string[], cut: readonly string[], kind: PayeeKind): NameVerdict => {
  const reported = completed(cut, given)
  if (joined(given) === joined(reported) && !joined(given).includes(maskCharacter)) return 'match'
  const pairs = pairsOf(given, reported)
  const count = (likeness: Likeness) => pairs.filter((pair) => pair.likeness === likeness).length
  const left = (words: readonly string[], side: 'given' | 'reported') =>
    words.filter((word, index) => visible(word) > 0 && !pairs.some((pair) => pair[side] === index))
  const [leftGiven, leftReported] = [left(given, 'given'), left(reported, 'reported')]
  // Each name has a word that the other lacks, as with two people of one family. Only initials may differ.
  if (leftGiven.length > 0 && leftReported.length > 0) {
    const onlyInitials = [...leftGiven, ...leftReported].every((word) => visible(word) === 1)
    return onlyInitials && count('same') >= 2 ? 'close_match' : 'no_match'
  }
  const [same, fits, similar] = [count('same'), count('fits'), count('similar')]
  const extra = leftGiven.length + leftReported.length
  if (same + fits + similar === 0) return 'no_match'
  if (same === 0)
    return similar > 0 && fits === 0 && extra > 0 ? 'no_match' : fits > 0 && pairs.length < 2 ? 'no_match' : 'close_match'
  if (similar > 0) return 'close_match'
  return extra <= mayLeaveOut(kind, same, fits) ? 'match' : 'close_match'
}

/** Null if `reported` is not a name. */
export const compareNames = (given: string, reported: string, kind: PayeeKind = 'person'): NameVerdict | null => {
  if (!isName(reported)) return null
  return verdictOf(distinctiveWords(wordsOf(given)), distinctiveWords(wordsOf(reported)), kind)
}
