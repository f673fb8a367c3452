import { createPrivateKey, type KeyObject, sign } from 'node:crypto'

export type Sign = (text: string) => string

/** Throws for a PEM that is no RSA private key, when the rail is built. */
export const createSigner = (privateKeyPem: string): Sign => {
  const key: KeyObject = createPrivateKey(privateKeyPem)
  if (key.asymmetricKeyType !== 'rsa') throw new TypeError('PesaLink signs with an RSA key')
  return (text) => sign('sha256', Buffer.from(text, 'utf8'), key).toString('base64')
}

/** The fields that a transfer's signature covers, in the bank's order and without separators. */
export const transferText = (transfer: {
  amount: string
  currencyCode: string
  reference: string
  destinationName: string
  sourceAccount: string
}): string =>
  `${transfer.amount}${transfer.currencyCode}${transfer.reference}${transfer.destinationName}${transfer.sourceAccount}`
