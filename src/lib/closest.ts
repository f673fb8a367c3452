import { editDistance } from './edit-distance.ts'

const maxDistance = 3

/** The known name that was probably meant, or undefined. The input is cut, so that long text costs nothing. */
export const closest = (input: string, known: readonly string[]): string | undefined => {
  const text = input.slice(0, 40).toLowerCase()
  const allowed = Math.min(maxDistance, Math.floor(text.length / 3))
  const [best] = known
    .map((name) => ({ name, away: editDistance(text, name.toLowerCase()) }))
    .filter(({ away }) => away <= allowed)
    .sort((a, b) => a.away - b.away)
  return best?.name
}

/** `; did you mean "status"?`, or nothing. */
export const didYouMean = (input: string, known: readonly string[]): string => {
  const name = closest(input, known)
  return name === undefined ? '' : `; did you mean "${name}"?`
}
