import type { PrivateKeyAccount } from 'viem/accounts'
import type { Answer, Client, Json } from './client.ts'
import type { TestService } from './service.ts'

/** Valid terms for an hour. `fields` replaces single terms. */
export const mandateTerms = (
  service: Pick<TestService, 'clock'>,
  fields: Record<string, unknown> = {},
): Record<string, unknown> => ({
  description: 'Groceries this week',
  max_total_minor: '100000',
  expires_at: new Date(service.clock.now().getTime() + 3_600_000).toISOString(),
  ...fields,
})

export type SignedMandate = { address: string; terms: Record<string, unknown>; nonce: string; signature: string; message: string }

/** Terms prepared by the service and signed by the wallet, but not sent. */
export const signedMandate = async (
  api: Client,
  wallet: PrivateKeyAccount,
  terms: Record<string, unknown>,
): Promise<SignedMandate> => {
  const prepared = await api.post('/v1/intent-mandates/prepare', { address: wallet.address, terms })
  if (prepared.status !== 200) throw new Error(`not prepared: ${prepared.status} ${prepared.text}`)
  const { message, nonce } = prepared.body
  return { address: wallet.address, terms, nonce, message, signature: await wallet.signMessage({ message }) }
}

export const sendMandate = (api: Client, { address, terms, nonce, signature }: SignedMandate): Promise<Answer> =>
  api.post('/v1/intent-mandates', { address, terms, nonce, signature })

/** Creates a mandate. */
export const createMandate = async (
  service: Pick<TestService, 'api' | 'clock'>,
  wallet: PrivateKeyAccount,
  fields: Record<string, unknown> = {},
): Promise<Json> => {
  const answer = await sendMandate(service.api, await signedMandate(service.api, wallet, mandateTerms(service, fields)))
  if (answer.status !== 201) throw new Error(`no mandate: ${answer.status} ${answer.text}`)
  return answer.body
}
