/** Minor units (cents of the deployment's one currency). Never a `number`. */
export type Minor = bigint

/** 0, or up to 18 digits without a leading zero: fits a Postgres bigint with room to add. */
export const minorPattern = /^(0|[1-9]\d{0,17})$/

export const formatMinor = (amount: Minor): string => amount.toString()

export const minor = (amount: Minor | null): string | null => (amount === null ? null : amount.toString())

/** "KES 1,234.50". Two decimals: the deployment's currency has cents. */
export const displayAmount = (amount: Minor, currency: string): string =>
  `${currency} ${formatMajor(amount).replace(/\B(?=(\d{3})+\.)/g, ',')}`

/** "1963", "1,963.50", "KES 1,963.00", "1 963 KES". */
export const amountIn = (text: string, currency: string): Minor | undefined => {
  const unit = String.raw`(?:${currency}|KSHS?|SHS?)\.?`
  const [, whole, cents = ''] =
    new RegExp(String.raw`^(?:${unit})?(\d{1,16})(?:\.(\d{1,2}))?(?:${unit})?$`, 'i').exec(text.replace(/[\s,'’]/g, '')) ?? []
  return whole === undefined ? undefined : BigInt(whole + cents.padEnd(2, '0'))
}

/** "-1234.50", as spreadsheets and accounting programs read it. */
export const formatMajor = (amount: Minor): string => {
  const absolute = amount < 0n ? -amount : amount
  return `${amount < 0n ? '-' : ''}${absolute / 100n}.${(absolute % 100n).toString().padStart(2, '0')}`
}
