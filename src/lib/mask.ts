/** Replaces every character but the last four by `*` (all but the last two when there are fewer than eight). */
export const mask = (text: string): string => {
  const visible = text.length < 8 ? 2 : 4
  return '*'.repeat(Math.max(0, text.length - visible)) + text.slice(-visible)
}
