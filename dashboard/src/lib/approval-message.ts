/** What of the text is for people; the rest binds the signature and is shown word for word below. */
const shown = ['Beneficiary', 'Destination', 'Account reference', 'For', 'Requested by', 'Workspace']

export type ReadMessage = { amount: string | null; beneficiary: string | null; facts: (readonly [name: string, value: string])[] }

/** Reads the readable lines out of the text that is signed, so that what is shown large is what is signed. */
export const readMessage = (message: string): ReadMessage => {
  const lines = message.split('\n').flatMap((line) => {
    const match = /^([A-Z][a-z ]+): (.+)$/.exec(line)
    return match?.[1] && match[2] ? [[match[1], match[2]] as const] : []
  })
  const textOf = (wanted: string) => lines.find(([name]) => name === wanted)?.[1] ?? null
  return {
    amount: textOf('Amount'),
    beneficiary: textOf('Beneficiary'),
    facts: lines.filter(([name]) => shown.includes(name)),
  }
}
