const dayMs = 86_400_000

/** The last `count` dates up to and including `today`, oldest first. Plain calendar dates: no clock and no time zone is needed. */
export const lastDays = (today: string, count: number): string[] => {
  const end = Date.parse(`${today}T00:00:00Z`)
  return Array.from({ length: count }, (_, index) => new Date(end - (count - 1 - index) * dayMs).toISOString().slice(0, 10))
}
