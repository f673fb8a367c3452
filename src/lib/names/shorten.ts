import { maskCharacter } from './words.ts'

// What a new account may read of a name: enough to notice a wrong number, and not enough to learn who has which number.

/** Instead of the letters after an initial. As M-PESA does it, so names are compared alike. */
export const shortened = maskCharacter.repeat(4)

const isHidden = (word: string): boolean => word.includes(maskCharacter)

/** The first name and initials. Words that the provider has masked already stay as they are. */
export const shortenName = (name: string): string =>
  name
    .trim()
    .split(/\s+/)
    .map((word, place) => {
      if (place === 0 || isHidden(word)) return word
      const [initial = ''] = word.match(/[\p{L}\p{N}]/u) ?? []
      return initial + shortened
    })
    .join(' ')
