/** Signature forms that wallets and people copy. Every reader of signatures accepts them. */
export const copiedForms: readonly (readonly [string, (signature: string) => string])[] = [
  ['without 0x', (signature) => signature.slice(2)],
  ['with 0X', (signature) => `0X${signature.slice(2).toUpperCase()}`],
  ['with a space before and a line end after it', (signature) => ` ${signature}\r\n`],
]

/** Two of these forms at once. */
export const copied = (signature: string): string => ` 0X${signature.slice(2).toUpperCase()}\r\n`

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const high = (signature: string) => {
  const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
  return `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
}

/** Forms of some libraries. Each is refused by a sentence that names it. */
export const refusedForms: readonly (readonly [string, (signature: string) => string, string])[] = [
  ['compact', (signature) => signature.slice(0, 130), 'EIP-2098'],
  ['with a high s', high, 'high (EIP-2)'],
  ['with another v', (signature) => `${signature.slice(0, 130)}25`, 'v is 37'],
]

type Sent = { status: number; body: { error?: string; message?: string } }

/** The answer to each refused form: its status, its code, and whether the sentence names the form. */
export const answersToForms = async (signature: string, send: (signature: string) => Promise<Sent>) => {
  const answers: unknown[] = []
  for (const [name, change, word] of refusedForms) {
    const { status, body } = await send(change(signature))
    answers.push([name, status, body.error, body.message?.includes(word)])
  }
  return answers
}
export const allNamed = refusedForms.map(([name]) => [name, 401, 'invalid_signature', true])
