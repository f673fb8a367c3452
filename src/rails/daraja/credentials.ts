import { constants, createPublicKey, publicEncrypt } from 'node:crypto'

/**
 * The initiator's password, encrypted with the environment's certificate (RSA PKCS#1 v1.5, as the provider requires). Throws for a PEM that
 * is neither a certificate nor a public key, and does so when the rail is built, not at the first payment.
 */
export const createCredential = (certificatePem: string, password: string): (() => string) => {
  const key = createPublicKey(certificatePem)
  return () => publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(password, 'utf8')).toString('base64')
}

/** STK's Password: it proves knowledge of the passkey for this second. */
export const stkPassword = (shortcode: string, passkey: string, timestamp: string): string =>
  Buffer.from(`${shortcode}${passkey}${timestamp}`, 'utf8').toString('base64')
