/** A text that is signed, in its parts: its first sentence, the lines that say what is decided, and what binds them. */
export type SignedText = { opening: string; lines: string[]; binding: string[] }

/**
 * Its parts have a blank line between them. No line is known by its name: whatever the service writes into the text is in one of the
 * parts.
 */
export const readSignedText = (message: string): SignedText => {
  const [opening = '', ...parts] = message.split(/\n\n+/)
  const binding = parts.length > 1 ? (parts.pop() ?? '') : ''
  const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')
  return { opening, lines: parts.flatMap(linesOf), binding: linesOf(binding) }
}

const textOf = (message: string, label: string): string | undefined =>
  message
    .split('\n')
    .find((line) => line.startsWith(`${label}: `))
    ?.slice(label.length + 2)

/** What a batch's text says about its items. */
export const readBatchMessage = (message: string): { firsts: string; unusual: string } => ({
  firsts: textOf(message, 'Payees never paid before') ?? '0',
  unusual: textOf(message, 'Amounts far from the last payment') ?? '0',
})

const short = (amount: string): string => amount.replace(/\.00$/, '').replace(' ', '\u00a0')

/** "KES 23,499 to Savannah Supplies", "KES 502,899 to 200 people". Of a text that is worded otherwise, its first sentence. */
export const titleOfText = (message: string): string => {
  const amount = textOf(message, 'Amount')
  const beneficiary = textOf(message, 'Beneficiary')
  if (amount && beneficiary) return `${short(amount)} to ${beneficiary}`
  const total = textOf(message, 'Total')
  const payees = textOf(message, 'Payees') ?? textOf(message, 'Payments')
  if (total && payees) return `${short(total)} to ${payees} ${payees === '1' ? 'person' : 'people'}`
  return readSignedText(message).opening
}

/** The SHA-256 of a text, in hexadecimal: sent with a decision, so that what was shown is what is decided. Undefined where the page has no cryptography. */
export const digestOfText = async (message: string): Promise<string | undefined> => {
  if (!crypto.subtle) return undefined
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(message))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
