import { createHmac, randomBytes } from 'node:crypto'
import { UsageError } from './errors.ts'

// Standard Webhooks (standardwebhooks.com): three headers, and a signature over id, time and body.

const prefix = 'whsec_'

export const newSecret = (): string => prefix + randomBytes(24).toString('base64')

/** The key in a secret. Some frameworks show their secrets without `whsec_`. */
export const signingKeyOf = (secret: string): Buffer => {
  const key = Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, 'base64')
  if (key.length < 16) throw new UsageError('A signing secret is whsec_ followed by at least 16 bytes in base64.')
  return key
}

export const signedHeaders = (secret: string, id: string, at: Date, body: string): Record<string, string> => {
  const seconds = Math.floor(at.getTime() / 1000)
  const signature = createHmac('sha256', signingKeyOf(secret)).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` }
}
