const dayMs = 86_400_000

/** The date that is so many days later. */
export const dateAfter = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)

/** The last `count` dates up to and including `today`, oldest first. Plain calendar dates: no clock and no time zone is needed. */
export const lastDays = (today: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => dateAfter(today, index + 1 - count))
