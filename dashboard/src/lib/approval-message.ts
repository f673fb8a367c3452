/** What of the text is for people; the rest binds the signature and is shown word for word below. */
const shown = ['Beneficiary', 'Destination', 'Account reference']

/** Reads the readable lines out of the text that is signed, so that what is shown large is what is signed. */
export const readMessage = (message: string): { amount: string | null; facts: (readonly [name: string, value: string])[] } => {
  const lines = message.split('\n').flatMap((line) => {
    const match = /^([A-Z][a-z ]+): (.+)$/.exec(line)
    return match?.[1] && match[2] ? [[match[1], match[2]] as const] : []
  })
  return { amount: lines.find(([name]) => name === 'Amount')?.[1] ?? null, facts: lines.filter(([name]) => shown.includes(name)) }
}
