/** Levenshtein distance, computed row by row. Distances above `maxDistance` are not exact. */
export const editDistance = (from: string, to: string, maxDistance = Number.POSITIVE_INFINITY): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line]
    let least = line
    for (let column = 1; column <= to.length; column += 1) {
      const changed = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1)
      const away = Math.min(changed, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1)
      next.push(away)
      if (away < least) least = away
    }
    if (least > maxDistance) return least
    row = next
  }
  return row[to.length] ?? 0
}

const maxDistance = 3

/** The known name that was probably meant. Long input is truncated, to limit the cost. */
export const closest = (input: string, known: readonly string[]): string | undefined => {
  const text = input.slice(0, 40).toLowerCase()
  const allowed = Math.min(maxDistance, Math.floor(text.length / 3))
  const [best] = known
    .map((name) => ({ name, away: editDistance(text, name.toLowerCase()) }))
    .filter(({ away }) => away <= allowed)
    .sort((a, b) => a.away - b.away)
  return best?.name
}
