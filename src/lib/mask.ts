/** Every character but the last four (last two when fewer than eight) as `*`. */
export const mask = (text: string): string => {
  const shown = text.length < 8 ? 2 : 4
  return '*'.repeat(Math.max(0, text.length - shown)) + text.slice(-shown)
}
