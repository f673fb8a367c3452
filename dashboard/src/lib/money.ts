/** "1,234.50" of an amount in minor units; a minus is a real minus sign. */
export const majorText = (minor: string): string => {
  const negative = minor.startsWith('-')
  const digits = (negative ? minor.slice(1) : minor).padStart(3, '0')
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
  return `${negative ? '\u2212' : ''}${whole}.${digits.slice(-2)}`
}

/** "KES 1,234.50", in one line however narrow it is. */
export const moneyText = (minor: string, currency: string): string => `${currency}\u00a0${majorText(minor)}`

/** What a person typed ("1,500", "1500.5") in minor units, or null when it is no amount. */
export const parseMajor = (text: string): string | null => {
  const match = /^(\d{1,15})(?:\.(\d{0,2}))?$/.exec(text.replace(/[,\s\u00a0]/g, ''))
  if (!match?.[1]) return null
  return BigInt(match[1] + (match[2] ?? '').padEnd(2, '0')).toString()
}

/** An amount as it goes into a field again: "1500", "1500.50". */
export const editableMajor = (minor: string | null | undefined): string =>
  minor == null ? '' : majorText(minor).replaceAll(',', '').replace(/\.00$/, '')

export const compareMinor = (a: string, b: string): number => (BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0)

/** How much of a limit is used, 0 to 1. */
export const share = (used: string, limit: string): number => {
  const total = BigInt(limit)
  if (total === 0n) return 1
  return Math.min(1, Math.max(0, Number((BigInt(used) * 1000n) / total) / 1000))
}
