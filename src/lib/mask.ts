/** Every character but the last four (last two when fewer than eight) as `*`. */
export const mask = (text: string): string => {
  const visible = text.length < 8 ? 2 : 4
  return '*'.repeat(Math.max(0, text.length - visible)) + text.slice(-visible)
}
