import { api, call } from '../../api/client.ts'

/** The sign-in text for a wallet, as the service wants it signed. */
export const prepareSignIn = async (address: string): Promise<string> => {
  const { message } = await call(api.POST('/v1/auth/wallet/nonce', { body: { address } }))
  if (message === undefined) throw new Error('The service gave no message to sign.')
  return message
}
